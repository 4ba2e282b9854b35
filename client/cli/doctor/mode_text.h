// Permissions as chmod takes them.
//
// Thread safety: pure.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdio>
#include <string>

namespace iceblink::cli {

/// "0640"
[[nodiscard]] inline std::string mode_text(mode_t mode) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04o", static_cast<unsigned>(mode & 07777));
  return text.data();
}

}  // namespace iceblink::cli
