// Sequences of updates that nobody thought of: whatever comes of them is metadata that readers
// take, and what only ever grows has grown.
#include <random>

#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

/// Updates with few names and ids, so that they meet each other.
class RandomUpdates {
 public:
  explicit RandomUpdates(std::uint32_t seed) : random_(seed) {}

  [[nodiscard]] TableUpdate next() {
    switch (pick(0, 20)) {
      case 0:
        return UpgradeFormatVersion{pick(1, 3)};
      case 1:
      case 2:
        return AddSchema{random_schema()};
      case 3:
      case 4:
        return SetCurrentSchema{pick(-1, 3)};
      case 5:
        return add_spec(random_fields());
      case 6:
        return SetDefaultSpec{pick(-1, 3)};
      case 7:
        return add_order(random_order());
      case 8:
        return SetDefaultSortOrder{pick(-1, 3)};
      case 9:
      case 10:
      case 11:
        return random_snapshot();
      case 12:
      case 13:
      case 14:
        return set_ref(random_ref(), pick(1, 9),
                       pick(0, 3) == 0 ? RefType::kTag : RefType::kBranch);
      case 15:
        return remove_snapshots({pick(1, 9), pick(1, 9)});
      case 16:
        return RemoveSnapshotRef{random_ref()};
      case 17:
        return RemoveSchemas{ids({pick(0, 3)})};
      case 18:
        return RemovePartitionSpecs{ids({pick(0, 3)})};
      case 19:
        return set_properties({{"write.metadata.previous-versions-max", "3"}});
      default:
        return SetLocation{"s3://b/u"};
    }
  }
  [[nodiscard]] int pick(int least, int most) {
    return std::uniform_int_distribution(least, most)(random_);
  }

 private:
  [[nodiscard]] std::string_view random_ref() {
    constexpr std::string_view kNames[] = {"main", "main", "a", "b"};
    return kNames[pick(0, 3)];
  }
  [[nodiscard]] Schema random_schema() {
    std::vector<Field> fields;
    constexpr TypeKind kKinds[] = {TypeKind::kLong, TypeKind::kDate, TypeKind::kString,
                                   TypeKind::kTimestampNs};
    for (int id = 1; id <= 4; ++id) {
      if (pick(0, 3) > 0) {
        fields.push_back(
            column(id, "c" + std::to_string(id), kKinds[pick(0, 20) == 0 ? 3 : id % 3]));
      }
    }
    return schema_of(fields);
  }
  [[nodiscard]] std::vector<RequestedPartitionField> random_fields() {
    constexpr std::string_view kTransforms[] = {"identity", "bucket[4]", "day", "void"};
    std::vector<RequestedPartitionField> fields;
    for (int i = pick(0, 2); i > 0; --i) {
      std::optional<std::int32_t> id;
      if (pick(0, 2) == 0) id = pick(999, 1004);
      fields.push_back(
          part("p" + std::to_string(pick(1, 9)), kTransforms[pick(0, 3)], pick(1, 4), id));
    }
    return fields;
  }
  [[nodiscard]] std::vector<SortField> random_order() {
    std::vector<SortField> fields;
    for (int i = pick(0, 2); i > 0; --i) fields.push_back(sorted_by("identity", pick(1, 4)));
    return fields;
  }
  [[nodiscard]] AddSnapshot random_snapshot() {
    AddSnapshot added = add_snapshot(pick(1, 9), pick(0, 30), {}, kNowMs + pick(-90'000, 90'000));
    if (pick(0, 1) == 0) added.snapshot.parent_snapshot_id = pick(1, 9);
    if (pick(0, 1) == 0) added.snapshot.schema_id.reset();
    added.snapshot.first_row_id = pick(0, 40);
    added.snapshot.added_rows = pick(0, 5);
    return added;
  }

  std::mt19937 random_;
};

/// A commit of one update that is refused must not hide the others: it is left out then.
std::shared_ptr<TableMetadata> committed(const std::shared_ptr<TableMetadata>& base,
                                         RandomUpdates& random) {
  std::vector<TableUpdate> updates;
  for (int i = random.pick(1, 12); i > 0; --i) {
    updates.push_back(random.next());
    if (!commit(base.get(), updates).error.empty()) updates.pop_back();
  }
  CommitContext with = context();
  with.now_ms += random.pick(-100'000, 100'000);
  const auto outcome = commit(base.get(), updates, {}, with);
  return outcome.table == nullptr ? base : outcome.table;
}

TEST(TableBuilderSequences, WhateverComesOfThemCanBeReadAndCommittedToAgain) {
  std::size_t changed_count = 0;
  for (std::uint32_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomUpdates random(seed);
    const Document bases[] = {v1().with("table-uuid", kQuotedUuid), v2(), v3()};
    const auto loaded = load(bases[seed % 3]);
    ASSERT_TRUE(loaded) << loaded.error().message();
    std::shared_ptr<TableMetadata> table = *loaded;
    for (int i = 0; i < 5; ++i) {
      const auto next = committed(table, random);
      ASSERT_NE(next, nullptr);
      changed_count += next == table ? 0 : 1;
      EXPECT_EQ(next->table_uuid, table->table_uuid);
      EXPECT_GE(next->format_version, table->format_version);
      EXPECT_GE(next->last_updated_ms, table->last_updated_ms);
      EXPECT_GE(next->last_column_id, table->last_column_id);
      EXPECT_GE(next->last_partition_id, table->last_partition_id);
      EXPECT_GE(next->next_row_id.value_or(0), table->next_row_id.value_or(0));
      if (table->format_version > 1) {
        EXPECT_GE(next->last_sequence_number, table->last_sequence_number);
      }
      table = next;
    }
  }
  EXPECT_GT(changed_count, 500);
}

}  // namespace
}  // namespace iceblink::iceberg::testing
