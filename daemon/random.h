// Randomness from the kernel.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <span>

#include "iceberg/uuid.h"

namespace iceblink::daemon {

/// At most 256 bytes, which come at once. kIo: there is none.
[[nodiscard]] Status fill_randomly(std::span<std::byte> bytes);

/// Of version 4 (RFC 9562, 5.4). Errors as above.
[[nodiscard]] Result<iceberg::Uuid> random_uuid();

}  // namespace iceblink::daemon
