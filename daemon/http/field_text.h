// The text of header fields.
#pragma once

#include <string_view>

namespace iceblink::daemon::http {

/// Without the white space around it (RFC 9110, 5.6.3).
[[nodiscard]] inline std::string_view trimmed(std::string_view text) noexcept {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace iceblink::daemon::http
