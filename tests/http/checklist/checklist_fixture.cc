#include "tests/http/checklist/checklist_fixture.h"

#include <ostream>

namespace iceblink::test {

void PrintTo(const CatalogState& state, std::ostream* out) {
  *out << "generation " << state.generation << ", " << state.files.size() << " files";
}

CatalogState ChecklistTest::state() {
  return {daemon().generation(), files()};
}

std::string snapshot_text(std::int64_t id, std::int64_t sequence_number, const std::string& more) {
  return R"({"snapshot-id":)" + std::to_string(id) + R"(,"sequence-number":)" +
         std::to_string(sequence_number) +
         R"(,"timestamp-ms":4000000000000,"manifest-list":"/none/)" + std::to_string(id) +
         R"(.avro","summary":{"operation":"append"},"schema-id":0)" + more + "}";
}

void ChecklistTest::create_rich_table(const std::string& name, int format_version) {
  const auto created =
      post_text("/ns/tables", R"({"name":")" + name + R"(","schema":{"type":"struct","fields":[
        {"id":1,"name":"id","required":true,"type":"long"},
        {"id":2,"name":"ts","required":false,"type":"timestamp"},
        {"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[
          {"id":4,"name":"x","required":true,"type":"int"}]}}]},
        "properties":{"a":"b","format-version":")" +
                                  std::to_string(format_version) + R"("}})");
  ASSERT_THAT(created, HasStatus(200));
  const std::string first_rows = R"(,"first-row-id":0,"added-rows":10)";
  const std::string second_rows = R"(,"parent-snapshot-id":7,"first-row-id":10,"added-rows":10)";
  const auto updated =
      update(table(name),
             R"({"action":"add-schema","schema":{"type":"struct","schema-id":1,"fields":[
        {"id":1,"name":"id","required":true,"type":"long"},
        {"id":2,"name":"ts","required":false,"type":"timestamp"},
        {"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[
          {"id":4,"name":"x","required":true,"type":"int"}]}},
        {"id":5,"name":"note","required":false,"type":"string"}]}},
      {"action":"set-current-schema","schema-id":-1},
      {"action":"add-spec","spec":{"fields":[{"source-id":2,"name":"d","transform":"day"}]}},
      {"action":"set-default-spec","spec-id":-1},
      {"action":"add-sort-order","sort-order":{"order-id":1,"fields":[{"source-id":1,
        "transform":"identity","direction":"asc","null-order":"nulls-first"}]}},
      {"action":"set-default-sort-order","sort-order-id":-1},
      {"action":"add-snapshot","snapshot":)" +
                 snapshot_text(7, 1, first_rows) + R"(},
      {"action":"add-snapshot","snapshot":)" +
                 snapshot_text(8, 2, second_rows) + R"(},
      {"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":8},
      {"action":"set-snapshot-ref","ref-name":"v1","type":"tag","snapshot-id":7},
      {"action":"set-snapshot-ref","ref-name":"b","type":"branch","snapshot-id":7})");
  ASSERT_THAT(updated, HasStatus(200));
}

void ChecklistTest::create_rich_view(const std::string& name) {
  const auto created = post_text("/ns/views", R"({"name":")" + name + R"(","properties":{"a":"b"},
      "schema":{"type":"struct","schema-id":0,"fields":[
        {"id":1,"name":"x","required":false,"type":"long"}]},
      "view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1700000000000,"summary":{},
        "default-namespace":["ns"],"representations":[
          {"type":"sql","sql":"SELECT 1 x","dialect":"spark"},
          {"type":"sql","sql":"SELECT 1 AS x","dialect":"trino"}]}})");
  ASSERT_THAT(created, HasStatus(200));
  const auto updated = update(view(name), R"({"action":"add-schema","schema":{"type":"struct",
        "schema-id":1,"fields":[{"id":1,"name":"y","required":false,"type":"int"}]}},
      {"action":"add-view-version","view-version":{"version-id":2,"schema-id":-1,
        "timestamp-ms":1700000000001,"summary":{},"default-namespace":["ns"],"representations":[
          {"type":"sql","sql":"SELECT 2 y","dialect":"spark"},
          {"type":"sql","sql":"SELECT 2 AS y","dialect":"trino"}]}},
      {"action":"set-current-view-version","view-version-id":-1})");
  ASSERT_THAT(updated, HasStatus(200));
}

void expect_error_body(const HttpResponse& answer) {
  ASSERT_GE(answer.status, 400) << answer.body;
  EXPECT_EQ(answer.header("content-type"), "application/json");
  const auto body = answer.json();
  ASSERT_TRUE(body.is_object() && body.as_object().contains("error")) << answer.body;
  const auto& error = body.at("error");
  ASSERT_TRUE(error.is_object()) << answer.body;
  ASSERT_TRUE(error.at("message").is_string() && error.at("type").is_string()) << answer.body;
  EXPECT_FALSE(error.at("message").as_string().empty()) << answer.body;
  EXPECT_FALSE(error.at("type").as_string().empty()) << answer.body;
  EXPECT_EQ(error.at("code"), answer.status) << answer.body;
}

}  // namespace iceblink::test
