// Times of a table, which are milliseconds since 1970-01-01T00:00:00Z, as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::cli {

/// "2026-01-31T12:00:00Z", or so many " ms".
[[nodiscard]] std::string time_of(std::int64_t ms);
/// The same to the millisecond, "2026-01-31T12:00:00.250Z".
[[nodiscard]] std::string exact_time_of(std::int64_t ms);

/// A number of milliseconds, or ISO 8601: "2026-01-31", "2026-01-31T12:00", "2026-01-31T12:00:00",
/// with any fraction (what is below a millisecond is dropped) and with "Z" or an offset, without
/// which it is UTC.
[[nodiscard]] std::optional<std::int64_t> parse_time(std::string_view text) noexcept;

}  // namespace iceblink::cli
