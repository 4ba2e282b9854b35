// Numbers in a JSON text (RFC 8259, section 6).
#pragma once

#include <cstdint>
#include <string_view>

namespace iceblink::iceberg {

[[nodiscard]] bool is_json_number(std::string_view text) noexcept;

enum class IntegerFault : std::uint8_t {
  kNone,
  kNoNumber,   ///< not JSON
  kNoInteger,  ///< a fraction or an exponent, whatever its value
  kTooLarge,   ///< beyond 64 bits
};

/// `value` is set where there is no fault. `text` is not empty.
[[nodiscard]] IntegerFault parse_json_integer(std::string_view text, std::int64_t& value) noexcept;

}  // namespace iceblink::iceberg
