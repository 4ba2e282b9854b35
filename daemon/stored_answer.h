// The answer to a request with an Idempotency-Key, as it is kept until the key expires (Iceberg
// REST specification, "Idempotency-Key").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "daemon/table_row.h"

namespace iceblink::daemon {

using IdempotencyKey = std::array<std::uint8_t, 16>;

/// A body that is larger is not kept: the request may then be carried out again.
inline constexpr std::size_t kStoredTextBytesMax = std::size_t{64} << 10;

struct StoredAnswer {
  enum class Form : std::uint8_t {
    kEmpty,         // no body
    kJson,          // `text` is the body
    kTable,         // a load-table result of `row`
    kView,          // a load-view result of `row`
    kUnregistered,  // as kTable, without a config
  };

  std::uint16_t status = 0;
  Form form = Form::kEmpty;
  /// Of route, identifiers and body: another request with this key is another operation.
  shm::Id binding{};
  std::int64_t expires_at_ms = 0;
  std::string text;
  TableRow row;
};

}  // namespace iceblink::daemon
