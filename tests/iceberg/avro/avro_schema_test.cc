// The JSON of an Avro schema to our model of it.
#include "iceberg/avro/avro_schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace iceblink::iceberg::avro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::shared_ptr<const Schema> parsed(std::string_view json) {
  auto schema = parse_schema(json);
  EXPECT_TRUE(schema.ok()) << schema.error().message() << "\n" << json;
  return schema ? *schema : std::make_shared<const Schema>();
}

Error refused(std::string_view json) {
  const auto schema = parse_schema(json);
  EXPECT_FALSE(schema.ok()) << json;
  return schema ? Error(ErrorKind::kInternal, "was taken") : schema.error();
}

std::string record_of(std::string_view fields) {
  return R"({"type":"record","name":"r","fields":[)" + std::string(fields) + "]}";
}

TEST(AvroSchema, KnowsEveryPrimitiveType) {
  const std::pair<const char*, Kind> kinds[] = {
      {"null", Kind::kNull},   {"boolean", Kind::kBoolean}, {"int", Kind::kInt},
      {"long", Kind::kLong},   {"float", Kind::kFloat},     {"double", Kind::kDouble},
      {"bytes", Kind::kBytes}, {"string", Kind::kString}};
  for (const auto& [name, kind] : kinds) {
    EXPECT_EQ(parsed('"' + std::string(name) + '"')->kind, kind) << name;
    EXPECT_EQ(parsed(R"({"type":")" + std::string(name) + "\"}")->kind, kind) << name;
  }
}

TEST(AvroSchema, KeepsTheIdsOfFieldsElementsKeysAndValues) {
  const auto schema = parsed(record_of(
      R"({"name":"a","type":{"type":"array","items":"int","element-id":-2},"field-id":1},)"
      R"({"type":{"key-id":4,"value-id":5,"values":"long","type":"map"},"field-id":3,"name":"m"},)"
      R"({"name":"none","type":"int","field-id":null})"));
  ASSERT_EQ(schema->fields.size(), 3);
  EXPECT_EQ(schema->fields[0].name, "a");
  EXPECT_EQ(schema->fields[0].field_id, 1);
  EXPECT_EQ(schema->fields[0].type->kind, Kind::kArray);
  EXPECT_EQ(schema->fields[0].type->element_id, -2);
  EXPECT_EQ(schema->fields[0].type->children.front()->kind, Kind::kInt);
  EXPECT_EQ(schema->fields[1].field_id, 3);
  EXPECT_EQ(schema->fields[1].type->key_id, 4);
  EXPECT_EQ(schema->fields[1].type->value_id, 5);
  EXPECT_EQ(schema->fields[1].type->children.front()->kind, Kind::kLong);
  EXPECT_EQ(schema->fields[2].field_id, std::nullopt);
}

TEST(AvroSchema, KeepsWhatUnionsEnumsAndFixedsConsistOf) {
  const auto schema =
      parsed(R"(["null",{"type":"enum","name":"e","symbols":["A","B"]},)"
             R"({"type":"fixed","name":"f","size":16},{"type":"error","name":"x","fields":[]}])");
  EXPECT_EQ(schema->kind, Kind::kUnion);
  ASSERT_EQ(schema->children.size(), 4);
  EXPECT_EQ(schema->children[0]->kind, Kind::kNull);
  EXPECT_THAT(schema->children[1]->symbols, ElementsAre("A", "B"));
  EXPECT_EQ(schema->children[2]->kind, Kind::kFixed);
  EXPECT_EQ(schema->children[2]->fixed_bytes, 16);
  EXPECT_EQ(schema->children[3]->kind, Kind::kRecord);
}

TEST(AvroSchema, FindsATypeByItsNameAndItsFullName) {
  const auto schema = parsed(
      R"({"type":"record","name":"r","namespace":"n.s","fields":[)"
      R"({"name":"a","type":{"type":"record","name":"in","fields":[]}},)"
      R"({"name":"b","type":"in"},{"name":"c","type":"n.s.in"},{"name":"d","type":{"type":"in"}},)"
      R"({"name":"e","type":{"type":"fixed","size":1,"name":"o.f"}},{"name":"f","type":"o.f"},)"
      R"({"name":"g","type":{"type":"fixed","size":2,"name":"f","namespace":""}},)"
      R"({"name":"h","type":["null","f"]}]})");
  EXPECT_EQ(schema->name, "n.s.r");
  const auto& fields = schema->fields;
  ASSERT_EQ(fields.size(), 8);
  EXPECT_EQ(fields[0].type->name, "n.s.in");
  EXPECT_EQ(fields[1].type, fields[0].type);
  EXPECT_EQ(fields[2].type, fields[0].type);
  EXPECT_EQ(fields[3].type, fields[0].type);
  EXPECT_EQ(fields[5].type, fields[4].type);
  EXPECT_EQ(fields[6].type->name, "f");
  EXPECT_EQ(fields[7].type->children[1], fields[6].type);
}

TEST(AvroSchema, ReadsMembersInAnyOrder) {
  const auto schema = parsed(
      R"({"fields":[{"type":{"items":{"size":3,"name":"f","type":"fixed"},"type":"array"},)"
      R"("default":[{"type":1}],"name":"a"},{"type":"n.f","name":"b"}],"doc":"in the middle",)"
      R"("namespace":"n","type":"record","aliases":["x"],"name":"r"})");
  EXPECT_EQ(schema->name, "n.r");
  ASSERT_EQ(schema->fields.size(), 2);
  EXPECT_EQ(schema->fields[0].type->children.front(), schema->fields[1].type);
}

TEST(AvroSchema, TakesNamesThatAvroForbids) {
  const auto schema =
      parsed(R"({"type":"record","name":"größe 1","fields":[{"name":"a.b c","type":"int"},)"
             R"({"name":"","type":{"type":"fixed","name":"1-2","size":3}},)"
             R"({"name":"a.b c","type":"1-2"}]})");
  EXPECT_EQ(schema->name, "größe 1");
  EXPECT_EQ(schema->fields[0].name, "a.b c");
  EXPECT_EQ(schema->fields[2].type->fixed_bytes, 3);
}

TEST(AvroSchema, TakesATypeInATypeForThatType) {
  EXPECT_EQ(parsed(R"({"type":{"type":{"type":"long"}}})")->kind, Kind::kLong);
  EXPECT_EQ(parsed(R"({"type":["null","int"]})")->kind, Kind::kUnion);
  EXPECT_EQ(parsed(R"({"type":{"type":"long"},"logicalType":"timestamp-micros"})")->logical_type,
            "timestamp-micros");
}

TEST(AvroSchema, KeepsLogicalTypes) {
  const auto decimal = parsed(
      R"({"type":"fixed","name":"d","size":4,"logicalType":"decimal","precision":9,"scale":2})");
  EXPECT_EQ(decimal->logical_type, "decimal");
  EXPECT_EQ(decimal->precision, 9);
  EXPECT_EQ(decimal->scale, 2);
  const auto timestamp =
      parsed(R"({"logicalType":"timestamp-micros","adjust-to-utc":true,"type":"long"})");
  EXPECT_EQ(timestamp->logical_type, "timestamp-micros");
  EXPECT_TRUE(timestamp->adjust_to_utc);
  EXPECT_FALSE(parsed(R"({"type":"long","logicalType":"timestamp-nanos","adjust-to-utc":false})")
                   ->adjust_to_utc);
  EXPECT_EQ(parsed(R"({"type":"int","logicalType":"date"})")->logical_type, "date");
  EXPECT_EQ(parsed(R"({"type":"array","items":"int","logicalType":"map"})")->logical_type, "map");
}

TEST(AvroSchema, LeavesLogicalTypesOutThatAreUnknownOrDoNotFit) {
  for (const char* const json :
       {R"({"type":"int","logicalType":"colour"})", R"({"type":"string","logicalType":"date"})",
        R"({"type":"bytes","logicalType":"decimal"})", R"({"type":"int","logicalType":7})",
        R"({"type":"bytes","logicalType":"decimal","precision":2,"scale":3})"}) {
    EXPECT_EQ(parsed(json)->logical_type, "") << json;
  }
}

TEST(AvroSchema, SaysWhatIsWrongAndWhere) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "the document is empty"},
      {"7", "expected a string, found a number"},
      {R"("int" 1)", "something follows the document"},
      {R"({"name":"r"})", "type: is missing"},
      {R"({"type":"record","name":"r"})", "fields: is missing"},
      {R"({"type":"record","fields":[]})", "name: is missing"},
      {R"({"type":"enum","name":"e"})", "symbols: is missing"},
      {R"({"type":"fixed","name":"f"})", "size: is missing"},
      {R"({"type":"fixed","name":"f","size":-1})", "size: is negative"},
      {R"({"type":"array"})", "items: is missing"},
      {R"({"type":"map"})", "values: is missing"},
      {R"({"type":"int","type":"int"})", "type: occurs twice"},
      {record_of(R"({"name":"a"})"), "fields[0].type: is missing"},
      {record_of(R"({"type":"int"})"), "fields[0].name: is missing"},
      {record_of(R"({"name":"a","type":"int","field-id":"1"})"),
       "fields[0].field-id: expected an integer, found a string"},
      {record_of(R"({"name":"a","type":"int"},{"name":"b","type":["null","long","lon"]})"),
       "fields[1].type[2]: 'lon' is not the name of a type"},
      {record_of(
           R"({"name":"a","type":"int","field-id":7},{"name":"b","type":"int","field-id":7})"),
       "fields: two fields have the id 7"},
      {R"({"type":"record","name":"r","fields":[})", "not valid JSON"},
      {R"({"type":"record","name":"r","fields":[],"doc":tru})", "not valid JSON"}};
  for (const auto& [json, what] : cases) {
    const Error error = refused(json);
    EXPECT_EQ(error.kind(), ErrorKind::kCorrupt) << json;
    EXPECT_THAT(error.message(), HasSubstr(what)) << json;
  }
}

TEST(AvroSchema, RefusesATypeInsideOfItself) {
  for (const std::string& json :
       {record_of(R"({"name":"a","type":["null","r"]})"),
        record_of(R"({"name":"a","type":{"type":"array","items":{"type":"r"}}})")}) {
    const Error error = refused(json);
    EXPECT_EQ(error.kind(), ErrorKind::kUnsupported);
    EXPECT_THAT(error.message(), HasSubstr("'r' is a type inside of itself"));
  }
}

TEST(AvroSchema, RefusesANameOfTwoTypesWhereItIsUsed) {
  const std::string twice = R"({"name":"a","type":{"type":"fixed","name":"f","size":1}},)"
                            R"({"name":"b","type":{"type":"fixed","name":"f","size":2}})";
  EXPECT_EQ(parsed(record_of(twice))->fields[1].type->fixed_bytes, 2);
  EXPECT_THAT(refused(record_of(twice + R"(,{"name":"c","type":"f"})")).message(),
              StartsWith("fields[2].type: 'f' is the name of two types"));
}

std::string nested_arrays(std::size_t count, const std::string& inside) {
  std::string json;
  for (std::size_t i = 0; i < count; ++i) json += R"({"type":"array","items":)";
  return json + inside + std::string(count, '}');
}

TEST(AvroSchema, LimitsHowDeepTypesAreNested) {
  EXPECT_EQ(parsed(nested_arrays(kSchemaDepthMax - 1, "\"int\""))->kind, Kind::kArray);
  EXPECT_EQ(refused(nested_arrays(kSchemaDepthMax, "\"int\"")).kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(refused(nested_arrays(10'000, "\"int\"")).kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(refused(std::string(100'000, '[')).kind(), ErrorKind::kTooLarge);
}

TEST(AvroSchema, LimitsDepthByReferences) {
  std::string fields;
  std::string before = "\"int\"";
  for (int i = 0; i < 100; ++i) {
    const std::string name = "t" + std::to_string(i);
    fields += (i == 0 ? "" : ",") + std::string(R"({"name":"f","type":{"type":"record","name":")") +
              name + R"(","fields":[{"name":"x","type":)" + before + "}]}}";
    before = '"' + name + '"';
  }
  const Error error = refused(record_of(fields));
  EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
  EXPECT_THAT(error.message(), HasSubstr("nested deeper than 64"));
}

TEST(AvroSchema, LimitsWhatReferencesMultiplyTo) {
  std::string fields;
  std::string before = "\"null\"";
  for (int i = 0; i < 30; ++i) {
    const std::string name = "t" + std::to_string(i);
    fields += (i == 0 ? "" : ",") + std::string(R"({"name":"f","type":{"type":"record","name":")") +
              name + R"(","fields":[{"name":"x","type":)" + before + R"(},{"name":"y","type":)" +
              before + "}]}}";
    before = '"' + name + '"';
  }
  const Error error = refused(record_of(fields));
  EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
  EXPECT_THAT(error.message(), HasSubstr("more than 65536 types"));
}

TEST(AvroSchema, LimitsHowManyTypesAndSymbolsThereAre) {
  std::string unions = "[";
  std::string symbols = R"({"type":"enum","name":"e","symbols":[)";
  for (int i = 0; i < 70'000; ++i) {
    unions += "[],";
    symbols += "\"\",";
  }
  for (const std::string& json : {unions + "[]]", symbols + "\"\"]}"}) {
    const Error error = refused(json);
    EXPECT_EQ(error.kind(), ErrorKind::kTooLarge);
    EXPECT_THAT(error.message(), HasSubstr("more than 65536 types and symbols"));
  }
  EXPECT_EQ(refused('[' + std::string(5'000'000, ' ') + ']').kind(), ErrorKind::kTooLarge);
}

TEST(AvroSchema, LimitsWhatNamespacesMultiplyTo) {
  const auto with_namespace = [](std::size_t bytes, int type_count) {
    std::string fields;
    for (int i = 0; i < type_count; ++i) {
      fields += (i == 0 ? "" : ",") +
                std::string(R"({"name":"f","type":{"type":"fixed","size":1,)") + R"("name":"t)" +
                std::to_string(i) + "\"}}";
    }
    return R"({"type":"record","name":"r","namespace":")" + std::string(bytes, 'n') +
           R"(","fields":[)" + fields + "]}";
  };
  EXPECT_EQ(parsed(with_namespace(900, 10))->fields.size(), 10);
  EXPECT_EQ(refused(with_namespace(1000, 1)).kind(), ErrorKind::kTooLarge);
  EXPECT_EQ(refused(with_namespace(900, 10'000)).kind(), ErrorKind::kTooLarge);
}

}  // namespace
}  // namespace iceblink::iceberg::avro
