// Judges and applies one list of operations in a write transaction: all of it, or nothing.
//
// The messages of refusals are those that clients of the Iceberg REST protocol know; names in them
// are joined by dots, unquoted.
#pragma once

#include <iceblink/result.h>

#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "daemon/operation.h"
#include "daemon/store.h"

namespace iceblink::daemon {

/// What a list brought about; `changes` is empty when it changed nothing.
struct Applied {
  std::vector<LoggedChange> changes;
  std::optional<PropertiesChange> properties;  // of the last UpdateProperties
};

using ApplyOutcome = std::variant<Applied, Refused>;

/// A refused list leaves the transaction as it was. An error is the transaction's, which can then
/// only be destroyed.
[[nodiscard]] Result<ApplyOutcome> apply_operations(Store::Writing& writing,
                                                    std::span<const Operation> operations);

}  // namespace iceblink::daemon
