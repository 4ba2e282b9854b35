// Schemas and their types, partition specs, sort orders, views.
#include "iceberg/metadata_writer.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kFieldPath = "schemas[0].fields[0]";

Document with_type(const std::string& type) {
  return with_schema(v3(), field(1, "x", type).text());
}
std::string quoted(const std::string& text) {
  return '"' + text + '"';
}
/// The type of the one column.
Result<std::pair<std::shared_ptr<TableMetadata>, Type>> type_of(const std::string& type) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto table, load(with_type(type)));
  return std::pair(table, table->current_schema().fields[0].type);
}

// ---- Types

TEST(MetadataStructure, KnowsEveryPrimitiveTypeInAnyCase) {
  const std::vector<std::pair<std::string, TypeKind>> types = {
      {"boolean", TypeKind::kBoolean},
      {"int", TypeKind::kInt},
      {"long", TypeKind::kLong},
      {"float", TypeKind::kFloat},
      {"double", TypeKind::kDouble},
      {"decimal(9,2)", TypeKind::kDecimal},
      {"date", TypeKind::kDate},
      {"time", TypeKind::kTime},
      {"timestamp", TypeKind::kTimestamp},
      {"timestamptz", TypeKind::kTimestampTz},
      {"timestamp_ns", TypeKind::kTimestampNs},
      {"timestamptz_ns", TypeKind::kTimestampTzNs},
      {"string", TypeKind::kString},
      {"uuid", TypeKind::kUuid},
      {"fixed[16]", TypeKind::kFixed},
      {"binary", TypeKind::kBinary},
      {"unknown", TypeKind::kUnknown},
      {"variant", TypeKind::kVariant},
      {"geometry", TypeKind::kGeometry},
      {"geography", TypeKind::kGeography}};
  for (const auto& [text, kind] : types) {
    std::string upper = text;
    std::transform(upper.begin(), upper.end(), upper.begin(), ::toupper);
    for (const std::string& spelling : {text, upper}) {
      EXPECT_THAT(with_type(quoted(spelling)), IsAccepted()) << spelling;
      const auto type = type_of(quoted(spelling));
      ASSERT_TRUE(type) << spelling;
      EXPECT_EQ(type->second.kind, kind) << spelling;
    }
    // Types of format 3 are taken in older ones as well: values of them can be read.
    EXPECT_THAT(with_type(quoted(text)).with("format-version", "2"), IsAccepted());
  }
}

TEST(MetadataStructure, ReadsTheParametersOfTypes) {
  const auto decimal = type_of(quoted("decimal( 38 , 10 )"));
  ASSERT_TRUE(decimal) << decimal.error().message();
  EXPECT_EQ(decimal->second.precision, 38);
  EXPECT_EQ(decimal->second.scale, 10);
  EXPECT_EQ(type_of(R"("fixed[4294967295]")")->second.fixed_bytes, 4294967295U);
  EXPECT_EQ(type_of(R"("geometry")")->second.crs, "OGC:CRS84");
  EXPECT_EQ(type_of(quoted("geometry(srid:5070)"))->second.crs, "srid:5070");
  const auto geography = type_of(quoted("geography(srid:4326, Karney)"));
  EXPECT_EQ(geography->second.crs, "srid:4326");
  EXPECT_EQ(geography->second.algorithm, EdgeAlgorithm::kKarney);
  EXPECT_EQ(type_of(quoted("geography(srid:4326)"))->second.algorithm, EdgeAlgorithm::kSpherical);
}

TEST(MetadataStructure, RefusesTypesThatAreNone) {
  for (const char* text : {"",
                           "integer",
                           " int",
                           "decimal",
                           "decimal(9)",
                           "decimal(0,0)",
                           "decimal(39,2)",
                           "decimal(9,39)",
                           "decimal(9,-1)",
                           "decimal(9,2",
                           "decimal(9;2)",
                           "fixed",
                           "fixed[]",
                           "fixed[-1]",
                           "fixed[4294967296]",
                           "fixed(16)",
                           "geometry()",
                           "geography()",
                           "geography(srid:1, flat)",
                           "list",
                           "struct"}) {
    const auto problems = problems_of(with_type(quoted(text)));
    ASSERT_EQ(problems.size(), 1U) << text;
    EXPECT_THAT(problems[0], HasSubstr(kFieldPath + ".type: the type '" + text + "' ")) << text;
  }
  EXPECT_THAT(with_type("5"), IsRefused(kFieldPath + ".type", "expected a string, found a number"));
  EXPECT_THAT(with_type(R"({"type":"set"})"),
              IsRefused(kFieldPath + ".type.type", "'set' is not struct, list or map"));
}

TEST(MetadataStructure, ReadsNestedTypes) {
  const std::string list =
      R"({"type":"list","element-id":5,"element-required":true,"element":"int"})";
  const auto map = type_of(R"({"type":"map","key-id":3,"key":"string","value-id":4,)"
                           R"("value-required":false,"value":)" +
                           list + "}");
  ASSERT_TRUE(map) << map.error().message();
  const auto fields = map->second.fields;
  ASSERT_EQ(fields.size(), 2U);
  EXPECT_EQ(fields[0].name, "key");
  EXPECT_TRUE(fields[0].required);
  EXPECT_EQ(fields[1].name, "value");
  EXPECT_FALSE(fields[1].required);
  EXPECT_EQ(fields[1].type.fields[0].name, "element");
  EXPECT_TRUE(fields[1].type.fields[0].required);
  EXPECT_EQ(map->first->current_schema().find_field(5)->type.kind, TypeKind::kInt);
  EXPECT_THAT(with_type(R"({"type":"struct","fields":[)" + field(2, "a").text() + "]}"),
              IsAccepted());
}

TEST(MetadataStructure, NestedTypesNeedAllTheirMembers) {
  EXPECT_THAT(problems_of(with_type(R"({"type":"list"})")),
              ElementsAre(kFieldPath + ".type.element-id: is missing",
                          kFieldPath + ".type.element: is missing",
                          kFieldPath + ".type.element-required: is missing"));
  EXPECT_THAT(
      problems_of(with_type(R"({"type":"map","key-id":2,"key":"int"})")),
      ElementsAre(kFieldPath + ".type.value-id: is missing", kFieldPath + ".type.value: is missing",
                  kFieldPath + ".type.value-required: is missing"));
  EXPECT_THAT(with_type(R"({"type":"struct"})"),
              IsRefused(kFieldPath + ".type.fields", "is missing"));
}

TEST(MetadataStructure, DefaultsFitTheirType) {
  const auto with_default = [](const std::string& type, const std::string& json) {
    return with_schema(
        v3(), field(1, "x", type).with("initial-default", json).with("write-default", json).text());
  };
  const std::vector<std::pair<std::string, std::string>> fitting = {
      {R"("boolean")", "true"},
      {R"("long")", "9223372036854775807"},
      {R"("double")", "-1.5e300"},
      {quoted("decimal(9,2)"), R"("14.20")"},
      {R"("date")", R"("2017-11-16")"},
      {R"("uuid")", quoted(kUuid)},
      {R"("fixed[2]")", R"("00ff")"},
      {R"("unknown")", "null"},
      {R"({"type":"list","element-id":2,"element":"int","element-required":false})", "[1, 2]"},
      {R"({"type":"struct","fields":[]})", "{ }"}};
  for (const auto& [type, json] : fitting) {
    EXPECT_THAT(with_default(type, json), IsAccepted()) << type;
    const auto table = load(with_default(type, json));
    const auto& column = (*table)->current_schema().fields[0];
    EXPECT_EQ(column.initial_default.value_or("null"), json) << "as it is written";
    EXPECT_EQ(column.write_default.value_or("null"), json);
  }
  EXPECT_THAT(problems_of(with_default(R"("long")", R"("5")")),
              ElementsAre(kFieldPath + ".initial-default: is not a value of long",
                          kFieldPath + ".write-default: is not a value of long"));
  EXPECT_THAT(error_of(with_default(R"("variant")", "1")),
              HasSubstr("a column of type variant has no default but null"));
  EXPECT_THAT(error_of(with_default(R"("string")", "nope")), HasSubstr("not valid JSON"));
}

// ---- Schemas

TEST(MetadataStructure, Case8ASchemaMayHaveNoColumns) {
  EXPECT_THAT(with_schema(v2(), "").with("last-column-id", "0"), IsAccepted());
}

TEST(MetadataStructure, Case18ColumnsMayDifferInCaseAlone) {
  const auto table =
      load(with_schema(v2(), field(1, "Body").text() + ',' + field(2, "body").text()));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->current_schema().find_column("Body")->id, 1);
  EXPECT_EQ((*table)->current_schema().find_column("body")->id, 2);
  EXPECT_EQ((*table)->current_schema().find_column("BODY"), nullptr);
}

TEST(MetadataStructure, NamesDifferWithinAStruct) {
  EXPECT_THAT(with_schema(v2(), field(1, "a").text() + ',' + field(2, "a").text()),
              IsRefused("schemas[0].fields", "two have the name 'a'"));
  const std::string inner = R"({"type":"struct","fields":[)" + field(2, "a").text() + "]}";
  EXPECT_THAT(with_schema(v2(), field(1, "a", inner).text()), IsAccepted());
  for (const int count : {300, 2000}) {
    std::string many;
    for (int i = 0; i < count; ++i) many += field(i + 1, "c" + std::to_string(i)).text() + ',';
    EXPECT_THAT(with_schema(v2(), many + field(9999, "d").text()), IsAccepted());
    EXPECT_THAT(error_of(with_schema(v2(), many + field(9999, "c7").text())),
                "corrupt: schemas[0].fields: two have the name 'c7'");
  }
}

TEST(MetadataStructure, IdsOfFieldsSchemasSpecsAndOrdersDiffer) {
  const std::string nested = R"({"type":"struct","fields":[)" + field(1, "b").text() + "]}";
  EXPECT_THAT(error_of(with_schema(v2(), field(1, "a", nested).text())),
              HasSubstr("schemas[0].fields: two fields have the id 1"));
  const std::string same = schema(field(1, "x").text()).text();
  EXPECT_THAT(v2().with("schemas", '[' + same + ',' + same + ']'),
              IsRefused("schemas", "two have the schema-id 0"));
  EXPECT_THAT(
      v2().with("partition-specs", R"([{"spec-id":0,"fields":[]},{"spec-id":0,"fields":[]}])"),
      IsRefused("partition-specs", "two have the spec-id 0"));
  EXPECT_THAT(
      v2().with("sort-orders", R"([{"order-id":0,"fields":[]},{"order-id":0,"fields":[]}])"),
      IsRefused("sort-orders", "two have the order-id 0"));
}

TEST(MetadataStructure, WhatIsCurrentIsThere) {
  EXPECT_THAT(v2().with("current-schema-id", "7"),
              IsRefused("current-schema-id", "7 is the id of none of the schemas"));
  EXPECT_THAT(v2().with("default-spec-id", "7"),
              IsRefused("default-spec-id", "7 is the id of none of the specs"));
  EXPECT_THAT(v2().with("default-sort-order-id", "7"),
              IsRefused("default-sort-order-id", "7 is the id of none of the sort orders"));
}

TEST(MetadataStructure, IdentifierFieldsIdentify) {
  const auto with_identifiers = [](const std::string& fields, const std::string& ids) {
    return v2().with("schemas",
                     '[' + schema(fields).with("identifier-field-ids", ids).text() + ']');
  };
  const auto required = field(1, "x").with("required", "true");
  EXPECT_THAT(with_identifiers(required.text(), "[1]"), IsAccepted());
  EXPECT_THAT(with_identifiers(required.text(), "null"), IsAccepted());
  const std::string path = "schemas[0].identifier-field-ids";
  EXPECT_THAT(with_identifiers(field(1, "x").text(), "[1]"),
              IsRefused(path, "the field 1 is optional"));
  EXPECT_THAT(with_identifiers(required.text(), "[2]"),
              IsRefused(path, "the field 2 is not in the schema"));
  EXPECT_THAT(with_identifiers(required.with("type", R"("double")").text(), "[1]"),
              IsRefused(path, "the field 1 is a floating-point number"));
  EXPECT_THAT(with_schema(v3(), field(1, "x", R"("unknown")").with("required", "true").text()),
              IsRefused(kFieldPath + ".required", "is of type unknown and cannot be required"));
}

TEST(MetadataStructure, SeveralProblemsAreAllFound) {
  const auto broken = v2().without("location")
                          .with("last-column-id", R"("1")")
                          .with("current-schema-id", "7")
                          .with("snapshots", '[' + snapshot("1").with("summary", "5").text() + ']');
  EXPECT_THAT(problems_of(broken),
              ElementsAre("location: is missing",
                          "last-column-id: expected an integer, found a "
                          "string",
                          "current-schema-id: 7 is the id of none of the schemas",
                          "snapshots[0].summary: expected an object, found a number"));
}

// ---- Partition specs and sort orders

Document with_transform(const std::string& transform) {
  return v3().with("partition-specs", R"([{"spec-id":0,"fields":[{"name":"p","transform":)" +
                                          quoted(transform) +
                                          R"(,"source-id":1,"field-id":1000}]}])");
}

TEST(MetadataStructure, KnowsEveryTransformAndKeepsUnknownOnes) {
  struct Expected {
    std::string text;
    TransformKind kind;
    std::uint32_t parameter = 0;
  };
  for (const Expected& expected :
       std::initializer_list<Expected>{{"identity", TransformKind::kIdentity},
                                       {"bucket[16]", TransformKind::kBucket, 16},
                                       {"truncate[4]", TransformKind::kTruncate, 4},
                                       {"year", TransformKind::kYear},
                                       {"MONTH", TransformKind::kMonth},
                                       {"day", TransformKind::kDay},
                                       {"hour", TransformKind::kHour},
                                       {"void", TransformKind::kVoid},
                                       {"bucket[0]", TransformKind::kUnknown},
                                       {"bucket[-1]", TransformKind::kUnknown},
                                       {"bucket[4294967296]", TransformKind::kUnknown},
                                       {"bucket", TransformKind::kUnknown},
                                       {"zorder", TransformKind::kUnknown},
                                       {"", TransformKind::kUnknown}}) {
    EXPECT_THAT(with_transform(expected.text), IsAccepted());
    const auto table = load(with_transform(expected.text));
    const Transform& transform = (*table)->default_partition_spec().fields[0].transform;
    EXPECT_EQ(transform.kind, expected.kind) << expected.text;
    EXPECT_EQ(transform.parameter, expected.parameter) << expected.text;
    EXPECT_EQ(transform.text, expected.text);
  }
}

TEST(MetadataStructure, ATransformMayHaveSeveralSources) {
  const auto with_sources = [](const std::string& sources) {
    return v3().with(
        "partition-specs",
        R"([{"spec-id":0,"fields":[{"name":"p","transform":"bucket[4]","field-id":1000)" + sources +
            "}]}]");
  };
  const auto table = load(with_sources(R"(,"source-ids":[1,2])"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_THAT((*table)->default_partition_spec().fields[0].source_ids, ElementsAre(1, 2));
  const std::string path = "partition-specs[0].fields[0].source-id";
  EXPECT_THAT(with_sources(""), IsRefused(path, "is missing"));
  EXPECT_THAT(with_sources(R"(,"source-ids":[])"), IsRefused(path, "is missing"));
  EXPECT_THAT(with_sources(R"(,"source-id":1,"source-id":2)"), IsRefused(path, "occurs twice"));
}

TEST(MetadataStructure, OldSpecsAndOrdersMayNameColumnsThatAreGone) {
  EXPECT_THAT(
      v2().with("partition-specs",
                R"([{"spec-id":0,"fields":[]},{"spec-id":1,"fields":[{"name":"p",)"
                R"("transform":"identity","source-id":77,"field-id":1000}]}])")
          .with("sort-orders",
                R"([{"order-id":0,"fields":[]},{"order-id":1,"fields":[{"transform":"identity",)"
                R"("source-id":77,"direction":"asc","null-order":"nulls-first"}]}])"),
      IsAccepted());
}

TEST(MetadataStructure, Case9OrderZeroIsForTheUnsorted) {
  const std::string fields =
      R"("fields":[{"transform":"identity","source-id":1,"direction":"DESC",)"
      R"("null-order":"nulls-last"}]})";
  EXPECT_THAT(v2().with("sort-orders", R"([{"order-id":0,)" + fields + ']'),
              IsRefused("sort-orders[0].fields", "order 0 is for the unsorted, and has fields"));
  EXPECT_THAT(v2().with("sort-orders", R"([{"order-id":1,"fields":[]}])")
                  .with("default-sort-order-id", "1"),
              IsRefused("sort-orders[0].fields", "has no fields, which is for order 0 alone"));
  const auto table = load(v2().with("sort-orders", R"([{"order-id":1,)" + fields + ']')
                              .with("default-sort-order-id", "1"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->default_sort_order().fields[0].direction, SortDirection::kDescending);
  EXPECT_EQ((*table)->default_sort_order().fields[0].null_order, NullOrder::kNullsLast);
}

// ---- Views

TEST(MetadataStructure, ReadsAView) {
  EXPECT_THAT(view(), IsAccepted());
  const auto loaded = parse_view_metadata(ByteBuffer(std::string_view(view().text())));
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ((*loaded)->current_version().find_sql("SPARK")->sql, "SELECT 1 x");
  EXPECT_EQ((*loaded)->current_version().find_sql("trino"), nullptr);
  EXPECT_EQ((*loaded)->current_schema().fields[0].name, "x");
  EXPECT_THAT((*loaded)->current_version().default_namespace, ElementsAre("n"));
}

TEST(MetadataStructure, AViewNeedsWhatTheSpecificationRequires) {
  for (const char* name : {"view-uuid", "format-version", "location", "current-version-id",
                           "schemas", "versions", "version-log"}) {
    const std::string text = view().without(name).text();
    const auto loaded = parse_view_metadata(ByteBuffer(std::string_view(text)));
    ASSERT_FALSE(loaded) << name;
    EXPECT_EQ(loaded.error().message(), std::string(name) + ": is missing");
  }
  EXPECT_THAT(view().without("versions"), IsRefused("versions", "is missing"));
  EXPECT_THAT(
      view().with("versions", R"([{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":null,)"
                              R"("representations":[],"default-namespace":[]}])"),
      IsRefused("versions[0].summary", "is null"));
  EXPECT_THAT(view().with("current-version-id", "9"),
              IsRefused("current-version-id", "9 is the id of none of the versions"));
  EXPECT_THAT(view().with("schemas", "[]"),
              IsRefused("versions[0].schema-id", "0 is the id of none of the schemas"));
  EXPECT_THAT(view().with("view-uuid", R"("x")"), IsRefused("view-uuid", "'x' is not a UUID"));
  EXPECT_THAT(error_of(view().with("format-version", "2")),
              "unsupported: format-version: 2 is not supported, the highest known is 1");
}

TEST(MetadataStructure, RepresentationsThatAreNoSqlAreKeptAsTheyAre) {
  const auto loaded = parse_view_metadata(ByteBuffer(std::string_view(
      view()
          .with("versions", R"([{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},)"
                            R"("representations":[{"sql":7, "type":"plan", "bytes":[1]}],)"
                            R"("default-catalog":null,"default-namespace":[]}])")
          .text())));
  ASSERT_TRUE(loaded) << loaded.error().message();
  EXPECT_EQ((*loaded)->current_version().representations[0].type, "plan");
  EXPECT_EQ((*loaded)->current_version().representations[0].sql, "");
  EXPECT_EQ((*loaded)->current_version().representations[0].json,
            R"({"sql":7, "type":"plan", "bytes":[1]})");
  EXPECT_THAT(*write_view_metadata(**loaded),
              testing::HasSubstr(R"("representations":[{"sql":7,"type":"plan","bytes":[1]}])"));
}

TEST(MetadataStructure, TablesAndViewsAreToldApartByContent) {
  EXPECT_EQ((*parse_metadata(ByteBuffer(std::string_view(v2().text()))))->kind(),
            MetadataDocument::Kind::kTable);
  EXPECT_EQ((*parse_metadata(ByteBuffer(std::string_view(view().text()))))->kind(),
            MetadataDocument::Kind::kView);
  EXPECT_FALSE(load(view()));
  EXPECT_FALSE(parse_view_metadata(ByteBuffer(std::string_view(v2().text()))));
}

TEST(MetadataStructure, OfAResponseOnlyTheMetadataInItIsJudged) {
  const std::string response =
      R"({"metadata-location":5,"config":"x","metadata":)" + v2().text() + "}";
  EXPECT_THAT(problems_of(response), ElementsAre());
  EXPECT_THAT(problems_of(R"({"metadata":)" + v2().without("location").text() + "}"),
              ElementsAre("metadata.location: is missing"));
  EXPECT_THAT(error_of(response), HasSubstr("format-version: is missing"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
