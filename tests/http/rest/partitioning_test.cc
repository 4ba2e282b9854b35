// Changes of specs and sort orders as the reference client's updateSpec() and replaceSortOrder()
// send them.
#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Partitioning : public RestTest {
 protected:
  /// A table that is partitioned by id_bucket.
  Value create_bucketed(const std::string& name) {
    Object body = named(name);
    body["partition-spec"] = id_buckets(1);
    EXPECT_THAT(create(body), HasStatus(200));
    return load(name);
  }
  static Object by_data(int spec_id, int field_id = 1001) {
    return spec_of({partition_field(1, 1000, "id_bucket", "bucket[16]"),
                    partition_field(2, field_id, "data", "identity")},
                   spec_id);
  }
  static Commit column_added(const Value& base) {
    return schema_change(base, with_column(current_schema(base), 1, 3, "new_col"));
  }
};

TEST_F(Partitioning, GainsAField) {
  const auto base = create_table("tbl");
  const auto changed = commit_to("tbl", spec_change(base, id_buckets(1, 1)));
  EXPECT_EQ(default_spec(changed), id_buckets(1, 1));
  EXPECT_EQ(changed.at("last-partition-id").as_int64(), 1000);
  EXPECT_EQ(load("tbl"), changed);
}

TEST_F(Partitioning, FitsBesideAChangeOfTheSchema) {
  const auto base = create_table("tbl");
  commit_to("tbl", column_added(base));
  const auto changed = commit_to("tbl", spec_change(base, id_buckets(1, 1)));
  EXPECT_EQ(default_spec(changed), id_buckets(1, 1));
  EXPECT_EQ(changed.at("current-schema-id").as_int64(), 1);
}

TEST_F(Partitioning, OfAnotherDefaultSpecIsRefused) {
  const auto base = create_bucketed("tbl");
  // What takes fields away assigns none: only the default spec tells of it.
  const Object none = spec_of({}, 1);
  commit_to("tbl", spec_change(base, none));
  Object renamed = spec_of({partition_field(1, 1000, "other_name", "bucket[16]")}, 1);
  EXPECT_THAT(commit("tbl", spec_change(base, renamed)),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: default partition spec changed")));
  EXPECT_EQ(default_spec(load("tbl")), none);
}

TEST_F(Partitioning, OfOtherAssignedFieldsIsRefused) {
  const auto base = create_bucketed("tbl");
  const auto first = commit_to("tbl", spec_change(base, by_data(1)));
  const Object other = spec_of({partition_field(1, 1000, "id_bucket", "bucket[16]"),
                                partition_field(2, 1001, "data_trunc", "truncate[4]")},
                               1);
  EXPECT_THAT(commit("tbl", spec_change(base, other)),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: last assigned partition id changed")));
  commit_to("tbl", spec_revert(first, 0));
  EXPECT_THAT(commit("tbl", spec_change(base, other)),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: last assigned partition id changed")));
}

TEST_F(Partitioning, ThatIsRevertedReusesTheOldId) {
  const auto base = create_bucketed("tbl");
  const auto changed = commit_to("tbl", spec_change(base, by_data(1)));
  EXPECT_EQ(changed.at("default-spec-id").as_int64(), 1);
  const auto by_id = commit_to("tbl", spec_revert(changed, 0));
  EXPECT_EQ(default_spec(by_id), default_spec(base));
  const auto again = commit_to("tbl", spec_change(by_id, by_data(2)));
  EXPECT_EQ(again.at("default-spec-id").as_int64(), 1);
  EXPECT_EQ(again.at("partition-specs").as_array().size(), 2u);
}

TEST_F(Partitioning, IsForgottenWhereNoFileNeedsIt) {
  for (const bool has_branch : {false, true}) {
    const std::string name = has_branch ? "branched" : "plain";
    auto base = commit_to(name, append(create_bucketed(name), 1));
    base = commit_to(name, spec_change(base, by_data(1)));
    base = commit_to(name, spec_revert(base, 0));
    base = commit_to(name, append(base, 2));
    if (has_branch) base = commit_to(name, append(base, 3, "branch"));
    Commit expire{{assert_table_uuid(base.at("table-uuid")), assert_default_spec_id(0)},
                  {remove_snapshots({1}), remove_specs({1})}};
    if (has_branch) expire.requirements.push_back(assert_ref("branch", 3));
    const auto expired = commit_to(name, expire);
    EXPECT_THAT(ids_of(expired.at("partition-specs"), "spec-id"), ElementsAre(0)) << name;
    EXPECT_EQ(expired.at("last-partition-id").as_int64(), 1001);
    EXPECT_EQ(expired.at("snapshots").as_array().size(), has_branch ? 2u : 1u);
    expire.updates = {remove_specs({0})};
    EXPECT_THAT(commit(name, expire), HasStatus(400)) << name;
  }
}

TEST_F(Partitioning, OrdersRows) {
  const auto base = create_table("tbl");
  const Object order = order_of({sort_field(1), sort_field(2)});
  const auto changed = commit_to("tbl", order_change(base, order));
  EXPECT_EQ(default_order(changed), order);
  EXPECT_THAT(ids_of(changed.at("sort-orders"), "order-id"), ElementsAre(0, 1));
}

TEST_F(Partitioning, OrdersRowsBesideAChangeOfTheSchema) {
  const auto base = create_table("tbl");
  commit_to("tbl", column_added(base));
  const auto changed = commit_to("tbl", order_change(base, order_of({sort_field(1)})));
  EXPECT_EQ(changed.at("default-sort-order-id").as_int64(), 1);
  EXPECT_EQ(changed.at("current-schema-id").as_int64(), 1);
}

TEST_F(Partitioning, OfAnotherDefaultOrderIsRefused) {
  const auto base = create_table("tbl");
  commit_to("tbl", order_change(base, order_of({sort_field(1)})));
  EXPECT_THAT(commit("tbl", order_change(base, order_of({sort_field(2)}))),
              IsError(409, "CommitFailedException",
                      HasSubstr("Requirement failed: default sort order changed")));
}

TEST_F(Partitioning, ReusesTheIdOfAnOrderThatIsReverted) {
  const auto base = create_table("tbl");
  const auto first = commit_to("tbl", order_change(base, order_of({sort_field(1)})));
  const auto second = commit_to("tbl", order_change(first, order_of({sort_field(2)}, 2)));
  EXPECT_EQ(second.at("default-sort-order-id").as_int64(), 2);
  const auto by_id = commit_to("tbl", order_revert(second, 0));
  EXPECT_EQ(by_id.at("default-sort-order-id").as_int64(), 0);
  const auto by_value = commit_to("tbl", order_change(by_id, order_of({sort_field(1)}, 3)));
  EXPECT_EQ(by_value.at("default-sort-order-id").as_int64(), 1);
  EXPECT_THAT(ids_of(by_value.at("sort-orders"), "order-id"), ElementsAre(0, 1, 2));
}

}  // namespace
}  // namespace iceblink::test
