// Whether a base is what a commit asserts of it (Iceberg REST specification, "TableRequirement").
#pragma once

#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <span>

#include "iceberg/commit/commit_request.h"

namespace iceblink::iceberg {

/// The first requirement that fails: kConflict, in the sentences that clients know.
/// kInvalidArgument where one is of views. `base` null: there is no table, and all must be
/// `assert-create`, at least one; kInvalidArgument names the others. Thread safety: a pure
/// function.
[[nodiscard]] Status check_requirements(const TableMetadata* base,
                                        std::span<const Requirement> requirements);

}  // namespace iceblink::iceberg
