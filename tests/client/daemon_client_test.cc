#include "client/daemon_client.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>

#include "client/wire.h"
#include "tests/client/fake_daemon.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

using client::Answer;
using client::DaemonClient;
using client::Effect;
using client::Request;
using std::chrono::milliseconds;
using std::chrono::seconds;

const Request kGet{.method = "GET", .target = "/x"};
const Request kHead{.method = "HEAD", .target = "/x"};
Request post(std::string body = "{}") {
  return {.method = "POST", .target = "/w", .body = std::move(body), .effect = Effect::kWrite};
}

class DaemonCalls : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return dir_.path() + "/catalog.sock"; }
  TempDir dir_;
};

void answer_each(FakePeer& peer) {
  while (!peer.receive().empty()) peer.answer(200, "yes", "Iceblink-Generation: 7\r\n");
}

TEST_F(DaemonCalls, BringAnAnswerAndKeepTheConnection) {
  FakeDaemon daemon(path(), answer_each);
  DaemonClient caller(path());
  for (int i = 0; i < 5; ++i) {
    const auto answer = caller.call(post(), seconds(30));
    ASSERT_OK(answer);
    EXPECT_EQ(answer->status, 200u);
    EXPECT_EQ(answer->body, "yes");
    EXPECT_EQ(answer->generation, 7u);
  }
  EXPECT_EQ(caller.stats().connect_count, 1u);
  EXPECT_EQ(caller.stats().call_count, 5u);
  EXPECT_EQ(caller.stats().write_count, 5u);
}

TEST_F(DaemonCalls, UnderstandAnswersWithoutABody) {
  FakeDaemon daemon(path(), [](FakePeer& peer) {
    while (true) {
      const std::string request = peer.receive();
      if (request.empty()) return;
      // A HEAD's length is that of the body which does not follow.
      peer.send(request.starts_with("HEAD") ? "HTTP/1.1 404 No\r\nContent-Length: 99\r\n\r\n"
                                            : "HTTP/1.1 204 No Content\r\n\r\n");
    }
  });
  DaemonClient caller(path());
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(caller.call(kHead, seconds(30))->status, 404u);
    EXPECT_EQ(caller.call(kGet, seconds(30))->status, 204u);
  }
  EXPECT_EQ(caller.stats().connect_count, 1u);
}

TEST_F(DaemonCalls, TakeAnAnswerInPiecesAndInChunks) {
  FakeDaemon daemon(path(), [](FakePeer& peer) {
    peer.receive();
    const std::string bytes =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    for (const char c : bytes) peer.send({&c, 1});
    peer.wait_closed();
  });
  DaemonClient caller(path());
  const auto answer = caller.call(kGet, seconds(30));
  ASSERT_OK(answer);
  EXPECT_EQ(answer->body, "abcde");
}

TEST_F(DaemonCalls, WithoutADaemonNothingWasSent) {
  DaemonClient caller(path());
  EXPECT_THAT(caller.call(post(), seconds(30)), IsError(ErrorKind::kNoDaemon));
  { FakeDaemon daemon(path(), answer_each); }
  EXPECT_THAT(caller.call(post(), seconds(30)), IsError(ErrorKind::kNoDaemon));
}

TEST_F(DaemonCalls, ALostWriteIsOfUnknownStateAndALostReadIsNot) {
  FakeDaemon daemon(path(), [](FakePeer& peer) { peer.receive(); });
  DaemonClient caller(path());
  EXPECT_THAT(caller.call(post(), seconds(30)), IsError(ErrorKind::kStateUnknown));
  EXPECT_THAT(caller.call(kGet, seconds(30)), IsError(ErrorKind::kNoDaemon));
}

TEST_F(DaemonCalls, ATruncatedAnswerIsNone) {
  for (const char* part : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n12345", "HTTP/1.1 2",
                           "HTTP/1.1 200 OK\r\nContent-Le", "not http at all\r\n\r\n"}) {
    FakeDaemon daemon(path(), [&](FakePeer& peer) {
      peer.receive();
      peer.send(part);
    });
    DaemonClient caller(path());
    EXPECT_THAT(caller.call(post(), seconds(30)), IsError(ErrorKind::kStateUnknown)) << part;
    EXPECT_THAT(caller.call(kGet, seconds(30)), IsError(ErrorKind::kNoDaemon)) << part;
  }
}

TEST_F(DaemonCalls, EndAtTheirDeadline) {
  FakeDaemon daemon(path(), [](FakePeer& peer) { peer.wait_closed(); });
  DaemonClient caller(path());
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THAT(caller.call(post(), milliseconds(20)), IsError(ErrorKind::kStateUnknown));
  EXPECT_THAT(caller.call(kGet, milliseconds(20)), IsError(ErrorKind::kTimedOut));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds(20));
}

TEST_F(DaemonCalls, ARequestThatDoesNotLeaveWholeWasNotDone) {
  FakeDaemon daemon(path(), [](FakePeer& peer) {
    peer.hold();  // reads nothing: the request fills the socket's buffers and stays in them
  });
  DaemonClient caller(path());
  EXPECT_THAT(caller.call(post(std::string(8 << 20, 'x')), milliseconds(50)),
              IsError(ErrorKind::kTimedOut));
}

TEST_F(DaemonCalls, AnEarlyRefusalOfALargeRequestIsHeard) {
  FakeDaemon daemon(path(), [](FakePeer& peer) {
    peer.answer(413, "too large", "Connection: close\r\n");
    peer.hold();
  });
  DaemonClient caller(path());
  const auto answer = caller.call(post(std::string(8 << 20, 'x')), seconds(30));
  ASSERT_OK(answer);
  EXPECT_EQ(answer->status, 413u);
}

TEST_F(DaemonCalls, ARestartedDaemonIsFoundAgain) {
  DaemonClient caller(path());
  for (int i = 0; i < 3; ++i) {
    FakeDaemon daemon(path(), answer_each);
    ASSERT_OK(caller.call(post(), seconds(30)));
  }
  EXPECT_EQ(caller.stats().connect_count, 3u);
}

TEST_F(DaemonCalls, AKeptConnectionThatClosesUnderAReadIsReplaced) {
  FakeDaemon daemon(path(), [](FakePeer& peer) {
    peer.receive();
    peer.answer(200, "first");
    peer.receive();
    if (peer.number() == 0) return;  // closes, having read the second request
    peer.answer(200, "second");
  });
  DaemonClient caller(path());
  ASSERT_OK(caller.call(kGet, seconds(30)));
  const auto second = caller.call(kGet, seconds(30));
  ASSERT_OK(second);
  EXPECT_EQ(second->body, "first");  // of the new connection
  EXPECT_EQ(daemon.connection_count(), 2);
}

TEST_F(DaemonCalls, AKeptConnectionThatClosesUnderAWriteIsOfUnknownState) {
  FakeDaemon daemon(path(), [](FakePeer& peer) {
    peer.receive();
    peer.answer(200, "first");
    peer.receive();
  });
  DaemonClient caller(path());
  ASSERT_OK(caller.call(post(), seconds(30)));
  EXPECT_THAT(caller.call(post(), seconds(30)), IsError(ErrorKind::kStateUnknown));
}

TEST_F(DaemonCalls, ReachASocketWhosePathIsTooLongForOne) {
  const std::string deep = dir_.path() + "/" + std::string(150, 'd');
  std::filesystem::create_directory(deep);
  FakeDaemon daemon(path(), answer_each);
  std::filesystem::rename(path(), deep + "/catalog.sock");
  DaemonClient caller(deep + "/catalog.sock");
  ASSERT_OK(caller.call(kGet, seconds(30)));
}

TEST_F(DaemonCalls, AChildConnectsAnew) {
  FakeDaemon daemon(path(), answer_each);
  DaemonClient caller(path());
  ASSERT_OK(caller.call(post(), seconds(30)));
  const pid_t child = ::fork();
  if (child == 0) {
    const auto answer = caller.call(post(), seconds(30));
    ::_exit(answer.ok() && caller.stats().connect_count == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_OK(caller.call(post(), seconds(30)));
  EXPECT_EQ(caller.stats().connect_count, 1u);
}

TEST(WireErrors, FollowTheTypeThenTheStatus) {
  const auto kind = [](unsigned status, const std::string& body, Effect effect) {
    const Request request{.method = "POST", .target = "/w", .effect = effect};
    return client::error_of(request, Answer{status, std::nullopt, body}).kind();
  };
  const auto typed = [&](unsigned status, const std::string& type) {
    return kind(status, R"({"error":{"message":"m","type":")" + type + R"("}})", Effect::kWrite);
  };
  EXPECT_EQ(typed(404, "NoSuchTableException"), ErrorKind::kNotFound);
  EXPECT_EQ(typed(409, "AlreadyExistsException"), ErrorKind::kAlreadyExists);
  EXPECT_EQ(typed(409, "NamespaceNotEmptyException"), ErrorKind::kNotEmpty);
  EXPECT_EQ(typed(409, "CommitFailedException"), ErrorKind::kConflict);
  EXPECT_EQ(typed(500, "CommitStateUnknownException"), ErrorKind::kStateUnknown);
  EXPECT_EQ(typed(507, "InsufficientStorageException"), ErrorKind::kNoSpace);
  EXPECT_EQ(typed(400, "IllegalArgumentException"), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind(500, "", Effect::kWrite), ErrorKind::kStateUnknown);
  EXPECT_EQ(kind(500, "", Effect::kRead), ErrorKind::kInternal);
  EXPECT_EQ(kind(503, "<html>", Effect::kWrite), ErrorKind::kBusy);
  EXPECT_EQ(kind(410, "[]", Effect::kRead), ErrorKind::kGone);
}

TEST(WireErrors, OfAStatusAlone) {
  constexpr std::pair<unsigned, ErrorKind> kMeanings[] = {
      {400, ErrorKind::kInvalidArgument}, {422, ErrorKind::kInvalidArgument},
      {401, ErrorKind::kNotAllowed},      {403, ErrorKind::kNotAllowed},
      {404, ErrorKind::kNotFound},        {405, ErrorKind::kUnsupported},
      {406, ErrorKind::kUnsupported},     {408, ErrorKind::kTimedOut},
      {409, ErrorKind::kConflict},        {410, ErrorKind::kGone},
      {413, ErrorKind::kTooLarge},        {429, ErrorKind::kBusy},
      {501, ErrorKind::kUnsupported},     {503, ErrorKind::kBusy},
      {504, ErrorKind::kTimedOut},        {507, ErrorKind::kNoSpace},
      {500, ErrorKind::kInternal},        {418, ErrorKind::kInternal},
  };
  for (const auto& [status, kind] : kMeanings) {
    EXPECT_EQ(client::kind_of_read(status), kind) << status;
  }
}

TEST(WirePaths, EncodeEachLevel) {
  EXPECT_EQ(client::table_path(ident({"a b", "c/d+"}, "t%1F")),
            "/v1/namespaces/a%20b%1Fc%2Fd%2B/tables/t%251F");
  EXPECT_EQ(client::namespace_path({"ü"}), "/v1/namespaces/%C3%BC");
  EXPECT_EQ(client::namespace_path({"aZ09-_.~{"}), "/v1/namespaces/aZ09-_.~%7B");
  EXPECT_EQ(client::view_path(ident({"a"}, ".")), "/v1/namespaces/a/views/%2E");
  EXPECT_EQ(client::namespace_path({".."}), "/v1/namespaces/%2E%2E");
}

TEST(BatchLines, AreJson) {
  const auto lines = Batch()
                         .create_namespace({"a\"b"}, {{"k", "v\n"}})
                         .register_table(ident({"a"}, "t"), "s3://x",
                                         {.if_exists = RegisterOptions::IfExists::kOverwrite})
                         .move_table(ident({"a"}, "t"), "s3://x", "s3://y",
                                     RegisterOptions::Verification::kUnverified)
                         .append_json_lines("{}")
                         .json_lines();
  EXPECT_EQ(lines, R"({"op":"create-namespace","namespace":["a\"b"],"properties":{"k":"v\n"}})"
                   "\n"
                   R"({"op":"register","namespace":["a"],"name":"t","metadata-location":"s3://x",)"
                   R"("overwrite":true})"
                   "\n"
                   R"({"op":"register","namespace":["a"],"name":"t","metadata-location":"s3://y",)"
                   R"("expect":"s3://x","unverified":true})"
                   "\n{}\n");
}

}  // namespace
}  // namespace iceblink::testing
