// Checks a whole JSON text (RFC 8259) and hands out the members of its top-level object, without
// building anything: for when a few members are asked of a document of any size. A parser that
// skips what it is not asked for would let a damaged or cut file pass.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace iceblink::iceberg {

/// Deepest nesting that is read.
inline constexpr std::size_t kJsonDepthMax = 1024;

/// Calls `visit` with each member's name (escapes resolved) and its value's text, in order; the
/// value is a view into `text`. Stops at the first error of `visit`. kInvalidArgument: not one
/// JSON object, with the place; not UTF-8; nested too deep.
[[nodiscard]] Status scan_json_object(
    std::string_view text,
    const std::function<Status(const std::string& name, std::string_view value)>& visit);

/// The content of a JSON string, given its text with the quotes, which scan_json_object has
/// checked. A lone surrogate becomes U+FFFD.
[[nodiscard]] std::string unescape_json_string(std::string_view quoted);

}  // namespace iceblink::iceberg
