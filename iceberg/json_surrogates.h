// Halves of surrogate pairs in the escapes of a JSON text ("\ud800" alone), which stand for no
// character (RFC 8259, 8.2): parsers make different texts of them, or refuse the whole.
//
// Thread safety: pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::iceberg {

/// The place of the first such escape in a text whose strings are in order; of another text, any
/// place or none. O(size).
[[nodiscard]] std::optional<std::size_t> find_half_surrogate(std::string_view json) noexcept;

/// What is wrong where one was found.
[[nodiscard]] std::string half_surrogate_message(std::string_view json, std::size_t at);

}  // namespace iceblink::iceberg
