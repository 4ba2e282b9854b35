// Changes JSON texts by their structure: values are replaced, members removed, doubled, renamed.
// Bytes alone would seldom get past the brackets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>

namespace iceblink::test {

/// `text` with one change, at most `bytes_max` long. Any text will do.
[[nodiscard]] std::string mutate_json(std::string_view text, std::size_t bytes_max,
                                      std::minstd_rand& random);

}  // namespace iceblink::test
