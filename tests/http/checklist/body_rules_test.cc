// Bodies: numbers, encodings, compression, properties (RFC 8259; specification, "LoadTableResult").
#include <libdeflate.h>

#include <filesystem>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string inflated(const std::string& compressed, std::size_t bytes_max) {
  libdeflate_decompressor* const inflater = libdeflate_alloc_decompressor();
  std::string out(bytes_max, '\0');
  std::size_t bytes = 0;
  const auto result = libdeflate_gzip_decompress(inflater, compressed.data(), compressed.size(),
                                                 out.data(), out.size(), &bytes);
  EXPECT_EQ(result, LIBDEFLATE_SUCCESS);
  libdeflate_free_decompressor(inflater);
  out.resize(bytes);
  return out;
}

class BodyRules : public ChecklistTest {
 protected:
  HttpResponse load_with(const std::string& header) {
    return send({.target = "/v1/namespaces/ns/tables/t", .headers = {header}});
  }
  /// A body under a content type of its own.
  HttpResponse post_as(const std::string& content_type, const std::string& body,
                       const std::string& target = "/v1/namespaces") {
    auto client = connect();
    client.send("POST " + target + " HTTP/1.1\r\nHost: localhost\r\n" +
                (content_type.empty() ? "" : "Content-Type: " + content_type + "\r\n") +
                "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return client.receive("POST").value_or(HttpResponse{});
  }
};

// ---- Compression.

TEST_F(BodyRules, AreCompressedForWhoTakesIt) {
  create_rich_table("t");
  const auto plain = get(table("t"));
  EXPECT_FALSE(plain.has_header("content-encoding"));
  for (const auto& accepted :
       {"gzip", "GZIP", "deflate, gzip;q=0.5", "*", "gzip;q=1.0, br", "identity;q=0.1, gzip"}) {
    auto answer = connect().request({.target = "/v1/namespaces/ns/tables/t",
                                     .headers = {std::string("Accept-Encoding: ") + accepted}});
    EXPECT_EQ(answer.header("content-encoding"), "gzip") << accepted;
    EXPECT_LT(answer.body.size(), plain.body.size());
    EXPECT_EQ(inflated(answer.body, plain.body.size() + 100), plain.body) << accepted;
    EXPECT_THAT(answer.header("vary"), HasSubstr("ccept-")) << accepted;
    EXPECT_EQ(answer.header("etag"), plain.header("etag"));
  }
  for (const auto& accepted :
       {"identity", "gzip;q=0", "gzip;q=0.000", "*;q=0", "br", "", "gzip;q=0, *;q=1"}) {
    const auto answer = load_with(std::string("Accept-Encoding: ") + accepted);
    EXPECT_FALSE(answer.has_header("content-encoding")) << accepted;
    EXPECT_EQ(answer.body, plain.body) << accepted;
  }
}

TEST_F(BodyRules, OfCommitsAreCompressedToo) {
  create_rich_table("t");
  auto answer = connect().request({.verb = "POST",
                                   .target = "/v1/namespaces/ns/tables/t",
                                   .body = R"({"requirements":[],"updates":[]})",
                                   .headers = {"Accept-Encoding: gzip"}});
  ASSERT_EQ(answer.header("content-encoding"), "gzip");
  const auto body = json_of(inflated(answer.body, 1 << 20));
  EXPECT_EQ(body.at("metadata"), load("t"));
}

// ---- Numbers.

TEST_F(BodyRules, KeepWholeNumbersExact) {
  create_rich_table("t");
  for (const auto& number : {"9007199254740993", "9223372036854775807", "-9007199254740993"}) {
    const auto answer =
        update(table("t"), R"({"action":"set-statistics","statistics":{"snapshot-id":)" +
                               std::string(number) +
                               R"(,"statistics-path":"/s","file-size-in-bytes":9223372036854775807,
          "file-footer-size-in-bytes":1,"blob-metadata":[]}})");
    ASSERT_THAT(answer, HasStatus(200)) << number;
    EXPECT_THAT(answer.body, HasSubstr(R"("snapshot-id":)" + std::string(number)));
    EXPECT_THAT(get(table("t")).body, HasSubstr(R"("snapshot-id":)" + std::string(number)));
  }
  EXPECT_THAT(update(table("t"), R"({"action":"add-snapshot","snapshot":)" +
                                     snapshot_text(9007199254740993, 3) + "}"),
              HasStatus(200));
  EXPECT_THAT(update(table("t"), R"({"action":"set-snapshot-ref","ref-name":"x","type":"tag",
                                     "snapshot-id":9007199254740992})"),
              HasStatus(400));
  EXPECT_THAT(update(table("t"), R"({"action":"set-snapshot-ref","ref-name":"x","type":"tag",
                                     "snapshot-id":9007199254740993})"),
              HasStatus(200));
  EXPECT_THAT(require(table("t"), R"({"type":"assert-ref-snapshot-id","ref":"x",
                                      "snapshot-id":9007199254740992})"),
              HasStatus(409));
}

TEST_F(BodyRules, RefuseNumbersThatAreNotWhole) {
  create_rich_table("t");
  for (const auto& number : {"8.0", "8e0", "\"8\"", "9223372036854775808", "8.5", "true", "08"}) {
    EXPECT_THAT(update(table("t"), R"({"action":"set-snapshot-ref","ref-name":"x","type":"tag",
                                       "snapshot-id":)" +
                                       std::string(number) + "}"),
                HasStatus(400))
        << number;
  }
}

// ---- Text.

TEST_F(BodyRules, RefuseWhatIsNotUtf8) {
  const auto before = state();
  create_namespace(R"(["other"])");
  for (const std::string& bytes :
       {std::string("\xff"), std::string("\xc3\x28"), std::string("\xed\xa0\x80"),
        std::string("\xc0\xaf"), std::string("\xf4\x90\x80\x80")}) {
    for (const auto& [target, body] : std::vector<std::pair<std::string, std::string>>{
             {"", R"({"namespace":["x)" + bytes + R"("]})"},
             {"", R"({"namespace":["x"],"properties":{"a":")" + bytes + R"("}})"},
             {"/ns/properties", R"({"updates":{")" + bytes + R"(":"a"}})"},
             {"/ns/tables",
              R"({"name":"x)" + bytes + R"(","schema":{"type":"struct","fields":[]}})"},
             {"/ns/tables", R"({"name":"x","schema":{"type":"struct","fields":[
                {"id":1,"name":")" +
                                bytes + R"(","required":true,"type":"int"}]}})"},
             {"/ns/register", R"({"name":"x","metadata-location":"/)" + bytes + R"("})"}}) {
      const auto refused = post_text(target, body);
      EXPECT_THAT(refused, HasStatus(400)) << target << body;
      expect_error_body(refused);
    }
  }
  EXPECT_EQ(state().files, before.files);
  EXPECT_THAT(namespaces(), ::testing::UnorderedElementsAre("ns", "other"));
}

TEST_F(BodyRules, AreUtf8WhateverTheCharsetSays) {
  int number = 0;
  for (const auto& type : {"application/json", "application/json; charset=utf-8",
                           "application/json;charset=latin1", "APPLICATION/JSON", "text/plain",
                           "application/octet-stream", "application/x-www-form-urlencoded", ""}) {
    const auto name = "é" + std::to_string(++number);
    const auto answer = post_as(type, R"({"namespace":[")" + name + R"("]})");
    ASSERT_THAT(answer, HasStatus(200)) << type;
    EXPECT_EQ(text_of(answer.json().at("namespace").as_array()[0]), name) << type;
  }
}

TEST_F(BodyRules, MayBeginWithAByteOrderMark) {
  const auto location = write_metadata("r.json", table_metadata());
  for (const auto& [target, body] : std::vector<std::pair<std::string, std::string>>{
           {"/v1/namespaces", R"({"namespace":["n"]})"},
           {"/v1/namespaces/n/properties", R"({"updates":{"a":"b"}})"},
           {"/v1/namespaces/ns/tables", R"({"name":"t","schema":{"type":"struct","fields":[]}})"},
           {"/v1/namespaces/ns/tables/t", R"({"requirements":[],"updates":[]})"},
           {"/v1/namespaces/ns/tables/t/metrics", R"({"report-type":"scan-report"})"},
           {"/v1/namespaces/ns/register",
            R"({"name":"r","metadata-location":")" + location + "\"}"},
           {"/v1/tables/rename",
            R"({"source":{"namespace":["ns"],"name":"t"},
                "destination":{"namespace":["ns"],"name":"u"}})"},
           {"/v1/transactions/commit",
            R"({"table-changes":[{"identifier":{"namespace":["ns"],"name":"u"},
                "requirements":[],"updates":[]}]})"}}) {
    const auto answer = send({.verb = "POST", .target = target, .body = "\xef\xbb\xbf" + body});
    EXPECT_LT(answer.status, 300) << target << " " << answer.body;
  }
}

TEST_F(BodyRules, HaveTheSameValuesHoweverTheyAreSpelled) {
  EXPECT_THAT(post_text("/ns/tables",
                        R"(  { "na\u006de" : "t\u00e9\ud83e\uddca" , "schema" :
        {"type":"struct","fields":[{"id":1,"name":"\u0061","required":true,"type":"int"}]} }  )"),
              HasStatus(200));
  EXPECT_THAT(names_of("/ns/tables"), ElementsAre("té🧊"));
}

// Half a surrogate is no character: parsers that are strict would refuse the file, and the table
// with it.
TEST_F(BodyRules, NeverBecomeHalfASurrogate) {
  const std::string half = R"(\ud800)";
  const std::string column = R"({"id":1,"name":"c","required":false,"type":"string")";
  const std::string view_head =
      R"({"name":"v","schema":{"type":"struct","schema-id":0,"fields":[]},"properties":{},
        "view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},
        "default-namespace":["ns"],"representations":[)";
  const auto table_of = [](const std::string& fields, const std::string& properties) {
    return R"({"name":"t","schema":{"type":"struct","fields":[)" + fields +
           R"(]},"properties":{"format-version":"3")" + properties + "}}";
  };
  for (const auto& [kind, body] : std::vector<std::pair<std::string, std::string>>{
           {"tables", table_of("", R"(,"p":")" + half + "\"")},
           {"tables", table_of("", ",\"" + half + R"(":"p")")},
           {"tables", table_of(column + R"(,"doc":")" + half + "\"}", "")},
           {"tables", table_of(column + R"(,"write-default":")" + half + "\"}", "")},
           {"tables",
            table_of(R"({"id":1,"name":")" + half + R"(","required":false,"type":"int"})", "")},
           {"views", view_head + R"({"type":"sql","sql":")" + half + R"(","dialect":"spark"}]}})"},
           {"views", view_head + R"({"type":")" + half + R"(","sql":"S","dialect":"spark"}]}})"},
           {"views", view_head + R"({"type":"plan","plan":[")" + half + R"("]}]}})"}}) {
    SCOPED_TRACE(body);
    const auto answer = connect().post("/v1/namespaces/ns/" + kind, body);
    if (answer.status == 400) {
      expect_error_body(answer);
      continue;
    }
    EXPECT_THAT(answer, HasStatus(200));
    EXPECT_THAT(answer.body, ::testing::Not(HasSubstr(half)));
    const auto target = kind == "tables" ? table("t") : view("v");
    EXPECT_THAT(del(target + (kind == "tables" ? "?purgeRequested=true" : "")), HasStatus(204));
  }
  for (const auto& path : files()) std::filesystem::remove(path);
}

TEST_F(BodyRules, AreRefusedWithHalfASurrogateInAnyOfTheirStrings) {
  create_table("t");
  const auto before = state();
  for (const auto& [target, body] : std::vector<std::pair<std::string, std::string>>{
           {"/v1/namespaces", R"({"namespace":["\ud800"]})"},
           {"/v1/namespaces", R"({"namespace":["n"],"properties":{"a":"\udc00x"}})"},
           {"/v1/namespaces/ns/properties", R"({"updates":{"\ud800":"b"}})"},
           {"/v1/namespaces/ns/register", R"({"name":"r","metadata-location":"/\ud800\u0041"})"},
           {"/v1/tables/rename",
            R"({"source":{"namespace":["ns"],"name":"t"},
                "destination":{"namespace":["ns"],"name":"\udfff"}})"},
           {"/v1/namespaces/ns/tables/t",
            R"({"requirements":[],"updates":[{"action":"set-location","location":"/\ud800"}]})"},
           {"/iceblink/v1/batch", R"({"op":"create-namespace","namespace":["\ud800"]})"}}) {
    EXPECT_THAT(send({.verb = "POST", .target = target, .body = body}),
                IsError(400, "IllegalArgumentException", HasSubstr("JSON")))
        << target;
  }
  EXPECT_EQ(state(), before);
}

// ---- What is in them.

TEST_F(BodyRules, HaveTheMetadataLocationAsItWasGiven) {
  const auto path = write_metadata("spelled ü%41.metadata.json", table_metadata());
  for (const auto& [name, location] :
       {std::pair<std::string, std::string>{"a", path},
        {"b", "file://" + scratch().path() + "/spelled%20%C3%BC%2541.metadata.json"},
        {"c", "file:" + scratch().path() + "/spelled%20%c3%bc%2541.metadata.json"},
        {"d", scratch().path() + "/./spelled ü%41.metadata.json"}}) {
    const auto registered = post_text(
        "/ns/register", R"({"name":")" + name + R"(","metadata-location":")" + location + "\"}");
    ASSERT_THAT(registered, HasStatus(200)) << location;
    EXPECT_EQ(text_of(registered.json().at("metadata-location")), location);
    EXPECT_EQ(text_of(get(table(name)).json().at("metadata-location")), location);
    const auto gone = post_text(table(name) + "/unregister", "");
    EXPECT_EQ(text_of(gone.json().at("metadata-location")), location);
  }
}

TEST_F(BodyRules, HaveStringsForConfigAndProperties) {
  create_rich_table("t");
  const auto body = get(table("t")).json();
  for (const auto& [key, value] : body.at("config").as_object()) {
    EXPECT_TRUE(value.is_string()) << key;
  }
  for (const auto& [key, value] : body.at("metadata").at("properties").as_object()) {
    EXPECT_TRUE(value.is_string()) << key;
  }
}

TEST_F(BodyRules, OfUnregisteringAreTheLastMetadata) {
  create_rich_table("t");
  const auto loaded = get(table("t")).json();
  const auto gone = post_text(table("t") + "/unregister", "");
  ASSERT_THAT(gone, HasStatus(200));
  EXPECT_EQ(gone.json().at("metadata"), loaded.at("metadata"));
  EXPECT_EQ(gone.json().at("metadata-location"), loaded.at("metadata-location"));
  EXPECT_THAT(update(table("t"), ""), HasStatus(404));
  EXPECT_TRUE(is_there(text_of(loaded.at("metadata-location"))));
}

TEST_F(BodyRules, OfPropertiesUpdatesSayWhatBecameOfEachKey) {
  EXPECT_THAT(post_text("", R"({"namespace":["n"],"properties":{"a":"1","b":"2"}})"),
              HasStatus(200));
  const auto answer =
      post_text("/n/properties", R"({"updates":{"b":"3","c":"4"},"removals":["a","z"]})");
  ASSERT_THAT(answer, HasStatus(200));
  EXPECT_EQ(answer.json(), json_of(R"({"updated":["b","c"],"removed":["a"],"missing":["z"]})"));
  EXPECT_EQ(get("/n").json().at("properties"), json_of(R"({"b":"3","c":"4"})"));
  const auto refused =
      post_text("/n/properties", R"({"updates":{"b":"9","d":"9"},"removals":["c","b"]})");
  EXPECT_THAT(refused, IsError(422, "UnprocessableEntityException", HasSubstr("b")));
  EXPECT_EQ(get("/n").json().at("properties"), json_of(R"({"b":"3","c":"4"})"));
  const auto nothing = post_text("/n/properties", "{}");
  ASSERT_THAT(nothing, HasStatus(200));
  EXPECT_EQ(nothing.json(), json_of(R"({"updated":[],"removed":[],"missing":[]})"));
}

TEST_F(BodyRules, TakeMetricsReportsOfBothKinds) {
  create_table("t");
  for (const auto& body : {R"({"report-type":"scan-report","table-name":"t","snapshot-id":1,
        "filter":true,"schema-id":0,"projected-field-ids":[],"projected-field-names":[],
        "metrics":{}})",
                           R"({"report-type":"commit-report","table-name":"t","snapshot-id":1,
        "sequence-number":1,"operation":"append","metrics":{}})"}) {
    EXPECT_THAT(post_text(table("t") + "/metrics", body), HasStatus(204));
  }
  EXPECT_THAT(post_text(table("t") + "/metrics", R"({"report-type":"x"})"), HasStatus(400));
  EXPECT_THAT(post_text(table("none") + "/metrics", R"({"report-type":"scan-report"})"),
              HasStatus(404));
}

}  // namespace
}  // namespace iceblink::test
