// What a submission with an Idempotency-Key leaves behind.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <variant>

#include "daemon/operation.h"
#include "daemon/stored_answer.h"

namespace iceblink::daemon {

/// A key whose request is being carried out.
struct IdempotencyClaim {
  IdempotencyKey key{};
  shm::Id binding{};
  std::int64_t expires_at_ms = 0;
  /// What is stored of the outcome (binding and expiry are filled in); nothing: it is not final,
  /// and is not stored. Called on the committer's thread, in the transaction; must be short. Its
  /// `Committed` has the generation that will be.
  std::function<std::optional<StoredAnswer>(const std::variant<Committed, Refused>&)> to_store;
};

}  // namespace iceblink::daemon
