// Creating tables: ids that are assigned anew, what is honoured, what is refused.
#include <regex>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CreatingTables : public RestTest {
 protected:
  /// As the kit creates one with everything: ids that are the client's own.
  Object complete(std::string_view name) {
    Object body = named(name, id_and_data(3));
    body["location"] = warehouse() + "/elsewhere/table";
    body["partition-spec"] = id_buckets(3);
    body["write-order"] = order_of(Array{sort_field(3, "bucket[16]"), sort_field(3)});
    body["properties"] = Object{{"user", "someone"}, {"created-at", "2022-02-25T00:38:19"}};
    return body;
  }
};

TEST_F(CreatingTables, AssignsFreshIdsAndALocation) {
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
  const auto created = create(named("tbl", id_and_data(3)));
  ASSERT_THAT(created, HasStatus(200));
  const auto metadata = created.json().at("metadata");
  EXPECT_EQ(current_schema(metadata), id_and_data(1));
  EXPECT_EQ(metadata.at("last-column-id").as_int64(), 2);
  EXPECT_EQ(metadata.at("format-version").as_int64(), 2);
  EXPECT_EQ(default_spec(metadata), spec_of({}));
  EXPECT_EQ(metadata.at("last-partition-id").as_int64(), 999);
  EXPECT_EQ(default_order(metadata), order_of({}, 0));
  EXPECT_EQ(metadata.at("metadata-log"), Array{});
  EXPECT_EQ(metadata.at("snapshots"), Array{});
  const auto location = text_of(metadata.at("location"));
  EXPECT_THAT(location, StartsWith(warehouse() + "/ns/tbl"));
  EXPECT_THAT(text_of(created.json().at("metadata-location")),
              StartsWith(location + "/metadata/00000-"));
  EXPECT_THAT(head(table("tbl")), HasStatus(204));
}

TEST_F(CreatingTables, IsAnsweredAsTheNextLoadIs) {
  const auto created = create(named("tbl"));
  const auto loaded = get(table("tbl"));
  EXPECT_EQ(created.body, loaded.body);
  EXPECT_NE(created.header("etag"), "");
  EXPECT_EQ(created.header("etag"), loaded.header("etag"));
}

TEST_F(CreatingTables, TakesNamesWithSlashesAndDots) {
  for (const auto& [name, path] :
       {std::pair("tab/le", "tab%2Fle"), std::pair("ta.ble", "ta.ble")}) {
    create_table(name);
    EXPECT_THAT(names_of("/ns/tables"), ElementsAre(name));
    EXPECT_THAT(get(table(path)), HasStatus(200));
    EXPECT_THAT(head(table("ta")), HasStatus(404));
    EXPECT_THAT(del(table(path)), HasStatus(204));
    EXPECT_THAT(names_of("/ns/tables"), IsEmpty());
  }
}

TEST_F(CreatingTables, DoesNotTouchTheOneThatExists) {
  const auto original = create_table("tbl");
  EXPECT_THAT(create(named("tbl", some_id())),
              IsError(409, "AlreadyExistsException", std::string("Table already exists: ns.tbl")));
  EXPECT_EQ(load("tbl"), original);
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(CreatingTables, HonoursAllThatIsGiven) {
  const auto created = create(complete("tbl"));
  ASSERT_THAT(created, HasStatus(200));
  const auto metadata = created.json().at("metadata");
  EXPECT_EQ(metadata.at("location"), Value(warehouse() + "/elsewhere/table"));
  EXPECT_EQ(current_schema(metadata), id_and_data(1));
  EXPECT_EQ(default_spec(metadata), id_buckets(1));
  EXPECT_EQ(metadata.at("last-partition-id").as_int64(), 1000);
  EXPECT_EQ(default_order(metadata), order_of({sort_field(1, "bucket[16]"), sort_field(1)}));
  EXPECT_EQ(metadata.at("default-sort-order-id").as_int64(), 1);
  EXPECT_EQ(property(metadata, "user"), "someone");
  EXPECT_EQ(property(metadata, "created-at"), "2022-02-25T00:38:19");
  EXPECT_TRUE(std::regex_match(text_of(metadata.at("table-uuid")),
                               std::regex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")));
  EXPECT_EQ(load("tbl"), metadata);
}

TEST_F(CreatingTables, LeavesNoDoubledSlash) {
  Object body = named("tbl");
  body["location"] = warehouse() + "/slashed/";
  const auto created = create(body).json();
  EXPECT_EQ(created.at("metadata").at("location"), Value(warehouse() + "/slashed"));
  EXPECT_THAT(text_of(created.at("metadata-location")), Not(HasSubstr("//")));
}

TEST_F(CreatingTables, KeepsReservedWordsOutOfTheProperties) {
  Object body = named("tbl");
  body["properties"] = Object{{"format-version", "3"}, {"kept", "1"}};
  const auto created = create(body);
  ASSERT_THAT(created, HasStatus(200));
  const auto metadata = created.json().at("metadata");
  EXPECT_EQ(metadata.at("format-version").as_int64(), 3);
  EXPECT_EQ(metadata.at("properties"), (Object{{"kept", "1"}}));
}

TEST_F(CreatingTables, KeepsWhatAClientMergedOfItsDefaults) {
  Object body = named("tbl");
  body["properties"] = Object{{"default-key1", "catalog"}, {"key2", "table"}};
  create(body);
  EXPECT_EQ(load("tbl").at("properties"), (Object{{"default-key1", "catalog"}, {"key2", "table"}}));
}

TEST_F(CreatingTables, KeepsDefaultsOfColumns) {
  Object added = required_column(2, "col", "string");
  added["initial-default"] = "initial";
  added["write-default"] = "later";
  Object body = named("tbl", schema_of({required_column(1, "id", "int"), added}));
  body["properties"] = Object{{"format-version", "3"}};
  ASSERT_THAT(create(body), HasStatus(200));
  const auto metadata = load("tbl");
  const auto& column = current_schema(metadata).at("fields").at(1);
  EXPECT_EQ(column.at("initial-default"), Value("initial"));
  EXPECT_EQ(column.at("write-default"), Value("later"));
}

TEST_F(CreatingTables, CountsTheIdsOfALevelFirst) {
  Object list{
      {"type", "list"}, {"element-id", 12}, {"element", "variant"}, {"element-required", false}};
  Object map{{"type", "map"},  {"key-id", 14},       {"key", "string"},
             {"value-id", 15}, {"value", "variant"}, {"value-required", false}};
  Object structure{{"type", "struct"}, {"fields", {optional_column(17, "sv", "variant")}}};
  structure["fields"] = Array{optional_column(17, "sv", "variant")};
  Object body =
      named("tbl", schema_of({required_column(10, "id", "int"), optional_column(18, "v", "variant"),
                              optional_column(11, "list", list), optional_column(13, "map", map),
                              optional_column(16, "struct", structure)}));
  body["properties"] = Object{{"format-version", "3"}};
  ASSERT_THAT(create(body), HasStatus(200));
  const auto metadata = load("tbl");
  const auto& columns = current_schema(metadata).at("fields");
  EXPECT_THAT(ids_of(columns, "id"), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_EQ(columns.at(2).at("type").at("element-id").as_int64(), 6);
  EXPECT_EQ(columns.at(3).at("type").at("key-id").as_int64(), 7);
  EXPECT_EQ(columns.at(3).at("type").at("value-id").as_int64(), 8);
  EXPECT_THAT(ids_of(columns.at(4).at("type").at("fields"), "id"), ElementsAre(9));
  EXPECT_EQ(metadata.at("last-column-id").as_int64(), 9);
}

TEST_F(CreatingTables, RefusesAVariantBeforeFormat3) {
  Object body = named("tbl", schema_of({optional_column(1, "v", "variant")}));
  body["properties"] = Object{{"format-version", "2"}};
  EXPECT_THAT(create(body), IsError(400, "IllegalArgumentException",
                                    HasSubstr("variant is not supported until v3")));
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(CreatingTables, WritesTheFormatThatIsAskedFor) {
  for (const char* version : {"1", "2", "3"}) {
    const std::string name = std::string("v") + version;
    Object body = named(name);
    body["properties"] = Object{{"format-version", version}};
    ASSERT_THAT(create(body), HasStatus(200)) << version;
    EXPECT_EQ(load(name).at("format-version").as_int64(), std::stoi(version));
  }
  Object body = named("v9");
  body["properties"] = Object{{"format-version", "9"}};
  EXPECT_THAT(create(body), HasStatus(400));
}

TEST_F(CreatingTables, RefusesTheNameOfAView) {
  create_sql_view("view");
  EXPECT_THAT(create(named("view")),
              IsError(409, "AlreadyExistsException",
                      StartsWith("View with same name already exists: ns.view")));
  Object staged = named("view");
  staged["stage-create"] = true;
  EXPECT_THAT(create(staged), IsError(409, "AlreadyExistsException",
                                      StartsWith("View with same name already exists: ns.view")));
}

TEST_F(CreatingTables, UsesNoLocationTwice) {
  const auto first = create_table("tbl");
  EXPECT_THAT(del(table("tbl")), HasStatus(204));
  const auto second = create_table("tbl");
  EXPECT_NE(first.at("location"), second.at("location"));
  EXPECT_NE(first.at("table-uuid"), second.at("table-uuid"));
}

TEST_F(CreatingTables, RefusesALocationOutsideOfTheWriteRoots) {
  Object body = named("tbl");
  body["location"] = "/proc/nowhere";
  EXPECT_THAT(create(body), IsError(403, "ForbiddenException", Not(IsEmpty())));
  EXPECT_THAT(head(table("tbl")), HasStatus(404));
}

TEST_F(CreatingTables, RefusesBodiesThatAreNone) {
  for (const char* body :
       {"{}", "[]", R"({"name":"t"})", R"({"schema":{"type":"struct","fields":[]}})",
        R"({"name":"","schema":{"type":"struct","fields":[]}})",
        R"({"name":"t","schema":{"type":"struct","fields":[{"id":1}]}})"}) {
    EXPECT_THAT(create(json_of(body)), IsError(400, "IllegalArgumentException", Not(IsEmpty())))
        << body;
  }
  EXPECT_THAT(names_of("/ns/tables"), IsEmpty());
}

TEST_F(CreatingTables, CompressesMetadataWhereThePropertiesSaySo) {
  Object body = named("tbl");
  body["properties"] = Object{{"write.metadata.compression-codec", "gzip"}};
  const auto created = create(body);
  ASSERT_THAT(created, HasStatus(200));
  EXPECT_THAT(text_of(created.json().at("metadata-location")), EndsWith(".gz.metadata.json"));
  EXPECT_EQ(get(table("tbl")).json().at("metadata"), created.json().at("metadata"));
}

}  // namespace
}  // namespace iceblink::test
