// Partition specs that commits add, make the default and remove.
#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kFields = field(1, "x").text() + ',' + field(2, "d", R"("date")").text() + ',' +
                            field(3, "s", R"("string")").text() + ',' +
                            field(4, "p",
                                  R"({"type":"struct","fields":[{"id":5,"name":"lat",)"
                                  R"("required":false,"type":"double"}]})")
                                .text() +
                            ',' +
                            field(6, "l",
                                  R"({"type":"list","element-id":7,"element":"int",)"
                                  R"("element-required":false})")
                                .text();
Document wide(const Document& table) {
  return with_schema(table, kFields).with("last-column-id", "7");
}
const Document kWide = wide(v2());
/// Spec 1, the default: day(d) as 1000; spec 0 is unpartitioned.
const Document kByDay = kWide
                            .with("partition-specs",
                                  R"([{"spec-id":0,"fields":[]},{"spec-id":1,"fields":[
                  {"name":"d_day","transform":"day","source-id":2,"field-id":1000}]}])")
                            .with("default-spec-id", "1")
                            .with("last-partition-id", "1000");

std::vector<std::int32_t> spec_ids(const Outcome& outcome) {
  return ids_of(outcome->partition_specs, &PartitionSpec::spec_id);
}
std::vector<std::int32_t> field_ids(const PartitionSpec& spec) {
  return ids_of(spec.fields, &PartitionField::field_id);
}
std::vector<std::int32_t> field_ids_of_last(const Outcome& outcome) {
  return field_ids(outcome->partition_specs.back());
}
std::string error_of(const RequestedPartitionField& field, const Document& base = kWide) {
  return commit(base, {add_spec({field})}).error;
}

TEST(TableBuilderPartitioning, ASpecGetsTheNextIdAndItsFieldsTheNextOfTheTable) {
  const auto outcome =
      commit(kByDay, {add_spec({part("x", "identity", 1), part("b", "bucket[4]", 3)}),
                      SetDefaultSpec{kLastAdded}});
  EXPECT_THAT(spec_ids(outcome), ElementsAre(0, 1, 2));
  EXPECT_EQ(outcome->default_spec_id, 2);
  EXPECT_THAT(field_ids_of_last(outcome), ElementsAre(1001, 1002));
  EXPECT_EQ(outcome->last_partition_id, 1002);
  EXPECT_EQ(outcome->default_partition_spec().fields[1].transform.text, "bucket[4]");
}

TEST(TableBuilderPartitioning, FieldIdsThatAreGivenAreKept) {
  const auto outcome =
      commit(kByDay, {add_spec({part("x", "identity", 1, 1007), part("y", "bucket[4]", 1),
                                part("d_day", "day", 2, 1000)})});
  EXPECT_THAT(field_ids_of_last(outcome), ElementsAre(1007, 1008, 1000));
  EXPECT_EQ(outcome->last_partition_id, 1008);
}

TEST(TableBuilderPartitioning, TheSameTransformOfTheSameColumnHasTheSameFieldId) {
  const auto outcome =
      commit(kByDay, {add_spec({part("x", "identity", 1), part("renamed", "day", 2)}),
                      add_spec({part("x2", "bucket[2]", 1), part("x", "identity", 1)})});
  EXPECT_THAT(field_ids(outcome->partition_specs[2]), ElementsAre(1001, 1000));
  EXPECT_THAT(field_ids(outcome->partition_specs[3]), ElementsAre(1002, 1001));
}

TEST(TableBuilderPartitioning, AFieldIdIsThatOfOneTransformOfOneColumn) {
  EXPECT_EQ(error_of(part("x", "identity", 1, 1000), kByDay),
            invalid("Cannot add partition field 'x': the field-id 1000 is that of another column "
                    "or transform"));
  EXPECT_EQ(error_of(part("d_month", "month", 2, 1000), kByDay),
            invalid("Cannot add partition field 'd_month': the field-id 1000 is that of another "
                    "column or transform"));
  EXPECT_EQ(error_of(part("v", "void", 2, 1000), kByDay), "") << "dropped, as format 1 has it";
  EXPECT_EQ(error_of(part("x", "identity", 1, -1)),
            invalid("Cannot add partition field 'x': its field-id -1 is negative"));
  EXPECT_EQ(
      commit(kWide, {add_spec({part("x", "identity", 1, 1001), part("d", "identity", 2, 1001)})})
          .error,
      invalid("Cannot add partition spec: two fields have the field-id 1001"));
}

TEST(TableBuilderPartitioning, AnIdThatFormatOneGaveToTwoFieldsIsThatOfBoth) {
  const Document base =
      kByDay.with("partition-specs",
                  R"([{"spec-id":0,"fields":[{"name":"x","transform":"identity","source-id":1,
          "field-id":1000}]},{"spec-id":1,"fields":[
          {"name":"d_day","transform":"day","source-id":2,"field-id":1000}]}])");
  EXPECT_EQ(error_of(part("x2", "identity", 1, 1000), base), "");
  EXPECT_EQ(error_of(part("day", "day", 2, 1000), base), "");
  EXPECT_NE(error_of(part("s2", "identity", 3, 1000), base), "");
}

TEST(TableBuilderPartitioning, AVoidFieldSaysNothingOfWhatItsIdIsFor) {
  const Document base = kByDay.with("partition-specs", R"([{"spec-id":1,"fields":[
      {"name":"v","transform":"void","source-id":2,"field-id":1000}]}])");
  EXPECT_EQ(error_of(part("d_day", "day", 2, 1000), base), "");
}

TEST(TableBuilderPartitioning, FieldIdsThatAreLeftOutDoNotMeetThoseThatAreGiven) {
  const auto outcome = commit(kByDay, {add_spec({part("a", "bucket[2]", 1), part("b", "day", 2),
                                                 part("c", "bucket[3]", 1, 1001)})});
  EXPECT_THAT(field_ids_of_last(outcome), ElementsAre(1002, 1000, 1001));
}

TEST(TableBuilderPartitioning, RefusesAFieldBeyondTheLastId) {
  EXPECT_EQ(error_of(part("x", "identity", 1), kWide.with("last-partition-id", "2147483647")),
            invalid("Cannot add partition field 'x': no field-id is left"));
}

TEST(TableBuilderPartitioning, FormatOneCountsItsFields) {
  const Document base = wide(v1())
                            .without("schema")
                            .with("current-schema-id", "0")
                            .with("partition-specs", R"([{"spec-id":0,"fields":[]}])")
                            .with("default-spec-id", "0");
  const auto outcome =
      commit(base, {add_spec({part("a", "bucket[2]", 1), part("b", "bucket[3]", 1, 1001)}),
                    add_spec({part("b", "bucket[3]", 1)}), SetDefaultSpec{kLastAdded}});
  ASSERT_NE(outcome.table, nullptr) << outcome.error;
  EXPECT_THAT(field_ids(outcome->partition_specs[1]), ElementsAre(1000, 1001));
  EXPECT_THAT(field_ids(outcome->partition_specs[2]), ElementsAre(1000));
  EXPECT_EQ(outcome->last_partition_id, 1001);
  EXPECT_EQ(error_of(part("a", "bucket[2]", 1, 1005), base),
            invalid("Spec does not use sequential IDs that are required in v1: partition field 'a' "
                    "has 1005, not 1000"));
}

TEST(TableBuilderPartitioning, AnEqualSpecReusesItsId) {
  EXPECT_TRUE(commit(kByDay, {add_spec({part("d_day", "day", 2)})}).made.is_unchanged());
  EXPECT_TRUE(commit(kByDay, {add_spec({part("d_day", "DAY", 2, 1000)})}).made.is_unchanged());
  const auto reverted = commit(kByDay, {add_spec({}), SetDefaultSpec{kLastAdded}});
  EXPECT_EQ(reverted->default_spec_id, 0);
  EXPECT_THAT(spec_ids(reverted), ElementsAre(0, 1));
  EXPECT_THAT(spec_ids(commit(kByDay, {add_spec({part("day", "day", 2)})})), ElementsAre(0, 1, 2))
      << "another name is another spec";
}

TEST(TableBuilderPartitioning, TheDefaultIsOneThatIsThere) {
  EXPECT_EQ(commit(kByDay, {SetDefaultSpec{0}})->default_spec_id, 0);
  EXPECT_EQ(commit(kByDay, {SetDefaultSpec{kLastAdded}}).error,
            invalid("Cannot set last added spec: no spec has been added"));
  EXPECT_EQ(commit(kByDay, {SetDefaultSpec{2}, add_spec({part("x", "identity", 1)})}).error,
            invalid("Cannot set default partition spec to unknown spec: 2"));
}

TEST(TableBuilderPartitioning, SpecsAreRemovedButForTheDefault) {
  EXPECT_THAT(spec_ids(commit(kByDay, {RemovePartitionSpecs{ids({0, 7})}})), ElementsAre(1));
  EXPECT_EQ(commit(kByDay, {RemovePartitionSpecs{ids({0, 1})}}).error,
            invalid("Cannot remove the default partition spec"));
  const auto outcome =
      commit(kByDay, {SetDefaultSpec{0}, RemovePartitionSpecs{ids({1})},
                      add_spec({part("d_day", "day", 2)}), SetDefaultSpec{kLastAdded}});
  EXPECT_THAT(spec_ids(outcome), ElementsAre(0, 2));
  EXPECT_THAT(field_ids_of_last(outcome), ElementsAre(1000));
}

// ---- What a field must be

TEST(TableBuilderPartitioning, SourcesAreColumnsOfTheCurrentSchemaThatTheTransformTakes) {
  EXPECT_EQ(error_of(part("g", "identity", 9)),
            invalid("Cannot find source column for partition field 'g': 9"));
  EXPECT_EQ(error_of(part("x_day", "day", 1)),
            invalid("Invalid source type long for transform of partition field 'x_day': day"));
  EXPECT_EQ(error_of(part("p2", "identity", 4)),
            invalid("Invalid source type struct for transform of partition field 'p2': identity"));
  EXPECT_EQ(error_of(part("lat", "bucket[2]", 5)),
            invalid("Invalid source type double for transform of partition field 'lat': "
                    "bucket[2]"));
  EXPECT_EQ(error_of(part("e", "identity", 7)),
            invalid("Cannot add partition field 'e': its source column 7 is within a list or a "
                    "map"));
  EXPECT_EQ(error_of(part("lat", "identity", 5)), "") << "within a struct";
  EXPECT_EQ(error_of(part("gone", "void", 9)), "");
}

TEST(TableBuilderPartitioning, TransformsThatNobodyKnowsAreTheirWritersBusiness) {
  EXPECT_EQ(error_of(part("z", "zorder[2]", 1)), "");
  EXPECT_EQ(error_of(part("b", "bucket[0]", 1)),
            invalid("Invalid transform for partition field 'b': 'bucket[0]'"));
  EXPECT_EQ(error_of(part("b", "Truncate[x]", 1)),
            invalid("Invalid transform for partition field 'b': 'Truncate[x]'"));
}

TEST(TableBuilderPartitioning, SeveralSourcesNeedFormatThree) {
  RequestedPartitionField several = part("z", "zorder[2]", 1);
  several.source_ids = ids({1, 3});
  EXPECT_EQ(error_of(several), invalid("Invalid transform for partition field 'z': several source "
                                       "columns are not supported until v3"));
  EXPECT_EQ(error_of(several, wide(v3())), "");
  several.source_ids = {};
  EXPECT_EQ(error_of(several),
            invalid("Cannot find source column for partition field 'z': none is named"));
}

TEST(TableBuilderPartitioning, NamesDifferAndAreNotThoseOfOtherColumns) {
  EXPECT_EQ(error_of(part("x", "identity", 1)), "");
  EXPECT_EQ(error_of(part("p.lat", "identity", 5)), "");
  EXPECT_EQ(error_of(part("d", "void", 2)), "");
  EXPECT_EQ(error_of(part("", "identity", 1)), invalid("Cannot use empty partition name"));
  EXPECT_EQ(error_of(part("d", "identity", 1)),
            invalid("Cannot create identity partition sourced from different field in schema: d"));
  EXPECT_EQ(error_of(part("d", "day", 2)),
            invalid("Cannot create partition from name that exists in schema: d"));
  EXPECT_EQ(error_of(part("p.lat", "bucket[2]", 1)),
            invalid("Cannot create partition from name that exists in schema: p.lat"));
  EXPECT_EQ(commit(kWide, {add_spec({part("a", "bucket[2]", 1), part("a", "bucket[3]", 1)})}).error,
            invalid("Cannot use partition name more than once: a"));
}

TEST(TableBuilderPartitioning, ASpecIsBoundToTheSchemaThatIsCurrentThen) {
  const AddSchema wider{schema_of({column(1, "x"), column(8, "new")})};
  const auto spec = add_spec({part("new_bucket", "bucket[2]", 8)});
  EXPECT_EQ(
      commit(v2(), {wider, SetCurrentSchema{kLastAdded}, spec, SetDefaultSpec{kLastAdded}}).error,
      "");
  EXPECT_EQ(commit(v2(), {spec, wider, SetCurrentSchema{kLastAdded}}).error,
            invalid("Cannot find source column for partition field 'new_bucket': 8"));
}

// ---- Sort orders

const Document kSorted =
    kWide
        .with("sort-orders",
              R"([{"order-id":3,"fields":[{"transform":"identity","source-id":1,
                  "direction":"asc","null-order":"nulls-first"}]}])")
        .with("default-sort-order-id", "3");

std::vector<std::int32_t> order_ids(const Outcome& outcome) {
  return ids_of(outcome->sort_orders, &SortOrder::order_id);
}

TEST(TableBuilderSorting, AnOrderGetsTheNextIdAndTheUnsortedZero) {
  const auto outcome = commit(kSorted, {add_order({sorted_by("bucket[4]", 3)}), add_order({}),
                                        SetDefaultSortOrder{kLastAdded}});
  EXPECT_THAT(order_ids(outcome), ElementsAre(3, 4, 0));
  EXPECT_EQ(outcome->default_sort_order_id, 0);
  EXPECT_THAT(outcome->default_sort_order().fields, IsEmpty());
  EXPECT_THAT(order_ids(commit(kWide, {add_order({sorted_by("identity", 2)})})), ElementsAre(0, 1));
}

TEST(TableBuilderSorting, AnEqualOrderReusesItsId) {
  const auto reverted =
      commit(kSorted, {add_order({sorted_by("identity", 2)}), SetDefaultSortOrder{kLastAdded},
                       add_order({sorted_by("identity", 1)})});
  EXPECT_THAT(order_ids(reverted), ElementsAre(3, 4));
  EXPECT_EQ(reverted->default_sort_order_id, 4);
  EXPECT_TRUE(
      commit(kSorted, {add_order({sorted_by("identity", 1)}), SetDefaultSortOrder{kLastAdded}})
          .made.is_unchanged());
  SortField descending = sorted_by("identity", 1);
  descending.direction = SortDirection::kDescending;
  SortField nulls_last = sorted_by("identity", 1);
  nulls_last.null_order = NullOrder::kNullsLast;
  EXPECT_THAT(order_ids(commit(kSorted, {add_order({descending}), add_order({nulls_last})})),
              ElementsAre(3, 4, 5));
}

TEST(TableBuilderSorting, RefusesWhatNoIdIsLeftFor) {
  const Document last_order =
      kWide
          .with("sort-orders", R"([{"order-id":2147483647,"fields":[{"transform":"identity",
              "source-id":1,"direction":"asc","null-order":"nulls-first"}]}])")
          .with("default-sort-order-id", "2147483647");
  EXPECT_EQ(commit(last_order, {add_order({sorted_by("identity", 2)})}).error,
            invalid("Cannot add sort order: there is no order-id left"));
  const Document last_spec =
      kWide.with("partition-specs", R"([{"spec-id":2147483647,"fields":[]}])")
          .with("default-spec-id", "2147483647");
  EXPECT_EQ(error_of(part("x", "identity", 1), last_spec),
            invalid("Cannot add partition spec: there is no spec-id left"));
  const Document last_schema =
      v2().with("schemas", '[' + schema(field(1, "x").text(), 2147483647).text() + ']')
          .with("current-schema-id", "2147483647");
  EXPECT_EQ(commit(last_schema, {AddSchema{schema_of({column(2, "y")})}}).error,
            invalid("Cannot add schema: there is no schema-id left"));
}

TEST(TableBuilderSorting, TheDefaultIsOneThatIsThere) {
  EXPECT_EQ(commit(kSorted, {SetDefaultSortOrder{kLastAdded}}).error,
            invalid("Cannot set last added sort order: no sort order has been added"));
  EXPECT_EQ(commit(kSorted, {SetDefaultSortOrder{4}}).error,
            invalid("Cannot set default sort order to unknown order: 4"));
}

TEST(TableBuilderSorting, SourcesAreColumnsThatTheTransformTakes) {
  EXPECT_EQ(commit(kWide, {add_order({sorted_by("identity", 1), sorted_by("identity", 9)})}).error,
            invalid("Cannot find source column for sort field 1: 9"));
  EXPECT_EQ(commit(kWide, {add_order({sorted_by("identity", 6)})}).error,
            invalid("Invalid source type list for transform of sort field 0: identity"));
  EXPECT_EQ(commit(kWide, {add_order({sorted_by("hour", 2)})}).error,
            invalid("Invalid source type date for transform of sort field 0: hour"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
