// Small metadata files, with oddities that a server must not touch.
#pragma once

#include <string>

namespace iceblink::test {

/// A valid minimal v2 table; `uuid_digit` (one hex digit) makes tables differ. Its spacing and an
/// unknown member with a number beyond 2^53 show whether it was rebuilt on the way.
[[nodiscard]] std::string table_metadata(char uuid_digit = '1');
[[nodiscard]] std::string view_metadata();
[[nodiscard]] std::string gzipped(const std::string& text);
void write_file(const std::string& path, const std::string& bytes);

}  // namespace iceblink::test
