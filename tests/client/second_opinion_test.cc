#include "client/second_opinion.h"

#include "tests/client/fake_daemon.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

using client::SecondOpinion;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t kSecond = 1'000'000'000;
std::atomic<std::uint64_t> clock_ns{0};
std::uint64_t test_clock() noexcept {
  return clock_ns.load();
}

TEST(SecondOpinionTurns, ComeOnlyWhenTheHeartbeatIsStaleAndOnceASecond) {
  SecondOpinion opinion(CatalogOptions{}, test_clock);
  clock_ns = 100 * kSecond;
  EXPECT_FALSE(opinion.take_turn(99 * kSecond));
  EXPECT_FALSE(opinion.take_turn(98 * kSecond));
  EXPECT_FALSE(opinion.take_turn(101 * kSecond));  // a coarse clock lags behind
  EXPECT_TRUE(opinion.take_turn(97 * kSecond));
  EXPECT_FALSE(opinion.take_turn(97 * kSecond));
  clock_ns = 100 * kSecond + 999'999'999;
  EXPECT_FALSE(opinion.take_turn(97 * kSecond));
  clock_ns = 101 * kSecond;
  EXPECT_TRUE(opinion.take_turn(97 * kSecond));
}

TEST(SecondOpinionTurns, FollowThePolicy) {
  clock_ns = 100 * kSecond;
  SecondOpinion never({.ask_daemon = AskDaemon::kNever}, test_clock);
  EXPECT_FALSE(never.take_turn(0));
  SecondOpinion always({.ask_daemon = AskDaemon::kAlways}, test_clock);
  EXPECT_TRUE(always.take_turn(100 * kSecond));
  EXPECT_FALSE(always.take_turn(100 * kSecond));
  SecondOpinion none({.ask_daemon = AskDaemon::kAlways, .asks_per_second_max = 0}, test_clock);
  EXPECT_FALSE(none.take_turn(0));
  SecondOpinion ten({.ask_daemon = AskDaemon::kAlways, .asks_per_second_max = 10}, test_clock);
  EXPECT_TRUE(ten.take_turn(0));
  clock_ns = 100 * kSecond + kSecond / 10;
  EXPECT_TRUE(ten.take_turn(0));
}

class DoubtedSegment : public SegmentTest {
 protected:
  [[nodiscard]] std::string socket_path() const { return dir_.path() + "/catalog.sock"; }
  /// Asks at every tick of the coarse clock.
  Catalog open_asking() {
    return open({.ask_daemon = AskDaemon::kAlways,
                 .ask_deadline = seconds(30),
                 .asks_per_second_max = 1'000'000'000});
  }
  /// Until the coarse clock has moved, and with it the next turn has come.
  static void await_turn() {
    const std::uint64_t begin = client::coarse_now_ns();
    while (client::coarse_now_ns() == begin) {
    }
  }
};

TEST_F(DoubtedSegment, ADaemonThatNeverAnswersCostsOneDeadlineASecond) {
  commit_tables(1);
  FakeDaemon daemon(socket_path(), [](FakePeer& peer) { peer.wait_closed(); });
  const Catalog catalog = open({.ask_daemon = AskDaemon::kAlways});
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_THAT(catalog.table_exists(ident({"a"}, "nix")), IsValue(false));
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  const CatalogStats stats = catalog.stats();
  EXPECT_GE(took, milliseconds(50));
  EXPECT_GE(stats.ask_count, 1u);
  EXPECT_LE(stats.ask_count, 1u + static_cast<std::uint64_t>(took / seconds(1)));
  EXPECT_EQ(stats.ask_failure_count, stats.ask_count);
  EXPECT_EQ(stats.disagreement_count, 0u);
}

TEST_F(DoubtedSegment, ALiveSegmentIsNotDoubted) {
  commit_tables(1);
  FakeDaemon daemon(socket_path(), [](FakePeer& peer) { peer.wait_closed(); });
  const Catalog catalog = open();
  store_.publisher().beat();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "nix")), IsValue(false));
  EXPECT_EQ(catalog.stats().ask_count, 0u);
}

TEST_F(DoubtedSegment, TheDaemonsAnswerWins) {
  commit_tables(1);
  FakeDaemon daemon(socket_path(), [](FakePeer& peer) {
    while (true) {
      const std::string request = peer.receive();
      if (request.empty()) return;
      if (request.starts_with("HEAD /v1/namespaces/a/tables/new ")) {
        peer.send("HTTP/1.1 204 No Content\r\n\r\n");
      } else if (request.starts_with("GET /v1/namespaces/a/tables/new?")) {
        peer.answer(200, R"({"metadata-location":"s3://new","metadata":{}})");
      } else {
        peer.send("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n");
      }
    }
  });
  const Catalog catalog = open_asking();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "new")), IsValue(true));
  await_turn();
  EXPECT_THAT(catalog.resolve_location(ident({"a"}, "new")), IsValue(std::string("s3://new")));
  await_turn();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "nix")), IsValue(false));
  await_turn();
  EXPECT_THAT(catalog.namespace_exists({"nix"}), IsValue(false));
  EXPECT_EQ(catalog.stats().ask_count, 4u);
  EXPECT_EQ(catalog.stats().disagreement_count, 2u);
  EXPECT_EQ(catalog.stats().ask_failure_count, 0u);
  // A snapshot never asks.
  EXPECT_THAT(catalog.snapshot()->table_exists(ident({"a"}, "new")), IsValue(false));
  EXPECT_EQ(catalog.stats().ask_count, 4u);
}

TEST_F(DoubtedSegment, WhatTheDaemonRefusesOrSaysWronglyIsAnError) {
  commit_tables(1);
  std::string answer = "{}";
  int status = 200;
  FakeDaemon daemon(socket_path(), [&](FakePeer& peer) {
    while (true) {
      const std::string request = peer.receive();
      if (request.empty()) return;
      if (request.starts_with("HEAD /v1/namespaces/a/views/new ")) {
        peer.send("HTTP/1.1 204 No Content\r\n\r\n");
      } else if (request.starts_with("HEAD /v1/namespaces/b ")) {
        peer.send("HTTP/1.1 204 No Content\r\n\r\n");
      } else if (request.starts_with("HEAD /v1/namespaces/a/tables/new ")) {
        peer.send("HTTP/1.1 204 No Content\r\n\r\n");
      } else if (request.starts_with("HEAD")) {
        peer.send("HTTP/1.1 500 X\r\nContent-Length: 2\r\n\r\n");
      } else {
        peer.answer(status, answer);
      }
    }
  });
  const Catalog catalog = open_asking();
  const auto resolve = [&] {
    await_turn();
    return catalog.resolve_location(ident({"a"}, "new"));
  };
  for (const char* wrong : {"{}", "[]", "{", R"({"metadata-location":1})"}) {
    answer = wrong;
    EXPECT_THAT(resolve(), IsError(ErrorKind::kInternal)) << wrong;
  }
  status = 403;
  EXPECT_THAT(resolve(), IsError(ErrorKind::kNotAllowed));
  await_turn();
  EXPECT_THAT(catalog.view_exists(ident({"a"}, "new")), IsValue(true));
  await_turn();
  EXPECT_THAT(catalog.namespace_exists({"b"}), IsValue(true));
  EXPECT_EQ(catalog.stats().ask_failure_count, 0u);
  await_turn();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "nix")), IsValue(false));
  EXPECT_EQ(catalog.stats().ask_failure_count, 1u);
}

TEST_F(DoubtedSegment, WithoutADaemonTheSegmentStands) {
  commit_tables(1);
  const Catalog catalog = open({.stale_after = milliseconds(-1)});
  EXPECT_THAT(catalog.resolve_location(ident({"a"}, "nix")), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(catalog.resolve_location(ident({"a"}, "t0")), IsValue(std::string("s3://t0")));
}

}  // namespace
}  // namespace iceblink::testing
