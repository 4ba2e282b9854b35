// The bytes of a connection.
//
// They are cut into requests whole and in pieces, which must come to the same; then a daemon is
// sent them: every request that was whole has one answer, in order, and the connection ends. The
// first byte is the size of the pieces.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/content_coding.h"
#include "daemon/http/etag.h"
#include "daemon/http/header_rules.h"
#include "daemon/http/idempotency.h"
#include "daemon/http/request_id.h"
#include "daemon/http/request_reader.h"
#include "iceberg/utf8.h"
#include "tests/fuzz/daemon/fuzzed_daemon.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kBytes;

namespace {

using daemon::http::HostNames;
using daemon::http::Request;
using daemon::http::RequestReader;
using daemon::http::Verb;

constexpr std::size_t kConnectionsPerDaemon = 2000;
constexpr std::size_t kInputBytesMax = 16 << 10;

/// What a connection's bytes come to.
struct Cut {
  std::vector<Request> requests;
  enum class End : std::uint8_t { kBetween, kInside, kRefused } end = End::kBetween;
  unsigned refusal_status = 0;
  bool to_head = false;  // what is refused
};

/// A request closes the connection, or is refused: nothing after it is read.
Cut cut(std::string_view bytes, std::size_t piece_bytes, HostNames names) {
  RequestReader reader(
      [&](const auto& header) { return daemon::http::judge_header(header, names); },
      FuzzedDaemon::kHeaderBytesMax);
  Cut cut;
  reader.begin(FuzzedDaemon::kBodyBytesMax);
  while (true) {
    const auto step = reader.parse();
    if (step == RequestReader::Step::kRefused) {
      cut.end = Cut::End::kRefused;
      cut.refusal_status = reader.refusal().error.status;
      cut.to_head = reader.is_head();
      fuzz_check(cut.refusal_status >= 400 && cut.refusal_status < 600, "a refusal has a status");
      fuzz_check(!reader.refusal().message.empty(), "a refusal says why");
      return cut;
    }
    if (step == RequestReader::Step::kDone) {
      const bool goes_on = reader.keeps_alive();
      cut.requests.push_back(reader.take());
      fuzz_check(cut.requests.back().body.size() <= FuzzedDaemon::kBodyBytesMax,
                 "no body is larger than the limit");
      if (!goes_on) return cut;
      reader.begin(FuzzedDaemon::kBodyBytesMax);
      continue;
    }
    fuzz_check(
        step == RequestReader::Step::kNeedsMore || step == RequestReader::Step::kExpectsContinue,
        "a step is one of four");
    if (bytes.empty()) {
      cut.end = reader.has_begun() ? Cut::End::kInside : Cut::End::kBetween;
      cut.to_head = reader.is_head();
      return cut;
    }
    const auto room = reader.room();
    const std::size_t count = std::min({bytes.size(), room.size(), piece_bytes});
    fuzz_check(count > 0, "there is room for more");
    bytes.copy(static_cast<char*>(room.data()), count);
    bytes.remove_prefix(count);
    reader.fill(count);
  }
}

void check_same(const Cut& whole, const Cut& pieces) {
  fuzz_check(whole.requests.size() == pieces.requests.size(),
             "as many requests, however they are sent");
  for (std::size_t i = 0; i < whole.requests.size(); ++i) {
    const Request& a = whole.requests[i];
    const Request& b = pieces.requests[i];
    fuzz_check(a.verb == b.verb && a.method == b.method && a.target == b.target &&
                   a.if_none_match == b.if_none_match && a.idempotency_key == b.idempotency_key &&
                   a.accepts_gzip == b.accepts_gzip && a.body == b.body,
               "the same requests, however they are sent", a.target);
  }
  // What is broken may be seen at its first line, or when the rest has come.
  const auto is_between = [](const Cut& cut) { return cut.end == Cut::End::kBetween; };
  fuzz_check(is_between(whole) == is_between(pieces), "the same end, however it is sent");
}

void check_fields(const Request& request) {
  fuzz_check(!request.id.empty() && request.id.size() <= daemon::http::kRequestIdBytesMax &&
                 std::all_of(request.id.begin(), request.id.end(),
                             [](char c) { return c > ' ' && c < '\x7f'; }),
             "a request has a name that can be shown", request.id);
  if (request.idempotency_key) {
    const auto key = daemon::http::idempotency_key_of(*request.idempotency_key);
    fuzz_check(key.ok() || key.error().kind() == ErrorKind::kInvalidArgument,
               "an error is of the kind that is promised");
  }
  (void)daemon::http::etag_matches(request.if_none_match, "\"x\"");
}

void check_answers(const Cut& cut, std::string_view answers) {
  const std::string_view all = answers;
  for (const auto& request : cut.requests) {
    const bool to_head = request.verb == Verb::kHead;
    const auto answer = take_answer(answers, to_head);
    fuzz_check(answer.has_value(), "a whole request has an answer", request.target);
    check_answer(*answer, to_head);
    if (answer->closes()) {
      fuzz_check(answers.empty(), "nothing comes after the last answer", all);
      return;
    }
  }
  if (cut.end == Cut::End::kBetween) {
    fuzz_check(answers.empty(), "there are no answers without requests", all);
    return;
  }
  const auto answer = take_answer(answers, cut.to_head);
  fuzz_check(answer.has_value(), "what is refused has an answer", all);
  check_answer(*answer, cut.to_head);
  fuzz_check(answer->closes() && answers.empty(), "it is the last", all);
  fuzz_check(answer->status == 400 || answer->status == cut.refusal_status, "it says why",
             answer->body);
}

void check_text(std::string_view text) {
  (void)daemon::http::accepts_gzip(text);
  const bool is_loopback = daemon::http::is_loopback_authority(text);
  fuzz_check(!is_loopback || text.starts_with("127.") || text.starts_with('[') ||
                 text.size() >= std::string_view("localhost").size(),
             "what is loopback says so", text);
}

FuzzedDaemon& fuzzed_daemon() {
  static FuzzedDaemon daemon;
  static std::size_t connections = 0;
  if (++connections % kConnectionsPerDaemon == 0) daemon.renew();
  return daemon;
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iceblink::test;
  if (size == 0 || size > kInputBytesMax) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_text(bytes.substr(0, bytes.find('\r')));
  const Cut whole = cut(bytes, bytes.size() + 1, HostNames::kAny);
  check_same(whole, cut(bytes, std::size_t{1} + data[0] % 64, HostNames::kAny));
  (void)cut(bytes, bytes.size() + 1, HostNames::kLoopback);
  for (const auto& request : whole.requests) check_fields(request);
  check_answers(whole, fuzzed_daemon().talk(bytes));
  return 0;
}
