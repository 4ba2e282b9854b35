// What a fuzz target says when something that has to hold does not.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace iceblink::test {

/// Ends the process where `holds` is false; the driver keeps the input.
inline void fuzz_check(bool holds, std::string_view what, std::string_view detail = "") {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %.*s: %.*s\n", static_cast<int>(what.size()), what.data(),
               static_cast<int>(detail.size()), detail.data());
  std::abort();
}

}  // namespace iceblink::test
