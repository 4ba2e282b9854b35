// Decimals, dates and times as somebody writes them into a query (ISO 8601).
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/metadata/schema.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "iceberg/pruning/wide_integer.h"

namespace iceblink::iceberg {

/// An integer that may be beyond what its type, or even 128 bits, can hold: then it is the greatest
/// or the least that they can.
[[nodiscard]] WideInteger saturating_multiply(WideInteger a, WideInteger b) noexcept;
/// 10 to the power of `exponent`, or the greatest.
[[nodiscard]] WideInteger power_of_ten(unsigned exponent) noexcept;

// What the text stands for, in the unit of `type`. Nothing: it is written otherwise, or finer than
// the unit.

/// "14.20": no exponent; no more digits behind the point than the type's scale.
[[nodiscard]] std::optional<WideInteger> parse_decimal(std::string_view text,
                                                       const Type& type) noexcept;
/// "2026-01-31"; years beyond four digits have a sign.
[[nodiscard]] std::optional<WideInteger> parse_date(std::string_view text) noexcept;
/// "22:31", "22:31:08", "22:31:08.123456".
[[nodiscard]] std::optional<WideInteger> parse_time(std::string_view text) noexcept;
/// "2026-01-31T22:31:08.5"; those with a zone have an offset ("Z", "+00:00"), others have none.
[[nodiscard]] std::optional<WideInteger> parse_timestamp(std::string_view text,
                                                         const Type& type) noexcept;

}  // namespace iceblink::iceberg
