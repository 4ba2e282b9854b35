// Creations, registrations, renames and commits to views that are wrong: each is refused, says what
// is wrong, and leaves nothing behind.
#include <boost/json/serialize.hpp>
#include <string_view>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

struct BadRequest {
  std::string_view text;  // members of the body, or elements of its updates
  std::string_view says;
  int status = 400;
};

/// With `"name":"new"` and a good schema, unless they are said here.
constexpr BadRequest kBadTables[] = {
    {R"("schema":7)", "schema"},
    {R"("schema":{"type":"struct"})", "schema.fields"},
    {R"("schema":{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"text"}]})",
     "schema.fields[0].type"},
    {R"("schema":{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"int"},
        {"id":1,"name":"b","required":false,"type":"int"}]})",
     "schema.fields"},
    {R"("schema":{"type":"struct","fields":[{"id":1,"name":"a","required":false,"type":"int"},
        {"id":2,"name":"a","required":false,"type":"int"}]})",
     "a"},
    {R"("schema":{"type":"struct","fields":[
        {"id":1,"name":"va","required":false,"type":"variant"}]})",
     "variant is not supported until v3"},
    {R"("name":"")", "name"},
    {R"("name":7)", "name"},
    {R"("name":null)", "name"},
    {"\"name\":\"a\\u001fb\"", "name"},
    {"\"name\":\"a\\u0000b\"", "name"},
    {R"("location":7)", "location"},
    {R"("location":"")", "location"},
    {R"("location":"relative/place")", "relative/place"},
    {R"("location":"/etc/new")", "/etc/new", 403},
    {R"("location":"file:///etc/new")", "file:///etc/new", 403},
    {R"("location":"s3://bucket/new")", "s3://bucket/new", 406},
    {R"("partition-spec":{"fields":[{"source-id":99,"name":"p","transform":"identity"}]})", "99"},
    {R"("partition-spec":{"fields":[{"source-id":1,"name":"p","transform":"bucket[0]"}]})",
     "bucket[0]"},
    {R"("partition-spec":{"fields":[{"source-id":1,"name":"p"}]})",
     "partition-spec.fields[0].transform"},
    {R"("partition-spec":[])", "partition-spec"},
    {R"("write-order":{"fields":[{"source-id":99,"transform":"identity","direction":"asc",
        "null-order":"nulls-first"}]})",
     "99"},
    {R"("write-order":{"fields":[{"source-id":1,"transform":"identity","direction":"asc"}]})",
     "write-order.fields[0].null-order"},
    {R"("stage-create":"yes")", "stage-create"},
    {R"("properties":["a"])", "properties"},
    {R"("properties":{"a":null})", "properties.a"},
    {R"("properties":{"format-version":"0"})", "v0"},
    {R"("properties":{"format-version":"4"})", "v4"},
    {R"("properties":{"format-version":"two"})", "format-version"},
    {R"("properties":{"write.metadata.path":"/etc/new"})", "/etc/new", 403},
    {R"("properties":{"write.metadata.previous-versions-max":"x"})",
     "write.metadata.previous-versions-max"},
};

constexpr BadRequest kBadViews[] = {
    {R"("schema":null)", "schema"},
    {R"("view-version":null)", "view-version"},
    {R"("view-version":{})", "view-version."},
    {R"("name":"")", "name"},
    {R"("location":"/etc/v")", "/etc/v", 403},
    {R"("location":"")", "location"},
    {R"("properties":{"version.history.num-entries":"0"})", "version.history.num-entries"},
    {R"("view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},
        "default-namespace":["ns"],"representations":[]})",
     "representations"},
    {R"("view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},
        "representations":[{"type":"sql","sql":"S","dialect":"d"}]})",
     "view-version.default-namespace"},
    {R"("view-version":{"version-id":1,"schema-id":0,"summary":{},"default-namespace":["ns"],
        "representations":[{"type":"sql","sql":"S","dialect":"d"}]})",
     "view-version.timestamp-ms"},
    {R"("view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"default-namespace":["ns"],
        "representations":[{"type":"sql","sql":"S","dialect":"d"}]})",
     "view-version.summary"},
    {R"("view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},
        "default-namespace":["ns"],"representations":[{"type":"sql","dialect":"d"}]})",
     "view-version.representations[0].sql"},
    {R"("view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},
        "default-namespace":["ns"],"representations":[{"type":"sql","sql":"S"}]})",
     "view-version.representations[0].dialect"},
    {R"("view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},
        "default-namespace":"ns","representations":[{"type":"sql","sql":"S","dialect":"d"}]})",
     "view-version.default-namespace"},
};

/// Elements of `updates` to the view of create_rich_view.
constexpr BadRequest kBadViewUpdates[] = {
    {R"({"action":"add-snapshot","snapshot":{}})", "add-snapshot"},
    {R"({"action":"set-current-schema","schema-id":0})", "set-current-schema"},
    {R"({"action":"set-snapshot-ref","ref-name":"main"})", "set-snapshot-ref"},
    {R"({"action":"add-view-version"})", "updates[0].view-version"},
    {R"({"action":"add-view-version","view-version":{"version-id":3}})",
     "updates[0].view-version."},
    {R"({"action":"add-view-version","view-version":{"version-id":3,"schema-id":99,
        "timestamp-ms":1,"summary":{},"default-namespace":["ns"],
        "representations":[{"type":"sql","sql":"S","dialect":"spark"}]}})",
     "unknown schema: 99"},
    {R"({"action":"add-view-version","view-version":{"version-id":3,"schema-id":-1,
        "timestamp-ms":1,"summary":{},"default-namespace":["ns"],
        "representations":[{"type":"sql","sql":"S","dialect":"spark"}]}})",
     "no schema has been added"},
    {R"({"action":"add-view-version","view-version":{"version-id":3,"schema-id":0,
        "timestamp-ms":1,"summary":{},"default-namespace":["ns"],"representations":[
          {"type":"sql","sql":"S","dialect":"spark"},
          {"type":"sql","sql":"T","dialect":"SPARK"}]}})",
     "multiple queries for dialect"},
    {R"({"action":"add-view-version","view-version":{"version-id":3,"schema-id":0,
        "timestamp-ms":1,"summary":{},"default-namespace":["ns"],"representations":[
          {"type":"sql","sql":"S","dialect":"spark"}]}},
        {"action":"set-current-view-version","view-version-id":-1})",
     "loss of view dialects"},
    {R"({"action":"set-current-view-version"})", "updates[0].view-version-id"},
    {R"({"action":"set-current-view-version","view-version-id":99})", "99"},
    {R"({"action":"set-current-view-version","view-version-id":-1})", "has been added"},
    {R"({"action":"upgrade-format-version","format-version":2})", "2"},
    {R"({"action":"upgrade-format-version","format-version":0})", "v0"},
    {R"({"action":"assign-uuid","uuid":"11111111-1111-4111-8111-111111111111"})", "uuid"},
    {R"({"action":"set-location","location":""})", "location"},
    {R"({"action":"set-location","location":"/etc/v"})", "/etc/v", 403},
    {R"({"action":"set-properties","updates":{"version.history.num-entries":"many"}})",
     "version.history.num-entries"},
    {R"({"action":"set-properties","updates":{"done":"yes"}},{"action":"remove-properties"})",
     "updates[1].removals"},
};

/// Bodies of registrations.
constexpr BadRequest kBadRegistrations[] = {
    {R"({})", "name"},
    {R"({"name":"r"})", "metadata-location"},
    {R"({"name":"","metadata-location":"/x"})", "name"},
    {R"({"name":"r","metadata-location":7})", "metadata-location"},
    {R"({"name":"r","metadata-location":"/none/x.json"})", "/none/x.json", 404},
    {R"([])", "object"},
};

/// Bodies of renames.
constexpr BadRequest kBadRenames[] = {
    {R"({})", "source"},
    {R"({"source":{"namespace":["ns"],"name":"t"}})", "destination"},
    {R"({"source":"ns.t","destination":{"namespace":["ns"],"name":"u"}})", "source"},
    {R"({"source":{"namespace":["ns"],"name":"t"},"destination":{"namespace":["ns"]}})", "name"},
    {R"({"source":{"namespace":["ns"],"name":"t"},"destination":{"namespace":[],"name":"u"}})",
     "namespace"},
    {R"({"source":{"namespace":["ns"],"name":"t"},"destination":{"namespace":[""],"name":"u"}})",
     "namespace"},
    {R"({"source":{"namespace":["ns"],"name":"t"},"destination":{"namespace":["ns"],"name":""}})",
     "name"},
};

class BadCreations : public ChecklistTest {
 protected:
  void SetUp() override {
    ChecklistTest::SetUp();
    create_rich_table("t");
    create_rich_view("v");
    before_ = state();
  }
  void expect_refused(const HttpResponse& answer, const BadRequest& bad) {
    SCOPED_TRACE(bad.text);
    EXPECT_THAT(answer, HasStatus(bad.status));
    if (answer.status < 400) return;
    expect_error_body(answer);
    EXPECT_THAT(answer.error_message(), HasSubstr(std::string(bad.says)));
    const auto after = state();
    EXPECT_EQ(after, before_);
    before_ = after;  // said once
  }
  /// A body of members, completed by those of `defaults` that it has not.
  static std::string completed(std::string_view members, const Object& defaults) {
    Object body = json_of("{" + std::string(members) + "}").as_object();
    for (const auto& [key, value] : defaults) {
      if (!body.contains(key)) body[key] = value;
    }
    return boost::json::serialize(body);
  }

 private:
  CatalogState before_;
};

TEST_F(BadCreations, OfTablesAreRefused) {
  const Object defaults = named("new", id_and_data());
  for (const auto& bad : kBadTables) {
    expect_refused(post_text("/ns/tables", completed(bad.text, defaults)), bad);
  }
  EXPECT_THAT(names_of("/ns/tables"), ::testing::ElementsAre("t"));
}

TEST_F(BadCreations, OfTablesAreRefusedWhereTheyAreStaged) {
  Object defaults = named("new", id_and_data());
  defaults["stage-create"] = true;
  for (const auto& bad : kBadTables) {
    // Nothing is written, so no place is refused.
    const bool is_place = bad.status != 400 || bad.says == "relative/place";
    if (is_place || bad.text.starts_with(R"("stage-create")")) continue;
    expect_refused(post_text("/ns/tables", completed(bad.text, defaults)), bad);
  }
}

TEST_F(BadCreations, OfViewsAreRefused) {
  const Object defaults = view_creation("new", Array{sql_of("spark", "SELECT 1")});
  for (const auto& bad : kBadViews) {
    expect_refused(post_text("/ns/views", completed(bad.text, defaults)), bad);
  }
  EXPECT_THAT(names_of("/ns/views"), ::testing::ElementsAre("v"));
}

TEST_F(BadCreations, AreCommitsToViews) {
  const auto loaded = get(view("v")).body;
  for (const auto& bad : kBadViewUpdates) {
    expect_refused(update(view("v"), std::string(bad.text)), bad);
  }
  for (const std::string_view requirement :
       {R"({"type":"assert-create"})", R"({"type":"assert-table-uuid","uuid":"x"})",
        R"({"type":"assert-current-schema-id","current-schema-id":0})"}) {
    const auto type = text_of(json_of(requirement).at("type"));
    expect_refused(require(view("v"), std::string(requirement)), {requirement, type});
  }
  EXPECT_EQ(get(view("v")).body, loaded);
}

TEST_F(BadCreations, AreRegistrations) {
  for (const auto& bad : kBadRegistrations) {
    expect_refused(post_text("/ns/register", std::string(bad.text)), bad);
    expect_refused(post_text("/ns/register-view", std::string(bad.text)), bad);
  }
  const BadRequest overwrite{R"({"name":"r","metadata-location":"/none/x.json","overwrite":"yes"})",
                             "overwrite"};
  expect_refused(post_text("/ns/register", std::string(overwrite.text)), overwrite);
  EXPECT_THAT(post_text("/none/register", R"({"name":"r","metadata-location":"/none/x"})"),
              IsError(404, "NoSuchNamespaceException", HasSubstr("none")));
}

TEST_F(BadCreations, AreRenames) {
  for (const auto& bad : kBadRenames) {
    for (const auto& kind : {"tables", "views"}) {
      expect_refused(send({.verb = "POST",
                           .target = std::string("/v1/") + kind + "/rename",
                           .body = std::string(bad.text)}),
                     bad);
    }
  }
}

TEST_F(BadCreations, OfNamespacesAreRefused) {
  for (const auto& bad : {
           BadRequest{R"({})", "namespace"},
           BadRequest{R"({"namespace":[]})", "namespace"},
           BadRequest{R"({"namespace":[""]})", "namespace"},
           BadRequest{R"({"namespace":["a","","b"]})", "namespace"},
           BadRequest{R"({"namespace":"a"})", "namespace"},
           BadRequest{R"({"namespace":[7]})", "namespace"},
           BadRequest{R"({"namespace":["n"],"properties":{"a":7}})", "properties.a"},
           BadRequest{R"({"namespace":["n"],"properties":[]})", "properties"},
       }) {
    expect_refused(post_text("", std::string(bad.text)), bad);
  }
  for (const auto& bad : {
           BadRequest{R"({"removals":"a"})", "removals"},
           BadRequest{R"({"updates":{"a":7}})", "updates.a"},
           BadRequest{R"({"removals":["a"],"updates":{"a":"b"}})", "a", 422},
       }) {
    expect_refused(post_text("/ns/properties", std::string(bad.text)), bad);
  }
}

}  // namespace
}  // namespace iceblink::test
