// Numbers that the service manager leaves in the environment.
//
// Thread safety: as getenv: nobody may change the environment meanwhile.
#pragma once

#include <cstdint>
#include <optional>

namespace iceblink::daemon {

/// Nothing where the variable is not set, or is no number of digits alone.
[[nodiscard]] std::optional<std::uint64_t> number_in_environment(const char* variable) noexcept;

}  // namespace iceblink::daemon
