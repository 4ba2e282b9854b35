// Another parser's opinion of a JSON text: Boost.JSON's.
#pragma once

#include <cstdint>
#include <string_view>

namespace iceblink::test {

enum class JsonJudgement : std::uint8_t {
  kValid,
  kInvalid,
  kUnknown,  ///< refused for what the grammar allows: a number's size, half a surrogate pair
};

[[nodiscard]] JsonJudgement judge_json(std::string_view text);

/// An object with a member "metadata" and without "format-version"; or it may be one, and this
/// parser refuses it.
[[nodiscard]] bool is_load_table_response(std::string_view text);

}  // namespace iceblink::test
