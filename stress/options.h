// What the program is told.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <optional>
#include <string>

namespace iceblink::stress {

struct Options {
  unsigned seconds = 60;
  std::uint64_t seed = 0;  // default: by chance
  unsigned readers = 3;    // processes that stay; short-lived ones come on top
  unsigned writers = 4;
  unsigned kills_per_minute = 40;
  std::string dir = "/tmp";
  std::string plant;  // a planted fault that every daemon has
  bool keeps_files = false;
};

/// Nothing: help was asked for, and printed. kInvalidArgument.
[[nodiscard]] Result<std::optional<Options>> parse_options(int argc, char** argv);

}  // namespace iceblink::stress
