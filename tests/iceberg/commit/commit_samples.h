// Requests as values, small bases, and what comes of a commit: read again, or the error.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iceberg/arena.h"
#include "iceberg/commit/new_metadata.h"
#include "iceberg/partitioning_reader.h"
#include "iceberg/uuid.h"
#include "tests/iceberg/commit/named_member.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {

/// Of all requests of a test program.
inline Arena& memory() {
  static Arena arena;
  return arena;
}

// ---- Schemas

inline Type type(TypeKind kind, std::vector<Field> fields = {}) {
  Type type;
  type.kind = kind;
  type.fields = memory().copy(fields);
  return type;
}
inline Field column(std::int32_t id, std::string_view name, Type of, bool required = false) {
  Field field;
  field.id = id;
  field.name = memory().copy(name);
  field.type = of;
  field.required = required;
  return field;
}
inline Field column(std::int32_t id, std::string_view name, TypeKind kind = TypeKind::kLong) {
  return column(id, name, type(kind));
}
inline Field required(std::int32_t id, std::string_view name, TypeKind kind = TypeKind::kLong) {
  return column(id, name, type(kind), true);
}
inline Type list_of(std::int32_t id, Type element) {
  return type(TypeKind::kList, {column(id, "element", element)});
}
inline Type map_of(std::int32_t key_id, std::int32_t value_id, Type value) {
  return type(TypeKind::kMap,
              {required(key_id, "key", TypeKind::kString), column(value_id, "value", value)});
}
inline Schema schema_of(std::vector<Field> fields, std::vector<std::int32_t> identifiers = {}) {
  Schema schema;
  schema.fields = memory().copy(fields);
  schema.identifier_field_ids = memory().copy(identifiers);
  return schema;
}

// ---- Specs and sort orders

inline std::span<const std::int32_t> ids(std::vector<std::int32_t> of) {
  return memory().copy(of);
}
inline RequestedPartitionField part(std::string_view name, std::string_view transform,
                                    std::int32_t source,
                                    std::optional<std::int32_t> field_id = {}) {
  return {field_id, memory().copy(name), parse_transform(memory().copy(transform)), ids({source})};
}
inline AddPartitionSpec add_spec(std::vector<RequestedPartitionField> fields) {
  RequestedPartitionSpec spec;
  spec.fields = memory().copy(fields);
  return {spec};
}
inline SortField sorted_by(std::string_view transform, std::int32_t source) {
  SortField field;
  field.transform = parse_transform(memory().copy(transform));
  field.source_ids = ids({source});
  return field;
}
inline AddSortOrder add_order(std::vector<SortField> fields) {
  SortOrder order;
  order.order_id = fields.empty() ? 0 : 1;
  order.fields = memory().copy(fields);
  return {order};
}

// ---- Snapshots, properties

inline constexpr std::int64_t kNowMs = 1'700'000'100'000;

inline AddSnapshot add_snapshot(std::int64_t id, std::int64_t sequence_number,
                                std::optional<std::int64_t> parent = {},
                                std::int64_t timestamp_ms = kNowMs) {
  TableSnapshot snapshot;
  snapshot.snapshot_id = id;
  snapshot.parent_snapshot_id = parent;
  snapshot.sequence_number = sequence_number;
  snapshot.timestamp_ms = timestamp_ms;
  snapshot.manifest_list = memory().copy("s3://b/t/m" + std::to_string(id) + ".avro");
  static constexpr Property kSummary[] = {{"operation", "append"}};
  snapshot.summary = kSummary;
  snapshot.schema_id = 0;
  return {snapshot, true};
}
inline SetSnapshotRef set_ref(std::string_view name, std::int64_t id,
                              RefType type = RefType::kBranch) {
  SnapshotRef ref;
  ref.name = memory().copy(name);
  ref.snapshot_id = id;
  ref.type = type;
  return {ref};
}
inline RemoveSnapshots remove_snapshots(std::vector<std::int64_t> ids) {
  return {memory().copy(ids)};
}
inline SetProperties set_properties(std::vector<Property> properties) {
  return {memory().copy(properties)};
}

// ---- Commits

inline CommitContext context() {
  CommitContext context;
  context.now_ms = kNowMs;
  context.base_location = "s3://b/t/metadata/v7.metadata.json";
  context.fresh_uuid = *parse_uuid("11111111-2222-3333-4444-555555555555");
  return context;
}

/// What came of a request.
struct Outcome {
  std::string error;  // "kind: message" without the member; empty: there is none
  NewMetadata made;
  std::shared_ptr<TableMetadata> table;  // null: an error, or nothing has changed

  /// Throws where there is none.
  [[nodiscard]] const TableMetadata& operator*() const {
    if (table == nullptr) throw std::runtime_error("no metadata was made: " + error);
    return *table;
  }
  [[nodiscard]] const TableMetadata* operator->() const { return &**this; }
};

/// Expects what was made to be metadata of which nothing is wrong.
inline Outcome outcome_of(const Result<NewMetadata>& result) {
  Outcome outcome;
  if (!result) {
    outcome.error = std::string(to_string(result.error().kind())) + ": " +
                    split_member(result.error().message()).sentence;
    return outcome;
  }
  outcome.made = *result;
  if (result->is_unchanged()) return outcome;
  EXPECT_THAT(problems_of(result->json), ::testing::IsEmpty()) << result->json;
  const auto table = load(std::string_view(result->json));
  if (table) outcome.table = *table;
  return outcome;
}

inline Outcome commit(const TableMetadata* base, std::vector<TableUpdate> updates,
                      std::vector<Requirement> requirements = {},
                      const CommitContext& with = context()) {
  TableCommit commit;
  commit.updates = std::move(updates);
  commit.requirements = std::move(requirements);
  return outcome_of(commit_table(base, commit, with));
}
inline Outcome commit(const Document& base, std::vector<TableUpdate> updates,
                      std::vector<Requirement> requirements = {},
                      const CommitContext& with = context()) {
  const auto table = load(base);
  EXPECT_TRUE(table) << table.error().message();
  if (!table) return {};
  return commit(table->get(), std::move(updates), std::move(requirements), with);
}
/// Of a table that does not exist.
inline Outcome commit_new(std::vector<TableUpdate> updates, const CommitContext& with = context()) {
  return commit(nullptr, std::move(updates), {AssertCreate{}}, with);
}

/// Sentences that clients know, as an error of the request.
inline std::string invalid(const std::string& message) {
  return "invalid_argument: " + message;
}
inline std::string conflict(const std::string& message) {
  return "conflict: " + message;
}

/// With snapshots of these ids, one after the other, each current in its time; the last one is.
inline Document with_history(const Document& table, const std::vector<std::int64_t>& ids) {
  std::string snapshots;
  std::string log;
  std::int64_t at_ms = 1'699'999'000'000;
  int sequence_number = 0;
  for (const std::int64_t id : ids) {
    at_ms += 1000;
    const std::string comma = snapshots.empty() ? "" : ",";
    snapshots += comma + snapshot(std::to_string(id))
                             .with("sequence-number", std::to_string(++sequence_number))
                             .with("timestamp-ms", std::to_string(at_ms))
                             .text();
    log += comma + R"({"snapshot-id":)" + std::to_string(id) + R"(,"timestamp-ms":)" +
           std::to_string(at_ms) + "}";
  }
  return table.with("snapshots", "[" + snapshots + "]")
      .with("snapshot-log", "[" + log + "]")
      .with("current-snapshot-id", std::to_string(ids.back()));
}

// ---- What is in a table, in short.

inline std::vector<std::int64_t> snapshot_ids(const TableMetadata& table) {
  std::vector<std::int64_t> ids;
  for (const auto& entry : table.snapshot_index()) ids.push_back(entry.snapshot_id);
  return ids;
}
inline std::vector<std::int64_t> logged_ids(const TableMetadata& table) {
  std::vector<std::int64_t> ids;
  const auto log = table.snapshot_log();
  for (const auto& entry : *log) ids.push_back(entry.snapshot_id);
  return ids;
}
inline std::vector<std::string> ref_names(const TableMetadata& table) {
  std::vector<std::string> names;
  for (const auto& ref : table.refs) names.emplace_back(ref.name);
  return names;
}
inline std::vector<std::string> metadata_files(const TableMetadata& table) {
  std::vector<std::string> files;
  const auto log = table.metadata_log();
  for (const auto& entry : *log) files.emplace_back(entry.metadata_file);
  return files;
}
inline std::vector<std::pair<std::string, std::string>> properties_of(const TableMetadata& table) {
  std::vector<std::pair<std::string, std::string>> properties;
  for (const auto& [key, value] : table.properties) properties.emplace_back(key, value);
  return properties;
}
template <typename Element>
std::vector<std::int32_t> ids_of(std::span<const Element> elements, std::int32_t Element::*id) {
  std::vector<std::int32_t> ids;
  for (const Element& element : elements) ids.push_back(element.*id);
  return ids;
}

}  // namespace iceblink::iceberg::testing
