// Creating tables (specification, "createTable"): ids, properties, locations, formats.
#include <filesystem>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class CreationRules : public ChecklistTest {
 protected:
  Value created(const std::string& members) {
    const auto answer = post_text("/ns/tables", R"({"name":"t",)" + members + "}");
    EXPECT_THAT(answer, HasStatus(200)) << members;
    return answer.status == 200 ? answer.json().at("metadata") : Value();
  }
  static std::string columns(const std::string& fields) {
    return R"("schema":{"type":"struct","schema-id":7,"fields":[)" + fields + "]}";
  }
  std::string location_of(const std::string& name) { return text_of(load(name).at("location")); }
};

TEST_F(CreationRules, AssignIdsALevelAtATime) {
  const auto metadata =
      created(columns(R"({"id":50,"name":"s","required":true,"type":{"type":"struct","fields":[
          {"id":51,"name":"x","required":true,"type":"int"},
          {"id":52,"name":"y","required":true,"type":{"type":"list","element-id":53,
            "element":"int","element-required":true}}]}},
        {"id":60,"name":"m","required":false,"type":{"type":"map","key-id":61,"key":"string",
          "value-id":62,"value":{"type":"struct","fields":[
            {"id":63,"name":"z","required":true,"type":"int"}]},"value-required":true}},
        {"id":70,"name":"l","required":false,"type":{"type":"list","element-id":71,
          "element":"long","element-required":false}},
        {"id":4,"name":"last","required":true,"type":"int"})"));
  const auto& fields = current_schema(metadata).at("fields").as_array();
  EXPECT_THAT(ids_of(fields, "id"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(ids_of(fields[0].at("type").at("fields"), "id"), ElementsAre(5, 6));
  EXPECT_EQ(fields[0].at("type").at("fields").as_array()[1].at("type").at("element-id"), 7);
  EXPECT_EQ(fields[1].at("type").at("key-id"), 8);
  EXPECT_EQ(fields[1].at("type").at("value-id"), 9);
  EXPECT_THAT(ids_of(fields[1].at("type").at("value").at("fields"), "id"), ElementsAre(10));
  EXPECT_EQ(fields[2].at("type").at("element-id"), 11);
  EXPECT_EQ(metadata.at("last-column-id"), 11);
  EXPECT_EQ(metadata.at("current-schema-id"), 0);
}

TEST_F(CreationRules, BindSpecAndOrderAnew) {
  const auto metadata = created(columns(R"({"id":9,"name":"a","required":true,"type":"int"},
        {"id":1,"name":"b","required":true,"type":{"type":"struct","fields":[
          {"id":2,"name":"c","required":true,"type":"timestamp"}]}})") +
                                R"(,"partition-spec":{"spec-id":5,"fields":[
          {"source-id":2,"field-id":7,"name":"d","transform":"day"},
          {"source-id":9,"name":"a","transform":"identity"}]},
        "write-order":{"order-id":9,"fields":[{"source-id":9,"transform":"identity",
          "direction":"asc","null-order":"nulls-first"}]})");
  const auto& spec = default_spec(metadata);
  EXPECT_EQ(metadata.at("default-spec-id"), 0);
  EXPECT_THAT(ids_of(spec.at("fields"), "source-id"), ElementsAre(3, 1));
  EXPECT_THAT(ids_of(spec.at("fields"), "field-id"), ElementsAre(1000, 1001));
  EXPECT_EQ(metadata.at("last-partition-id"), 1001);
  EXPECT_EQ(metadata.at("default-sort-order-id"), 1);
  EXPECT_THAT(ids_of(default_order(metadata).at("fields"), "source-id"), ElementsAre(1));
}

TEST_F(CreationRules, HaveIdentifierFieldsUnderTheirNewIds) {
  const auto metadata = created(R"("schema":{"type":"struct","identifier-field-ids":[9],"fields":[
        {"id":5,"name":"a","required":false,"type":"int"},
        {"id":9,"name":"b","required":true,"type":"int"}]})");
  EXPECT_EQ(current_schema(metadata).at("identifier-field-ids"), json_of("[2]"));
}

TEST_F(CreationRules, KeepReservedPropertiesOutOfTheProperties) {
  const auto metadata =
      created(columns("") + R"(,"properties":{"format-version":"1","uuid":"x","snapshot-count":"9",
        "current-snapshot-id":"7","current-snapshot-summary":"{}",
        "current-snapshot-timestamp-ms":"1","current-schema":"{}","default-partition-spec":"[]",
        "default-sort-order":"[]","mine":"yes"})");
  EXPECT_EQ(metadata.at("properties"), json_of(R"({"mine":"yes"})"));
  EXPECT_EQ(metadata.at("format-version"), 1);
  update(table("t"), R"({"action":"set-properties","updates":{"uuid":"y","mine":"no"}})");
  EXPECT_EQ(load("t").at("properties"), json_of(R"({"mine":"no"})"));
}

TEST_F(CreationRules, MakeTheFormatThatIsAskedFor) {
  for (const auto& [version, has_row_ids] : {std::pair(1, false), {2, false}, {3, true}}) {
    const std::string name = "v" + std::to_string(version);
    create_rich_table(name, version);
    const auto metadata = load(name);
    EXPECT_EQ(metadata.at("format-version"), version);
    EXPECT_EQ(metadata.as_object().contains("next-row-id"), has_row_ids) << version;
    EXPECT_EQ(metadata.as_object().contains("last-sequence-number"), version > 1) << version;
  }
  EXPECT_EQ(load("v3").at("next-row-id"), 20);
}

TEST_F(CreationRules, TakeAVariantFromFormat3On) {
  const std::string fields = columns(R"({"id":1,"name":"v","required":false,"type":"variant"})");
  EXPECT_THAT(post_text("/ns/tables", R"({"name":"t",)" + fields + "}"), HasStatus(400));
  const auto metadata = created(fields + R"(,"properties":{"format-version":"3"})");
  EXPECT_EQ(current_schema(metadata).at("fields").as_array()[0].at("type"), "variant");
}

// ---- Locations.

TEST_F(CreationRules, HonourALocationWithoutItsTrailingSlash) {
  for (const auto& [name, tail] : {std::pair("a", ""), {"b", "/"}, {"c", "///"}}) {
    const std::string wanted = warehouse() + "/own/" + name;
    Object body = named(name);
    body["location"] = wanted + tail;
    const auto answer = create(body);
    ASSERT_THAT(answer, HasStatus(200));
    EXPECT_EQ(text_of(answer.json().at("metadata").at("location")), wanted);
    EXPECT_THAT(text_of(answer.json().at("metadata-location")), StartsWith(wanted + "/metadata/"));
  }
}

TEST_F(CreationRules, GiveARecreatedTableADirectoryOfItsOwn) {
  create_table("t");
  const auto first = location_of("t");
  EXPECT_THAT(del(table("t")), HasStatus(204));
  create_table("t");
  EXPECT_NE(location_of("t"), first);
  EXPECT_THAT(rename("tables", in_ns("t"), in_ns("u")), HasStatus(204));
  const auto second = location_of("u");
  create_table("t");
  EXPECT_NE(location_of("t"), second);
  EXPECT_NE(location_of("t"), first);
}

TEST_F(CreationRules, WriteNothingOutsideOfTheWriteRoots) {
  const auto before = state();
  const std::string outside = ::testing::TempDir() + "/checklist-outside";
  for (const std::string& location :
       {outside, "file://" + outside, warehouse() + "/../../checklist-outside",
        warehouse() + "/x/../../../checklist-outside", std::string("/dev/shm")}) {
    Object body = named("t");
    body["location"] = location;
    const auto refused = create(body);
    EXPECT_THAT(refused, HasStatus(403)) << location;
    expect_error_body(refused);
    EXPECT_THAT(refused.error_message(), HasSubstr(location));
  }
  for (const std::string& location : {std::string("s3://b/t"), "file://elsewhere" + warehouse()}) {
    Object body = named("t");
    body["location"] = location;
    EXPECT_THAT(create(body), IsError(406, "UnsupportedOperationException", HasSubstr(location)));
  }
  EXPECT_EQ(state(), before);
  EXPECT_FALSE(std::filesystem::exists(outside));
  EXPECT_THAT(names_of("/ns/tables"), IsEmpty());
}

TEST_F(CreationRules, WriteNothingThroughALinkOutOfTheWriteRoots) {
  const auto before = state();
  const std::string outside = ::testing::TempDir() + "/checklist-link-" +
                              scratch().path().substr(scratch().path().rfind('.') + 1);
  std::filesystem::create_directories(outside);
  std::filesystem::create_directories(warehouse());
  std::filesystem::create_directory_symlink(outside, warehouse() + "/link");
  Object body = named("t");
  body["location"] = warehouse() + "/link/t";
  EXPECT_THAT(create(body), HasStatus(403));
  EXPECT_TRUE(std::filesystem::is_empty(outside));
  EXPECT_EQ(state().generation, before.generation);
  std::filesystem::remove(warehouse() + "/link");
  std::filesystem::remove(outside);
}

TEST_F(CreationRules, AreNotNeededToReadTablesElsewhereWhichCannotBeCommittedTo) {
  // Its location is file:///w/t.
  const auto path = write_metadata("elsewhere.json", table_metadata());
  register_table("ns", "t", path);
  const auto before = state();
  EXPECT_THAT(update(table("t"), ""), HasStatus(200));
  EXPECT_THAT(update(table("t"), R"({"action":"set-properties","updates":{"a":"b"}})"),
              IsError(403, "ForbiddenException", HasSubstr("file:///w/t")));
  EXPECT_EQ(state(), before);
  EXPECT_EQ(metadata_location(table("t")), path);
}

TEST_F(CreationRules, LeaveTheTableWhereALaterPropertyLeadsOutside) {
  create_table("t");
  const auto before = state();
  EXPECT_THAT(update(table("t"), R"({"action":"set-properties","updates":{
                  "write.metadata.path":"/etc/meta"}})"),
              IsError(403, "ForbiddenException", HasSubstr("/etc/meta")));
  EXPECT_EQ(state(), before);
  EXPECT_THAT(update(table("t"), R"({"action":"set-properties","updates":{"a":"b"}})"),
              HasStatus(200));
}

TEST_F(CreationRules, PutMetadataWhereAPropertySays) {
  const std::string path = warehouse() + "/meta";
  Object body = named("t");
  body["properties"] = Object{{"write.metadata.path", path + "/"}};
  const auto answer = create(body);
  ASSERT_THAT(answer, HasStatus(200));
  EXPECT_THAT(text_of(answer.json().at("metadata-location")), StartsWith(path + "/00000-"));
}

// ---- Staged creations.

TEST_F(CreationRules, WriteNothingOfWhatIsStaged) {
  const auto before = state();
  Object body = named("t");
  body["stage-create"] = true;
  const auto staged = create(body);
  ASSERT_THAT(staged, HasStatus(200));
  EXPECT_EQ(state(), before);
  EXPECT_THAT(head(table("t")), HasStatus(404));
  // Anybody else may take the name meanwhile.
  create_table("t");
  EXPECT_THAT(create(body), IsError(409, "AlreadyExistsException", HasSubstr("ns.t")));
  create_sql_view("v");
  body["name"] = "v";
  EXPECT_THAT(create(body), IsError(409, "AlreadyExistsException", HasSubstr("ns.v")));
  EXPECT_THAT(
      commit("t", creation(staged.json().at("metadata"))),
      IsError(409, "CommitFailedException", HasSubstr("Requirement failed: table already exists")));
}

TEST_F(CreationRules, HaveNoOtherRequirementWhereATableIsCommittedAnew) {
  const auto staged = stage(named("t"));
  auto commit_of = creation(staged);
  commit_of.requirements.push_back(assert_current_schema_id(0));
  EXPECT_THAT(commit("t", commit_of),
              IsError(400, "IllegalArgumentException", HasSubstr("Invalid create requirements")));
  EXPECT_THAT(files(), IsEmpty());
  EXPECT_THAT(commit("t", creation(staged)), HasStatus(200));
}

TEST_F(CreationRules, NeedASchemaWhereATableIsCommittedAnew) {
  const auto refused =
      post_text(table("t"),
                R"({"requirements":[{"type":"assert-create"}],"updates":[{"action":"assign-uuid",
        "uuid":"11111111-1111-4111-8111-111111111111"}]})");
  EXPECT_THAT(refused, IsError(400, "IllegalArgumentException", HasSubstr("schema")));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(CreationRules, OfACommitStayInsideOfTheWriteRoots) {
  const auto staged = stage(named("t"));
  auto commit_of = creation(staged);
  commit_of.updates.push_back(set_location("/etc/t"));
  EXPECT_THAT(commit("t", commit_of), HasStatus(403));
  EXPECT_THAT(head(table("t")), HasStatus(404));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(CreationRules, NeedTheNamespace) {
  EXPECT_THAT(
      post("/none/tables", named("t")),
      IsError(404, "NoSuchNamespaceException", std::string("Namespace does not exist: none")));
  EXPECT_THAT(
      post("/none/tables/t", Commit{.requirements = {assert_create()}, .updates = {}}.body()),
      HasStatus(404));
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(CreationRules, IgnoreMembersThatNobodyKnows) {
  const auto metadata = created(columns("") + R"(,"x-new":{"a":[1,{}]},"properties":null,
      "partition-spec":null,"write-order":null,"stage-create":null,"location":null)");
  EXPECT_THAT(text_of(metadata.at("location")), StartsWith(warehouse() + "/ns/t-"));
}

}  // namespace
}  // namespace iceblink::test
