// The ids that a new table's columns get, whatever ids its request has: those of a level first,
// then those within each of its columns (as the reference library counts them: the fields of a
// struct, a list's element, a map's key and value).
//
// Thread safety: belongs to one thread. Linear. Throws std::bad_alloc.
#pragma once

#include <iceblink/metadata/schema.h>
#include <iceblink/result.h>

#include <cstdint>
#include <span>
#include <string>

#include "iceberg/arena.h"
#include "iceberg/commit/commit_request.h"
#include "iceberg/commit/keyed_list.h"

namespace iceblink::iceberg {

class FreshIds {
 public:
  /// `schema` has no id twice. What is made lives in `arena`.
  FreshIds(const Schema& schema, Arena& arena, std::uint64_t hash_seed);

  /// Schema 0, with identifier fields as they were meant.
  [[nodiscard]] const Schema& schema() const noexcept { return schema_; }
  /// Of the same columns, and without ids of their own. kInvalidArgument: a column that the
  /// request's schema does not have.
  [[nodiscard]] Result<RequestedPartitionSpec> rebind(const RequestedPartitionSpec& spec) const;
  [[nodiscard]] Result<SortOrder> rebind(const SortOrder& order) const;

 private:
  [[nodiscard]] std::span<const Field> assign(std::span<const Field> fields);
  [[nodiscard]] Result<std::span<const std::int32_t>> rebind(std::span<const std::int32_t> ids,
                                                             const std::string& what) const;

  Arena& arena_;
  std::int32_t last_id_ = 0;
  SeededMap<std::int32_t, std::int32_t> fresh_ids_;  // by those of the request
  Schema schema_;
};

}  // namespace iceblink::iceberg
