#include <gmock/gmock.h>

#include <thread>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

class Connections : public DaemonTest {};

TEST_F(Connections, AnswerManyRequestsInOrder) {
  auto client = connect();
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += HttpClient::text_of({.verb = "POST",
                                 .target = "/v1/namespaces",
                                 .body = R"({"namespace":["n)" + std::to_string(i) + "\"]}"});
    text += HttpClient::text_of({.target = "/v1/namespaces/n" + std::to_string(i)});
  }
  client.send(text);
  for (int i = 0; i < 100; ++i) {
    const auto response = client.receive();
    ASSERT_TRUE(response.has_value()) << i;
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->json().at("namespace").at(0).as_string(), "n" + std::to_string(i / 2));
  }
}

TEST_F(Connections, EndWhenTheClientSaysSo) {
  auto client = connect();
  const auto last = client.request({.target = "/healthz", .headers = {"Connection: close"}});
  EXPECT_EQ(last.header("connection"), "close");
  EXPECT_TRUE(client.sees_end());
}

TEST_F(Connections, OfHttp10EndUnlessAskedToStay) {
  auto client = connect();
  client.send("GET /healthz HTTP/1.0\r\n\r\n");
  const auto response = client.receive();
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->header("connection"), "close");
  EXPECT_TRUE(client.sees_end());
  auto staying = connect();
  staying.send("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(staying.receive()->header("connection"), "keep-alive");
  EXPECT_EQ(staying.get("/healthz").status, 200);
}

TEST_F(Connections, TellAClientThatAsksFirstToGoOn) {
  auto client = connect();
  client.send(
      "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
      "Content-Length: 19\r\n\r\n");
  ASSERT_TRUE(client.receive_continue());
  client.send(R"({"namespace":["a"]})");
  const auto created = client.receive();
  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(created->status, 200);
}

TEST_F(Connections, OfTwoHundredClientsAreAllServed) {
  std::vector<HttpClient> clients;
  for (int i = 0; i < 200; ++i) clients.push_back(connect());
  for (std::size_t round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < clients.size(); ++i) {
      const std::string name = "n" + std::to_string(i) + "r" + std::to_string(round);
      clients[i].send(HttpClient::text_of({.verb = "POST",
                                           .target = "/v1/namespaces",
                                           .body = R"({"namespace":[")" + name + "\"]}"}));
    }
    for (auto& client : clients) {
      const auto response = client.receive();
      ASSERT_TRUE(response.has_value());
      EXPECT_EQ(response->status, 200) << response->body;
    }
  }
  EXPECT_EQ(connect().get("/v1/namespaces").json().at("namespaces").as_array().size(), 600u);
}

TEST_F(Connections, FinishTheRequestInHandWhenTheDaemonStops) {
  auto idle = connect();
  EXPECT_EQ(idle.get("/healthz").status, 200);
  auto client = connect();
  client.send(
      "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
      "Content-Length: 19\r\n\r\n");
  ASSERT_TRUE(client.receive_continue());
  std::thread stopping([this] { daemon().stop(); });
  EXPECT_TRUE(idle.sees_end());  // so the stop has begun
  client.send(R"({"namespace":["a"]})");
  const auto created = client.receive();
  stopping.join();
  ASSERT_TRUE(created.has_value());
  EXPECT_EQ(created->status, 200);
  EXPECT_EQ(created->header("connection"), "close");
  EXPECT_FALSE(connect().is_connected());
  start(settings_in(scratch()));
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 204);
}

/// A request that lacks its body, of 19 bytes.
constexpr const char* kRequestInHand =
    "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 19\r\n\r\n";

class FewConnections : public DaemonTest {
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.connections_max = 3;
    settings.http_threads = 1;  // which sees connections idle in the order that they are
    start(settings);
  }
};

TEST_F(FewConnections, RefusesMoreWith429AndTakesThemAgainLater) {
  std::vector<HttpClient> clients;
  for (int i = 0; i < 3; ++i) {
    clients.push_back(connect());
    EXPECT_EQ(clients.back().get("/healthz").status, 200);
    clients.back().send(kRequestInHand);
    ASSERT_TRUE(clients.back().receive_continue());
  }
  auto refused_client = connect();
  const auto refused = refused_client.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->error_type(), "SlowDownException");
  EXPECT_EQ(refused->header("retry-after"), "1");
  EXPECT_TRUE(refused_client.sees_end());
  clients.back().send(R"({"namespace":["a"]})");
  EXPECT_EQ(clients.back().receive()->status, 200);
  clients.front().close();
  // The server learns of the end in its own time: ask until it has.
  std::optional<HttpResponse> taken;
  for (int attempt = 0; attempt < 100'000 && (!taken || taken->status == 429); ++attempt) {
    auto client = connect();
    client.send(HttpClient::text_of({.target = "/healthz"}));
    taken = client.receive();
  }
  ASSERT_TRUE(taken.has_value());
  EXPECT_EQ(taken->status, 200);
}

TEST_F(FewConnections, ClosesTheOneThatIsIdleLongestWhenAnotherComes) {
  auto oldest = connect();
  EXPECT_EQ(oldest.get("/healthz").status, 200);
  auto busy = connect();
  busy.send(kRequestInHand);
  ASSERT_TRUE(busy.receive_continue());
  auto newer = connect();
  EXPECT_EQ(newer.get("/healthz").status, 200);
  auto fourth = connect();
  EXPECT_EQ(fourth.get("/healthz").status, 200);
  EXPECT_TRUE(oldest.sees_end());
  auto fifth = connect();
  EXPECT_EQ(fifth.get("/healthz").status, 200);
  EXPECT_TRUE(newer.sees_end());
  EXPECT_EQ(fourth.get("/healthz").status, 200);
  busy.send(R"({"namespace":["a"]})");
  EXPECT_EQ(busy.receive()->status, 200);
}

TEST_F(FewConnections, LeavesRoomForOthersWhateverOneOpensAndNeverUses) {
  std::vector<HttpClient> silent;
  for (int i = 0; i < 50; ++i) {
    silent.push_back(connect());
    EXPECT_EQ(connect().get("/healthz").status, 200) << i;
  }
}

TEST_F(FewConnections, GivesNoPlaceToARequestWhoseHeaderIsNotWhole) {
  std::vector<HttpClient> slow;
  for (int i = 0; i < 20; ++i) {
    slow.push_back(connect());
    slow.back().send("GET /healthz HTTP/1.1\r\nX: ");
    EXPECT_EQ(connect().get("/healthz").status, 200) << i;
  }
  EXPECT_TRUE(slow.front().sees_end());
}

TEST_F(FewConnections, KeepsSomeThatAreNotForTcp) {
  auto settings = settings_in(scratch());
  settings.connections_max = 4;
  settings.listen = "127.0.0.1:0";
  start(settings);
  std::string request = kRequestInHand;
  request.replace(request.find("Host: x"), 7, "Host: localhost");
  std::vector<HttpClient> busy;
  for (int i = 0; i < 3; ++i) {
    busy.push_back(HttpClient::to_loopback(daemon().tcp_port()));
    busy.back().send(request);
    ASSERT_TRUE(busy.back().receive_continue());
  }
  EXPECT_EQ(HttpClient::to_loopback(daemon().tcp_port()).receive()->status, 429);
  EXPECT_EQ(connect().get("/healthz").status, 200);
}

class LittleMemory : public DaemonTest {
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.answer_bytes_max = 1 << 20;
    settings.request_bytes_max = 300'000;
    start(settings);
  }
};

TEST_F(LittleMemory, ReadsNoMoreFilesWhileClientsHaveMuchToTake) {
  create_namespace(R"(["a"])");
  std::string large = table_metadata();
  large.insert(1, std::string(2 << 20, ' '));
  const auto location = write_metadata("large.json", large);
  connect().post(
      "/iceblink/v1/batch",
      R"({"op":"register","namespace":["a"],"name":"t","metadata-location":")" + location + "\"}");
  auto slow = connect();
  slow.send(HttpClient::text_of({.target = "/v1/namespaces/a/tables/t"}));
  auto other = connect();
  const auto is_held = [&] {
    return other.get("/metrics").body.find("\niceblink_http_answer_bytes 2") != std::string::npos;
  };
  for (int i = 0; i < 1'000'000 && !is_held(); ++i) continue;
  const auto refused = other.get("/v1/namespaces/a/tables/t");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_EQ(other.head("/v1/namespaces/a/tables/t").status, 204);
  EXPECT_EQ(slow.receive()->status, 200);
  for (int i = 0; i < 1'000'000 && is_held(); ++i) continue;
  EXPECT_EQ(other.get("/v1/namespaces/a/tables/t").status, 200);
}

TEST_F(LittleMemory, SendsNoMoreLargeAnswersOfAnyKindWhileClientsHaveMuchToTake) {
  create_namespace(R"(["a"])");
  const auto set = connect().post("/v1/namespaces/a/properties",
                                  R"({"updates":{"k":")" + std::string(1'000'000, 'v') + "\"}}");
  ASSERT_EQ(set.status, 200) << set.body;
  std::string large = table_metadata();
  large.insert(1, std::string(2 << 20, ' '));
  register_table("a", "t", write_metadata("large.json", large));
  auto slow = connect();
  slow.send(HttpClient::text_of({.target = "/v1/namespaces/a/tables/t"}));
  auto other = connect();
  const auto is_held = [&] {
    return other.get("/metrics").body.find("\niceblink_http_answer_bytes 2") != std::string::npos;
  };
  for (int i = 0; i < 1'000'000 && !is_held(); ++i) continue;
  const auto refused = other.get("/v1/namespaces/a");
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_EQ(other.get("/v1/namespaces").status, 200);
  EXPECT_EQ(slow.receive()->status, 200);
}

TEST_F(LittleMemory, TakesNoMoreLargeBodiesThanItHasRoomFor) {
  const std::string head =
      "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
      "Content-Length: 200000\r\n\r\n";
  std::string body = R"({"namespace":["a"]})";
  body.insert(1, std::string(200'000 - body.size(), ' '));
  auto first = connect();
  first.send(head);
  ASSERT_TRUE(first.receive_continue());
  auto second = connect();
  second.send(head);
  const auto refused = second.receive();
  ASSERT_TRUE(refused.has_value());
  EXPECT_EQ(refused->status, 429);
  EXPECT_EQ(refused->header("retry-after"), "1");
  EXPECT_TRUE(second.sees_end());
  auto chunked = connect();
  chunked.send(
      "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n20000\r\n" +
      std::string(0x20000, ' '));
  EXPECT_EQ(chunked.receive()->status, 429);
  create_namespace(R"(["small"])");
  first.send(body);
  EXPECT_EQ(first.receive()->status, 200);
  // Its room is free a moment after its answer.
  bool is_let_in = false;
  for (int i = 0; i < 100'000 && !is_let_in; ++i) {
    auto third = connect();
    third.send(head);
    is_let_in = third.receive_continue();
  }
  EXPECT_TRUE(is_let_in);
}

class ImpatientServer : public DaemonTest {
  void SetUp() override {
    auto settings = settings_in(scratch());
    settings.idle_timeout = std::chrono::milliseconds(150);
    settings.request_timeout = std::chrono::milliseconds(150);
    settings.write_timeout = std::chrono::milliseconds(150);
    settings.http_threads = 1;
    start(settings);
  }
};

TEST_F(ImpatientServer, ServesOthersWhileClientsDawdleAndThenClosesThose) {
  auto silent = connect();
  std::vector<HttpClient> slow;
  for (const char* part :
       {"G", "GET /healthz HTTP/1.1\r\nX: ",
        "POST /v1/namespaces HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"}) {
    slow.push_back(connect());
    slow.back().send(part);
  }
  for (int i = 0; i < 100; ++i) EXPECT_EQ(connect().get("/healthz").status, 200);
  EXPECT_TRUE(silent.sees_end());
  for (auto& client : slow) {
    const auto refused = client.receive();
    ASSERT_TRUE(refused.has_value());
    EXPECT_EQ(refused->status, 408);
    EXPECT_EQ(refused->error_type(), "RequestTimeoutException");
    EXPECT_TRUE(client.sees_end());
  }
}

TEST_F(ImpatientServer, GivesATricklingClientNoMoreTimeThanOthers) {
  auto trickling = connect();
  trickling.send("GET /healthz HTTP/1.1\r\nX: ");
  bool is_open = true;
  for (int i = 0; i < 1'000'000 && is_open; ++i) {
    is_open = trickling.send("x");
    EXPECT_EQ(connect().get("/healthz").status, 200);
    if (i > 60'000) break;  // below the header's limit: it is the time that must end it
  }
  EXPECT_FALSE(is_open);
}

TEST_F(ImpatientServer, ClosesAClientThatDoesNotTakeItsAnswer) {
  create_namespace(R"(["a"])");
  std::string large = table_metadata();
  large.insert(1, std::string(1 << 20, ' '));
  register_table("a", "t", write_metadata("large.json", large));
  auto client = connect();
  client.send(HttpClient::text_of({.target = "/v1/namespaces/a/tables/t"}));
  // The gauge says when the server has given up; until then others are served.
  std::string metrics;
  for (int i = 0; i < 1'000'000; ++i) {
    metrics = connect().get("/metrics").body;
    if (metrics.find("\niceblink_http_connections_open 1\n") != std::string::npos) break;
  }
  EXPECT_NE(metrics.find("\niceblink_http_connections_open 1\n"), std::string::npos);
  EXPECT_FALSE(client.receive().has_value());
}

}  // namespace
}  // namespace iceblink::test
