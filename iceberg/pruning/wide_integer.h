// Integers of 128 bits to calculate with; and division that rounds down.
#pragma once

#include <iceblink/metadata/literal.h>

#include <cstdint>
#include <limits>

namespace iceblink::iceberg {

__extension__ typedef __int128 WideInteger;
__extension__ typedef unsigned __int128 UnsignedWideInteger;

[[nodiscard]] constexpr WideInteger wide(Int128 value) noexcept {
  return static_cast<WideInteger>(
      (static_cast<UnsignedWideInteger>(static_cast<std::uint64_t>(value.high)) << 64) | value.low);
}
/// The lower 128 bits, as two's complement has them.
[[nodiscard]] constexpr Int128 narrow(UnsignedWideInteger bits) noexcept {
  return {static_cast<std::int64_t>(static_cast<std::uint64_t>(bits >> 64)),
          static_cast<std::uint64_t>(bits)};
}

[[nodiscard]] constexpr bool is_int64(WideInteger value) noexcept {
  return value >= std::numeric_limits<std::int64_t>::min() &&
         value <= std::numeric_limits<std::int64_t>::max();
}

/// 0 <= result < divisor.
template <typename Integer>
[[nodiscard]] constexpr Integer floor_modulo(Integer value, Integer divisor) noexcept {
  const Integer rest = value % divisor;
  return rest < 0 ? rest + divisor : rest;
}
/// `divisor` is above 0.
template <typename Integer>
[[nodiscard]] constexpr Integer floor_divide(Integer value, Integer divisor) noexcept {
  return value / divisor - (value % divisor < 0 ? 1 : 0);
}

}  // namespace iceblink::iceberg
