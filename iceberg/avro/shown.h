// How names from a file are shown in messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "iceberg/utf8.h"

namespace iceblink::iceberg::avro {

/// In quotes, on one line; what is long loses its end.
[[nodiscard]] inline std::string shown(std::string_view name) {
  std::size_t bytes_max = 80;
  if (name.size() <= bytes_max) return '\'' + on_one_line(name) + '\'';
  while (bytes_max > 0 && (name[bytes_max] & 0xc0) == 0x80) --bytes_max;  // no half a character
  return '\'' + on_one_line(name.substr(0, bytes_max)) + "…'";
}

}  // namespace iceblink::iceberg::avro
