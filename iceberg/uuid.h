// UUIDs as text (RFC 9562): 8-4-4-4-12 hex digits.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::iceberg {

using Uuid = std::array<std::uint8_t, 16>;

/// Takes both cases of letters. nullopt: not a UUID.
[[nodiscard]] std::optional<Uuid> parse_uuid(std::string_view text) noexcept;
/// In lower case.
[[nodiscard]] std::string format_uuid(const Uuid& uuid);

}  // namespace iceblink::iceberg
