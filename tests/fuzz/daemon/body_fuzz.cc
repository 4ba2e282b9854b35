// A body of a request, sent to every endpoint that takes one.
//
// Each answers it; what is not JSON is refused by all but the one that takes lines; and the
// catalog goes on serving.
#include <string>
#include <string_view>

#include "iceberg/metadata_text.h"
#include "tests/fuzz/daemon/fuzzed_daemon.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/json_judgement.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kJson;

namespace {

constexpr std::size_t kInputsPerDaemon = 500;

enum class Takes : std::uint8_t { kJson, kLines };
struct Endpoint {
  std::string_view path;
  Takes takes = Takes::kJson;
};
constexpr Endpoint kEndpoints[] = {
    {"/v1/namespaces"},
    {"/v1/namespaces/ns/properties"},
    {"/v1/namespaces/ns/tables"},
    {"/v1/namespaces/ns/register"},
    {"/v1/namespaces/ns/tables/t"},
    {"/v1/namespaces/ns/tables/t/metrics"},
    {"/v1/transactions/commit"},
    {"/v1/namespaces/ns/views"},
    {"/v1/namespaces/ns/register-view"},
    {"/v1/namespaces/ns/views/v"},
    {"/v1/views/rename"},
    {"/v1/tables/rename"},
    {"/v1/namespaces/ns/tables/t/unregister"},
    {"/iceblink/v1/batch", Takes::kLines},
};

constexpr std::string_view kView = R"({"name":"v","properties":{},
"schema":{"type":"struct","schema-id":0,"fields":[]},"view-version":{"version-id":1,"schema-id":0,
"timestamp-ms":1,"summary":{},"default-namespace":["ns"],
"representations":[{"type":"sql","sql":"SELECT 1","dialect":"spark"}]}})";

std::string post(std::string_view path, std::string_view body, bool is_last = false) {
  std::string text = "POST " + std::string(path) +
                     " HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) +
                     "\r\n";
  if (is_last) text += "Connection: close\r\n";
  return text + "\r\n" + std::string(body);
}

void check_body(FuzzedDaemon& daemon, std::string_view body) {
  // What the requests are about, unless it is there.
  std::string requests = post("/v1/namespaces", R"({"namespace":["ns"]})") +
                         post("/v1/namespaces/ns/register", R"({"name":"t","metadata-location":")" +
                                                                daemon.table_file() + R"("})") +
                         post("/v1/namespaces/ns/views", kView);
  for (const auto& endpoint : kEndpoints) requests += post(endpoint.path, body);
  requests += "GET /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
  const std::string all = daemon.talk(requests);
  std::string_view answers = all;
  for (int i = 0; i < 3; ++i) {
    const auto answer = take_answer(answers, false);
    fuzz_check(answer && (answer->status == 200 || answer->status == 409),
               "what the requests are about is there", answer ? answer->body : "");
  }
  // A BOM is passed over, once.
  const JsonJudgement judgement = judge_json(body.substr(iceberg::bom_bytes_of(body)));
  for (const auto& endpoint : kEndpoints) {
    const auto answer = take_answer(answers, false);
    fuzz_check(answer.has_value(), "every endpoint answers", endpoint.path);
    check_answer(*answer, false);
    const bool takes_any =
        endpoint.takes == Takes::kLines || endpoint.path.ends_with("/unregister");
    fuzz_check(takes_any || judgement != JsonJudgement::kInvalid || answer->status >= 400,
               "what is not JSON is refused", endpoint.path);
  }
  const auto last = take_answer(answers, false);
  fuzz_check(last && last->status == 200 && answers.empty(), "the daemon is well");
}

FuzzedDaemon& fuzzed_daemon() {
  static FuzzedDaemon daemon;
  static std::size_t inputs = 0;
  if (++inputs % kInputsPerDaemon == 0) daemon.renew();
  return daemon;
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iceblink::test;
  if (size > FuzzedDaemon::kBodyBytesMax) return 0;
  check_body(fuzzed_daemon(), {reinterpret_cast<const char*>(data), size});
  return 0;
}
