// Requests that nobody meant: good ones, changed by chance in their targets, headers and bodies.
// The daemon answers each, never with a 500 (but where one says that the request was carried out
// before, under the same key), and every file that it has written is valid.
//
// The same seed makes the same requests; ICEBLINK_FUZZ_SEED is another one.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>

#include "iceberg/metadata_parser.h"
#include "tests/fuzz/json_mutator.h"
#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

constexpr int kRequests = 3000;
constexpr int kRequestsBetweenRenewals = 50;
constexpr std::size_t kBodyBytesMax = 1 << 15;

constexpr std::string_view kHeaders[] = {
    "Idempotency-Key: 017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
    "Idempotency-Key: 017f22e2-79b0-7cc3-98c4-dc0c0c073990",
    "Idempotency-Key: x",
    "Idempotency-Key:",
    "If-None-Match: *",
    "If-None-Match: \"x\", W/\"y\",,",
    "If-None-Match: \"",
    "Accept-Encoding: gzip",
    "Accept-Encoding: *;q=0, gzip;q=x",
    "Accept-Encoding: ,;,;q=",
    "Content-Type: text/xml; charset=\"",
    "X-Iceberg-Access-Delegation: vended-credentials,remote-signing",
    "Expect: 100-continue",
    "Connection: close",
    "Connection: upgrade",
    "Upgrade: h2c",
    "Content-Encoding: gzip",
    "Range: bytes=0-1",
    "Cookie: \xff\xfe",
    "X-Long: 0123456789012345678901234567890123456789012345678901234567890123456789",
};
/// These tell where the request ends.
constexpr std::string_view kFramings[] = {
    "Content-Length: 0",
    "Content-Length: 5",
    "Content-Length: -1",
    "Content-Length: 99999999",
    "Content-Length: 1, 1",
    "Content-Length: 0x10",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip",
    "Transfer-Encoding: chunked, chunked",
    "Content-Length: 18446744073709551616",
};
constexpr std::string_view kTargetParts[] = {
    "%",
    "%00",
    "%1F",
    "%2F",
    "%FF",
    "+",
    "..",
    "//",
    "?",
    "#",
    "&",
    "=",
    "%20",
    " ",
    "\x7f",
    "\xc3\xa9",
    "{table}",
    ";",
    "*",
    "views",
    "tables",
    "ns",
    "?pageToken=",
    "?pageSize=-1",
    "?snapshots=refs",
    "?purgeRequested=true",
    "?parent=%1F",
};
constexpr std::string_view kVerbs[] = {"GET", "HEAD",    "POST",  "DELETE",  "PUT",
                                       "get", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"};

/// Under a key of a request that was carried out and whose answer is gone: what it made was purged.
bool says_it_was_done(const HttpRequest& request, const HttpResponse& answer) {
  const auto is_key = [](const std::string& header) { return header.starts_with("Idempotency-"); };
  return std::ranges::any_of(request.headers, is_key) &&
         answer.error_type() == "CommitStateUnknownException" &&
         answer.error_message().starts_with("This was done, ");
}

class HttpFuzz : public ChecklistTest {
 protected:
  void SetUp() override {
    auto quick = settings();
    quick.request_timeout = std::chrono::seconds(5);
    start(quick);
    renew();
    file_ = write_metadata("registered.json", table_metadata('4'));
    templates_ = good_requests();
  }
  /// Files that a request has left without an answer that was read are no fault here.
  void TearDown() override { check_files(); }

  /// What the requests are about, as it was at first.
  void renew();
  [[nodiscard]] std::vector<HttpRequest> good_requests() const;
  HttpRequest changed(HttpRequest request);
  std::string changed_target(std::string target);
  /// Sends, with a framing of its own every now and then, and judges the answer.
  void play(const HttpRequest& request);
  void judge(const HttpRequest& request, const HttpResponse& answer);
  void check_files();

  std::size_t pick(std::size_t count) { return random_() % count; }
  template <typename T, std::size_t N>
  const T& one_of(const T (&list)[N]) {
    return list[pick(N)];
  }

  std::array<int, 6> answers_by_class_{};
  std::minstd_rand random_;
  std::vector<HttpRequest> templates_;
  std::string file_;
};

void HttpFuzz::renew() {
  if (head("/ns").status == 404) create_namespace(R"(["ns"])");
  for (const auto& name : {"t", "t3", "n", "o", "r", "v"}) del(table(name));
  for (const auto& name : {"v", "w", "t", "t3"}) del(view(name));
  create_rich_table("t");
  create_rich_table("t3", 3);
  create_rich_view("v");
}

std::vector<HttpRequest> HttpFuzz::good_requests() const {
  const std::string ns = "/v1/namespaces/ns";
  const std::string table_body =
      R"({"name":"n","location":null,"schema":{"type":"struct","schema-id":0,"fields":[
        {"id":1,"name":"id","required":true,"type":"long"},
        {"id":2,"name":"ts","required":false,"type":"timestamp"}]},
        "partition-spec":{"spec-id":0,"fields":[
          {"source-id":2,"field-id":1000,"name":"d","transform":"day"}]},
        "write-order":{"order-id":1,"fields":[{"source-id":1,"transform":"identity",
          "direction":"asc","null-order":"nulls-first"}]},
        "stage-create":false,"properties":{"format-version":"2"}})";
  const std::string view_body =
      R"({"name":"w","schema":{"type":"struct","schema-id":0,"fields":[]},"properties":{},
        "view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},
        "default-namespace":["ns"],"representations":[
          {"type":"sql","sql":"SELECT 1","dialect":"spark"}]}})";
  const std::string structure =
      R"({"requirements":[{"type":"assert-ref-snapshot-id","ref":"none","snapshot-id":null}],
        "updates":[{"action":"add-schema","schema":{"type":"struct","schema-id":2,"fields":[
          {"id":1,"name":"id","required":true,"type":"long"},
          {"id":2,"name":"ts","required":false,"type":"timestamp"},
          {"id":3,"name":"s","required":false,"type":{"type":"struct","fields":[
            {"id":4,"name":"x","required":true,"type":"int"}]}},
          {"id":9,"name":"new","required":false,"type":"fixed[4]"}]}},
        {"action":"set-current-schema","schema-id":-1},
        {"action":"add-spec","spec":{"fields":[
          {"source-id":1,"name":"b","transform":"bucket[4]"}]}},
        {"action":"set-default-spec","spec-id":-1}]})";
  const std::string append =
      R"({"requirements":[],"updates":[{"action":"add-snapshot","snapshot":)" +
      snapshot_text(9, 3, R"(,"first-row-id":20,"added-rows":5)") +
      R"(},{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":9},
        {"action":"remove-snapshots","snapshot-ids":[7]}]})";
  const std::string rest =
      R"({"requirements":[],"updates":[{"action":"set-properties","updates":{"p":"q",
        "write.metadata.previous-versions-max":"3"}},
        {"action":"remove-properties","removals":["a"]},
        {"action":"set-statistics","statistics":{"snapshot-id":8,"statistics-path":"/s",
          "file-size-in-bytes":1,"file-footer-size-in-bytes":1,"blob-metadata":[]}},
        {"action":"remove-snapshot-ref","ref-name":"v1"},
        {"action":"upgrade-format-version","format-version":3}]})";
  const std::string version =
      R"({"requirements":[],"updates":[{"action":"add-view-version","view-version":{
        "version-id":3,"schema-id":1,"timestamp-ms":1700000000009,"summary":{},
        "default-namespace":["ns"],"representations":[
          {"type":"sql","sql":"SELECT 3","dialect":"spark"},
          {"type":"sql","sql":"SELECT 3","dialect":"trino"}]}},
        {"action":"set-current-view-version","view-version-id":-1}]})";
  const std::string transaction =
      R"({"table-changes":[{"identifier":{"namespace":["ns"],"name":"t"},"requirements":[],
        "updates":[{"action":"set-properties","updates":{"x":"1"}}]},
        {"identifier":{"namespace":["ns"],"name":"t3"},"requirements":[],
        "updates":[{"action":"set-properties","updates":{"x":"1"}}]}]})";
  const std::string ident = R"({"namespace":["ns"],"name":)";
  return {
      {.target = "/v1/config?warehouse=main"},
      {.target = "/v1/namespaces?parent=ns&pageToken=&pageSize=1"},
      {.verb = "POST",
       .target = "/v1/namespaces",
       .body = R"({"namespace":["ns","m"],"properties":{"a":"b"}})"},
      {.target = ns},
      {.verb = "DELETE", .target = "/v1/namespaces/ns%1Fm"},
      {.verb = "POST",
       .target = ns + "/properties",
       .body = R"({"removals":["x"],"updates":{"a":"b"}})"},
      {.target = ns + "/tables?pageToken=&pageSize=1"},
      {.target = ns + "/tables/t?snapshots=refs"},
      {.verb = "HEAD", .target = ns + "/tables/t"},
      {.verb = "POST", .target = ns + "/tables", .body = table_body},
      {.verb = "POST", .target = ns + "/tables/t", .body = structure},
      {.verb = "POST", .target = ns + "/tables/t3", .body = structure},
      {.verb = "POST", .target = ns + "/tables/t", .body = append},
      {.verb = "POST", .target = ns + "/tables/t3", .body = append},
      {.verb = "POST", .target = ns + "/tables/t", .body = rest},
      {.verb = "POST",
       .target = ns + "/register",
       .body = R"({"name":"r","metadata-location":")" + file_ + R"(","overwrite":true})"},
      {.verb = "POST", .target = ns + "/tables/r/unregister"},
      {.verb = "POST",
       .target = ns + "/tables/t/metrics",
       .body = R"({"report-type":"scan-report","filter":{"type":"true"}})"},
      {.verb = "POST",
       .target = "/v1/tables/rename",
       .body = R"({"source":)" + ident + R"("n"},"destination":)" + ident + R"("o"}})"},
      {.verb = "POST", .target = "/v1/transactions/commit", .body = transaction},
      {.target = ns + "/views"},
      {.verb = "POST", .target = ns + "/views", .body = view_body},
      {.target = ns + "/views/v"},
      {.verb = "POST", .target = ns + "/views/v", .body = version},
      {.verb = "DELETE", .target = ns + "/views/w"},
      {.target = "/iceblink/v1/changes?since=0"},
      {.verb = "POST",
       .target = "/iceblink/v1/batch",
       .body =
           R"({"op":"rename","source":)" + ident + R"("o"},"destination":)" + ident + R"("n"}})"},
      {.verb = "DELETE", .target = ns + "/tables/n?purgeRequested=true"},
  };
}

std::string HttpFuzz::changed_target(std::string target) {
  const std::size_t at = 1 + pick(target.size());
  switch (pick(4)) {
    case 0:
      return target.insert(at, one_of(kTargetParts));
    case 1:
      return target.substr(0, at);
    case 2:
      return target + std::string(one_of(kTargetParts));
    default:
      return target.replace(at, pick(4), one_of(kTargetParts));
  }
}

HttpRequest HttpFuzz::changed(HttpRequest request) {
  for (std::size_t changes = 1 + pick(3); changes > 0; --changes) {
    switch (pick(10)) {
      case 0:
        request.target = changed_target(request.target);
        break;
      case 1:
        request.verb = one_of(kVerbs);
        break;
      case 2:
      case 3:
        request.headers.emplace_back(one_of(kHeaders));
        break;
      case 4:
        request.body.resize(pick(request.body.size() + 1));
        break;
      default:
        request.body = mutate_json(request.body, kBodyBytesMax, random_);
    }
  }
  return request;
}

void HttpFuzz::judge(const HttpRequest& request, const HttpResponse& answer) {
  ++answers_by_class_[answer.status / 100 % answers_by_class_.size()];
  EXPECT_TRUE(answer.status != 500 || says_it_was_done(request, answer)) << answer.body;
  EXPECT_GE(answer.status, 200);
  EXPECT_LT(answer.status, 505);
  if (request.verb == "HEAD") {
    EXPECT_EQ(answer.body, "");
  } else if (answer.status >= 400) {
    expect_error_body(answer);
  } else if (answer.status == 200 && answer.header("content-encoding").empty() &&
             answer.header("content-type") == "application/json") {
    EXPECT_TRUE(answer.json().is_object());
  }
}

void HttpFuzz::play(const HttpRequest& request) {
  std::string text = HttpClient::text_of(request);
  const bool is_framed = pick(20) != 0;
  if (!is_framed) {
    const auto line_end = text.find("\r\n") + 2;
    text.insert(line_end, std::string(one_of(kFramings)) + "\r\n");
  }
  SCOPED_TRACE(text);
  auto client = connect();
  client.send(text);
  client.end_sending();
  const auto answer = client.receive(request.verb);
  // What was never whole may be closed without an answer.
  EXPECT_TRUE(answer.has_value() || !is_framed);
  if (answer) judge(request, *answer);
}

void HttpFuzz::check_files() {
  for (const auto& path : files_below(scratch().path())) {
    if (!path.ends_with(".metadata.json")) continue;
    std::ifstream file(path, std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    const auto problems = iceberg::check_metadata(iceberg::ByteBuffer(bytes));
    ASSERT_TRUE(problems.ok()) << path;
    for (const auto& problem : *problems) {
      ADD_FAILURE() << path << ": " << problem.path << ": " << problem.what << "\n" << bytes;
    }
  }
}

TEST_F(HttpFuzz, EveryRequestIsAnsweredAndEveryFileIsValid) {
  const char* const given = std::getenv("ICEBLINK_FUZZ_SEED");
  const auto seed = static_cast<unsigned>(given == nullptr ? 1 : std::atol(given));
  std::printf("seed %u\n", seed);
  random_.seed(seed);
  for (int i = 0; i < kRequests && !HasFailure(); ++i) {
    SCOPED_TRACE("request " + std::to_string(i) + " of seed " + std::to_string(seed));
    if (i % kRequestsBetweenRenewals == 0) renew();
    play(changed(templates_[pick(templates_.size())]));
  }
  renew();
  // Else the changes would say nothing of what the handlers do.
  EXPECT_GT(answers_by_class_[2], kRequests / 10);
  EXPECT_GT(answers_by_class_[4], kRequests / 10);
  EXPECT_THAT(connect().get("/healthz"), HasStatus(200));
  for (const auto& target : {table("t"), table("t3"), view("v")}) {
    EXPECT_THAT(get(target), HasStatus(200));
  }
}

// The corpus is worth something only if the requests are good as they are.
TEST_F(HttpFuzz, BeginsWithRequestsThatAreGood) {
  for (const auto& request : templates_) {
    const auto answer = send(request);
    EXPECT_LT(answer.status, 300) << request.verb << " " << request.target << " " << answer.body;
  }
}

}  // namespace
}  // namespace iceblink::test
