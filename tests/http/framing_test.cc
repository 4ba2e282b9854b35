// Where a request begins and ends, and who may send one: what no handler ever sees.
#include <gmock/gmock.h>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kChunkedHead =
    "POST /v1/namespaces HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
constexpr const char* kBody = R"({"namespace":["a"]})";  // 19 bytes

class Framing : public DaemonTest {
 protected:
  /// The one answer to `bytes`, after which the connection must end.
  HttpResponse last_answer_to(HttpClient client, std::string_view bytes) {
    client.send(bytes);
    const auto response = client.receive();
    EXPECT_TRUE(response.has_value()) << bytes.substr(0, 200);
    if (!response) return {};
    EXPECT_EQ(response->header("connection"), "close") << bytes.substr(0, 200);
    EXPECT_TRUE(client.sees_end()) << bytes.substr(0, 200);
    return *response;
  }
  HttpResponse last_answer_to(std::string_view bytes) { return last_answer_to(connect(), bytes); }

  static std::string with_coding(const std::string& lines) {
    return "POST /v1/namespaces HTTP/1.1\r\nHost: localhost\r\n" + lines + "\r\n\r\n13\r\n" +
           kBody + "\r\n0\r\n\r\n";
  }
};

TEST_F(Framing, HoldsNoMoreOfAChunkHeaderThanOfAHeader) {
  const std::string endless(1 << 20, 'a');
  const std::string zeros(1 << 20, '0');
  for (const std::string& rest :
       {"1;" + endless, zeros, "1\r\nx\r\n5;q=\"" + endless, "0\r\nT: " + endless}) {
    EXPECT_EQ(last_answer_to(kChunkedHead + rest).status, 431) << rest.substr(0, 20);
  }
  EXPECT_EQ(connect().get("/healthz").status, 200);
}

TEST_F(Framing, TakesExtensionsAndTrailersOfAReasonableSize) {
  auto client = connect();
  client.send(std::string(kChunkedHead) + "13;x=" + std::string(1000, 'a') + "\r\n" + kBody +
              "\r\n0\r\nT: " + std::string(1000, 'b') + "\r\n\r\n");
  EXPECT_EQ(client.receive()->status, 200);
  EXPECT_EQ(client.get("/healthz").status, 200);
}

TEST_F(Framing, TrailersAreNoFieldsOfTheHeader) {
  const std::string trailers =
      "Host: elsewhere\r\nConnection: close\r\nIdempotency-Key: none\r\nX-Request-ID: trailer\r\n"
      "Expect: 100-continue\r\n";
  const std::string chunk = std::string("13\r\n") + kBody + "\r\n0\r\n" + trailers + "\r\n";
  auto whole = connect();
  whole.send(kChunkedHead + chunk);
  EXPECT_EQ(whole.receive()->status, 200);
  EXPECT_EQ(whole.get("/healthz").status, 200) << "the connection goes on";
  ASSERT_EQ(whole.del("/v1/namespaces/a").status, 204);
  auto pieces = connect();
  for (const char byte : kChunkedHead + chunk) pieces.send({&byte, 1});
  EXPECT_EQ(pieces.receive()->status, 200);
  EXPECT_EQ(pieces.get("/healthz").status, 200);
}

TEST_F(Framing, TrailersThatAreTooLargeAreRefusedThoughTheyComeAtOnce) {
  const std::string large(70 << 10, 'b');
  const std::string head(kChunkedHead);
  EXPECT_EQ(last_answer_to(head + "13\r\n" + kBody + "\r\n0\r\nT: " + large + "\r\n\r\n").status,
            431);
  EXPECT_EQ(last_answer_to(head + "13;x=" + large + "\r\n" + kBody + "\r\n0\r\n\r\n").status, 431);
}

TEST_F(Framing, OfAnUnknownCodingIs501) {
  for (const char* line : {"Transfer-Encoding: xchunked", "Transfer-Encoding: \"chunked\"",
                           "Transfer-Encoding: x, chunked"}) {
    EXPECT_EQ(last_answer_to(with_coding(line)).status, 501) << line;
  }
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 404);
}

TEST_F(Framing, ThatTwoPartiesCouldReadDifferentlyIs400) {
  for (const char* lines :
       {"Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, gzip", "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Content-Length: 5\r\nTransfer-Encoding: gzip", "Transfer-Encoding : chunked",
        "Transfer-Encoding: \x0b"
        "chunked"}) {
    EXPECT_EQ(last_answer_to(with_coding(lines)).status, 400) << lines;
  }
  EXPECT_EQ(last_answer_to("POST /v1/namespaces HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"
                           "13\r\n{\"namespace\":[\"a\"]}\r\n0\r\n\r\n")
                .status,
            400);
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 404);
}

TEST_F(Framing, OfChunkedIsKnownInAnyCase) {
  auto client = connect();
  client.send(with_coding("Transfer-Encoding:  Chunked "));
  EXPECT_EQ(client.receive()->status, 200);
}

TEST_F(Framing, AnswersARequestThatEndsBeforeItIsComplete) {
  for (const char* part :
       {"G", "GET /healthz HTTP/1.1\r\nHost: x\r\n",
        "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 19\r\n\r\n{\"name"}) {
    auto client = connect();
    client.send(part);
    client.end_sending();
    const auto response = client.receive();
    ASSERT_TRUE(response.has_value()) << part;
    EXPECT_EQ(response->status, 400);
    EXPECT_EQ(response->error_type(), "BadRequestException");
    EXPECT_TRUE(client.sees_end());
  }
}

TEST_F(Framing, AnswersACompleteRequestWhoseClientSendsNoMore) {
  auto client = connect();
  client.send(HttpClient::text_of({.target = "/healthz"}));
  client.end_sending();
  EXPECT_EQ(client.receive()->status, 200);
  EXPECT_TRUE(client.sees_end());
}

TEST_F(Framing, SkipsEmptyLinesBetweenRequests) {
  auto client = connect();
  const std::string request = HttpClient::text_of({.target = "/healthz"});
  client.send("\r\n" + request + "\r\n\r\n" + request + "\r");
  EXPECT_EQ(client.receive()->status, 200);
  EXPECT_EQ(client.receive()->status, 200);
  client.send("\n" + request);
  EXPECT_EQ(client.receive()->status, 200);
  client.send("\r\n");
  client.end_sending();
  EXPECT_TRUE(client.sees_end());
}

TEST_F(Framing, NeedsOneHostInHttp11) {
  const auto missing = last_answer_to("GET /healthz HTTP/1.1\r\n\r\n");
  EXPECT_EQ(missing.status, 400);
  EXPECT_THAT(missing.error_message(), HasSubstr("Host"));
  EXPECT_EQ(last_answer_to("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n").status, 400);
}

TEST_F(Framing, TakesAnyHostOverTheUnixSocket) {
  auto client = connect();
  client.send("GET /healthz HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n\r\n");
  EXPECT_EQ(client.receive()->status, 200);
}

class TcpNames : public Framing {
 protected:
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.listen = "127.0.0.1:0";
    start(settings);
  }
  HttpClient connect_tcp() { return HttpClient::to_loopback(daemon().tcp_port()); }
};

TEST_F(TcpNames, OfThisHostAreServed) {
  for (const char* lines :
       {"Host: localhost", "Host: LOCALHOST:8181", "Host: 127.0.0.1:1", "Host: [::1]",
        "Host: [::1]:99", "Host: localhost\r\nOrigin: http://localhost:3000",
        "Host: localhost\r\nOrigin: https://127.0.0.1"}) {
    auto client = connect_tcp();
    client.send("GET /healthz HTTP/1.1\r\n" + std::string(lines) + "\r\n\r\n");
    const auto response = client.receive();
    ASSERT_TRUE(response.has_value());
    EXPECT_EQ(response->status, 200) << lines;
  }
}

TEST_F(TcpNames, OfOthersAre403) {
  for (const char* lines :
       {"Host: evil.example", "Host: localhost.evil.example", "Host: 127.0.0.1.evil.example",
        "Host: [::2]", "Host: localhost:80x", "Host: ", "Host: localhost@evil", "Host: [::1]x",
        "Host: 10.0.0.1", "Host: localhost\r\nOrigin: http://evil.example",
        "Host: localhost\r\nOrigin: null"}) {
    const auto refused =
        last_answer_to(connect_tcp(), "POST /v1/namespaces HTTP/1.1\r\n" + std::string(lines) +
                                          "\r\nContent-Length: 19\r\n\r\n" + kBody);
    EXPECT_EQ(refused.status, 403) << lines;
    EXPECT_EQ(refused.error_type(), "ForbiddenException");
  }
  EXPECT_EQ(last_answer_to(connect_tcp(),
                           "GET http://evil.example/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .status,
            403);
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 404);
}

}  // namespace
}  // namespace iceblink::test
