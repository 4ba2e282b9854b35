// The commits that the reference client makes of its operations: what it asserts of the base that
// it has read, and which updates it sends, in its order.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tests/http/rest/rest_values.h"

namespace iceblink::test {

// `base`: a table's metadata as it was loaded.

/// updateSchema() to a schema that is new.
[[nodiscard]] Commit schema_change(const Value& base, Object schema);
/// updateSchema() to one that the table has.
[[nodiscard]] Commit schema_revert(const Value& base, int schema_id);
/// updateSpec() to a spec that is new; to one that the table has.
[[nodiscard]] Commit spec_change(const Value& base, Object spec);
[[nodiscard]] Commit spec_revert(const Value& base, int spec_id);
/// replaceSortOrder() to an order that is new; to one that the table has.
[[nodiscard]] Commit order_change(const Value& base, Object order);
[[nodiscard]] Commit order_revert(const Value& base, int order_id);
/// updateProperties().
[[nodiscard]] Commit properties_change(const Value& base, Object properties);
/// newFastAppend(), to the branch.
[[nodiscard]] Commit append(const Value& base, std::int64_t snapshot_id,
                            std::string_view branch = kMain);
/// The snapshot that `append` adds, and the updates alone.
[[nodiscard]] Object next_snapshot(const Value& base, std::int64_t snapshot_id,
                                   std::string_view branch = kMain);
[[nodiscard]] Array append_updates(Object snapshot, std::string_view branch = kMain);

/// What a transaction of two operations on one base sends.
[[nodiscard]] Commit joined(Commit first, const Commit& second);

/// createTransaction(): all of what a staged creation was answered with, then `more`.
[[nodiscard]] Commit creation(const Value& staged, const Array& more = {});

/// replaceTransaction(). What is not given is the base's own, named by its id.
struct Replacement {
  std::optional<Object> schema = std::nullopt;
  std::optional<Object> spec = std::nullopt;
  std::optional<Object> order = std::nullopt;
  std::optional<std::string> location = std::nullopt;
  Object properties = {};
  Array more = {};
};
[[nodiscard]] Commit replacement(const Value& base, const Replacement& parts);

/// View.replaceVersion() and buildView().replace(). `base`: a view's metadata.
[[nodiscard]] Commit view_replacement(const Value& base, Object version, const Array& before = {});

/// The element of a list whose `member` is `id`: a schema, a spec, an order, a snapshot.
[[nodiscard]] const Value& with_id(const Value& list, std::string_view member, std::int64_t id);
[[nodiscard]] const Value& current_schema(const Value& metadata);
[[nodiscard]] const Value& default_spec(const Value& metadata);
[[nodiscard]] const Value& default_order(const Value& metadata);
/// Of the snapshot that a ref names, or null.
[[nodiscard]] Value ref_snapshot(const Value& metadata, std::string_view ref);

}  // namespace iceblink::test
