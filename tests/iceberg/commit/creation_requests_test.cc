// Requests for new tables and views.
#include <string>

#include "tests/iceberg/commit/request_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const Document kTable{{"name", R"("t")"}, {"schema", kSchemaText}};
const Document kView{{"name", R"("v")"},
                     {"schema", kSchemaText},
                     {"view-version", kViewVersionText},
                     {"properties", "{}"}};
const std::string kSortField =
    R"({"source-id":1,"transform":"identity","direction":"asc","null-order":"nulls-first"})";

const auto kAsTable = [](const Document& request) { return table_creation(request.text()); };
const auto kAsView = [](const Document& request) { return view_creation(request.text()); };

TEST(TableCreations, LackNoNameAndNoSchema) {
  expect_required(kTable, "name", "", kAsTable);
  expect_required(kTable, "schema", "", kAsTable);
  const auto& request = accepted(parse_table_creation(kTable.text()));
  EXPECT_EQ(request.name, "t");
  EXPECT_EQ(request.location, std::nullopt);
  EXPECT_EQ(request.schema.schema_id, 4);
  EXPECT_FALSE(request.partition_spec);
  EXPECT_FALSE(request.write_order);
  EXPECT_FALSE(request.stage_create);
  EXPECT_THAT(request.properties, IsEmpty());
}

TEST(TableCreations, TakeNullForWhatIsOptional) {
  const auto& request = accepted(parse_table_creation(kTable.with("location", "null")
                                                          .with("partition-spec", "null")
                                                          .with("write-order", "null")
                                                          .with("stage-create", "null")
                                                          .with("properties", "null")
                                                          .text()));
  EXPECT_EQ(request.location, std::nullopt);
  EXPECT_FALSE(request.partition_spec);
  EXPECT_FALSE(request.write_order);
  EXPECT_FALSE(request.stage_create);
  EXPECT_THAT(request.properties, IsEmpty());
}

// As PyIceberg sends it.
TEST(TableCreations, HaveAllTheirMembers) {
  const auto& request = accepted(parse_table_creation(
      R"({"name":"events","location":"s3://b/events","schema":{"type":"struct","fields":[)"
      R"({"id":1,"name":"at","type":"timestamptz","required":true},)"
      R"({"id":2,"name":"tags","type":{"type":"list","element-id":3,"element":"string",)"
      R"("element-required":false},"required":false,"doc":"d"}],"schema-id":0,)"
      R"("identifier-field-ids":[1]},"partition-spec":{"spec-id":0,"fields":[{"source-id":1,)"
      R"("field-id":1000,"transform":"day","name":"at_day"}]},"write-order":{"order-id":1,)"
      R"("fields":[{"source-id":1,"transform":"hour","direction":"desc",)"
      R"("null-order":"nulls-last"}]},"stage-create":true,"properties":{"format-version":"3",)"
      R"("owner":"me"}})"));
  EXPECT_EQ(request.name, "events");
  EXPECT_EQ(request.location, "s3://b/events");
  ASSERT_THAT(request.schema.fields, SizeIs(2));
  EXPECT_THAT(request.schema.identifier_field_ids, ElementsAre(1));
  EXPECT_EQ(request.partition_spec.value().spec_id, 0);
  EXPECT_EQ(request.partition_spec->fields[0].field_id, 1000);
  EXPECT_EQ(request.write_order.value().order_id, 1);
  EXPECT_TRUE(request.stage_create);
  ASSERT_THAT(request.properties, SizeIs(2));
  EXPECT_EQ(request.properties[0].key, "format-version");
  EXPECT_EQ(request.properties[0].value, "3");
}

TEST(TableCreations, TakeEveryMemberOnceAndOfItsType) {
  const Document all = kTable.with("location", R"("l")")
                           .with("partition-spec", R"({"fields":[]})")
                           .with("write-order", R"({"fields":[]})")
                           .with("stage-create", "false")
                           .with("properties", "{}");
  ASSERT_EQ(kAsTable(all), "accepted");
  for (const std::string member :
       {"location", "partition-spec", "write-order", "stage-create", "properties"}) {
    EXPECT_EQ(kAsTable(all.with_another(member, "null")),
              "invalid_argument: " + member + ": occurs twice");
    EXPECT_THAT(kAsTable(all.with(member, "0")),
                ::testing::StartsWith("invalid_argument: " + member + ": expected a"));
  }
  EXPECT_EQ(kAsTable(all.with("unknown", R"([{"name":"x"}])")), "accepted");
  EXPECT_EQ(kAsTable(all.with("properties", R"({"a":true})")),
            "invalid_argument: properties.a: expected a string, found a boolean");
}

TEST(TableCreations, GiveAnOrderWithoutAnIdTheOneItHasToHave) {
  const auto id_of = [&](const std::string& order) {
    return accepted(parse_table_creation(kTable.with("write-order", order).text()))
        .write_order.value()
        .order_id;
  };
  EXPECT_EQ(id_of(R"({"fields":[]})"), 0);
  EXPECT_EQ(id_of(R"({"fields":[)" + kSortField + "]}"), 1);
  EXPECT_EQ(id_of(R"({"order-id":null,"fields":[)" + kSortField + "]}"), 1);
  EXPECT_EQ(id_of(R"({"order-id":5,"fields":[)" + kSortField + "]}"), 5);
  EXPECT_EQ(kAsTable(kTable.with("write-order", R"({"order-id":0,"fields":[)" + kSortField + "]}")),
            "invalid_argument: write-order.fields: order 0 is for the unsorted, and has fields");
  EXPECT_EQ(kAsTable(kTable.with("write-order", R"({"order-id":2,"fields":[]})")),
            "invalid_argument: write-order.fields: has no fields, which is for order 0 alone");
  EXPECT_EQ(kAsTable(kTable.with("write-order", R"({"order-id":1})")),
            "invalid_argument: write-order.fields: is missing");
}

TEST(TableCreations, HaveNamesThatCanBe) {
  const auto named = [](const std::string& json) { return kAsTable(kTable.with("name", json)); };
  EXPECT_EQ(named(R"("")"), "invalid_argument: name: the name '' is empty");
  EXPECT_EQ(named(R"("a\u0000b")"),
            "invalid_argument: name: the name 'a\\x00b' holds a NUL character");
  EXPECT_EQ(named(R"("a\u001fb")"),
            "invalid_argument: name: the name 'a\\x1fb' holds the separator 0x1F");
  EXPECT_EQ(
      accepted(parse_table_creation(kTable.with("name", R"("t.\u00fc\ud83e\uddca/")").text())).name,
      "t.ü🧊/");
  EXPECT_THAT(named(R"("\ud800")"), ::testing::HasSubstr("is half of a surrogate pair"));
}

TEST(ViewCreations, LackNothingButLocationAndProperties) {
  for (const std::string member : {"name", "schema", "view-version"}) {
    expect_required(kView, member, "", kAsView);
  }
  EXPECT_EQ(kAsView(kView.without("properties")), "accepted");
  EXPECT_EQ(kAsView(kView.with("properties", "null").with("location", "null")), "accepted");
  for (const std::string member : {"properties", "location"}) {
    EXPECT_THAT(kAsView(kView.with(member, "0")),
                ::testing::StartsWith("invalid_argument: " + member + ": expected a"));
    EXPECT_EQ(kAsView(kView.with(member, "null").with_another(member, "null")),
              "invalid_argument: " + member + ": occurs twice");
  }
  EXPECT_EQ(kAsView(kView.with("name", R"("")")), "invalid_argument: name: the name '' is empty");
}

TEST(ViewCreations, HaveAllTheirMembers) {
  const auto& request = accepted(parse_view_creation(
      kView.with("location", R"("s3://b/v")").with("properties", R"({"a":"b"})").text()));
  EXPECT_EQ(request.name, "v");
  EXPECT_EQ(request.location, "s3://b/v");
  EXPECT_EQ(request.schema.schema_id, 4);
  EXPECT_EQ(request.view_version.schema_id, kLastAdded);
  ASSERT_THAT(request.view_version.representations, SizeIs(1));
  EXPECT_EQ(request.view_version.representations[0].dialect, "spark");
  EXPECT_THAT(request.properties, SizeIs(1));
  EXPECT_EQ(kAsView(kView.with("view-version", Document{{"version-id", "1"}}.text())),
            "invalid_argument: view-version.schema-id: is missing");
}

}  // namespace
}  // namespace iceblink::iceberg::testing
