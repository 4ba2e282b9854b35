// Imports that are killed at any moment, as is the daemon, and run again: all is there, once.
#include <poll.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "tests/moves/moves_fixture.h"

namespace iceblink::test {
namespace {

constexpr int kTables = 20'000;
constexpr int kNamespaces = 50;

std::string lines_of_tables() {
  std::string lines;
  for (int i = 0; i < kTables; ++i) {
    lines += R"({"namespace":["n)" + std::to_string(i % kNamespaces) + R"("],"name":"t)" +
             std::to_string(i) + R"(","metadata-location":"s3://b/)" + std::to_string(i) + "\"}\n";
  }
  return lines;
}

/// Waits until the catalog has more generations, or the time of a watchdog has passed.
void wait_for_commits(const Catalog& catalog, std::uint64_t count) {
  const auto begin = catalog.generation();
  ASSERT_OK(begin);
  for (std::uint64_t seen = *begin; seen < *begin + count;) {
    const auto changed = catalog.wait_for_change(seen, std::chrono::seconds(10));
    if (!changed || !*changed) return;  // all is done already
    seen = **changed;
  }
}

/// What is wrong with the feed since `token`: a name that was put twice.
std::string doubles_in(const Catalog& catalog, ChangeToken token) {
  std::set<std::pair<Namespace, std::string>> put;
  while (true) {
    const auto found = catalog.changes_since(token);
    if (!found) return found.error().message();
    if (found->changes.empty()) break;
    for (const auto& change : found->changes) {
      if (!put.emplace(change.levels, change.name).second) return "put twice: " + change.name;
    }
    token = found->token;
  }
  const auto expected = static_cast<std::size_t>(kTables + kNamespaces);
  return put.size() == expected ? "" : std::to_string(put.size()) + " names were put";
}

class KilledImport : public ::testing::Test {
 protected:
  void SetUp() override {
    std::printf("seed %u\n", seed_);
    file_ = folder_.put("tables.jsonl", lines_of_tables());
  }
  std::vector<std::string> arguments() const {
    return {
        "--dir", place_.world.runtime_dir(), "import", "jsonl", file_, "--unverified", "--batch",
        "200"};
  }
  void expect_all_once(const Catalog& catalog, ChangeToken begin) {
    EXPECT_EQ(doubles_in(catalog, begin), "");
    const auto snapshot = catalog.snapshot();
    ASSERT_OK(snapshot);
    for (int i = 0; i < kTables; ++i) {
      const auto found =
          snapshot->find({{"n" + std::to_string(i % kNamespaces)}, "t" + std::to_string(i)});
      ASSERT_OK(found);
      ASSERT_TRUE(found->has_value()) << i;
      ASSERT_EQ((*found)->metadata_location(), "s3://b/" + std::to_string(i));
    }
    const std::string tables = place_.tables();
    EXPECT_EQ(std::count(tables.begin(), tables.end(), '\n'), kTables);
    EXPECT_EQ(place_.world.verify(), std::vector<std::string>{});
  }

  const unsigned seed_ = std::random_device{}();
  std::mt19937 random_{seed_};
  Folder folder_;
  Place place_;
  std::string file_;
};

TEST_F(KilledImport, TheProgramIsKilledAndRunAgain) {
  const Catalog catalog = place_.world.open();
  const auto begin = catalog.change_token();
  ASSERT_OK(begin);
  for (int round = 0; round < 12; ++round) {
    Program import("iceblink", arguments());
    wait_for_commits(catalog, std::uniform_int_distribution<std::uint64_t>(0, 8)(random_));
    import.signal(SIGKILL);
    import.wait();
  }
  const Finished last = Program("iceblink", arguments()).wait();
  EXPECT_EQ(last.exit_code, 0) << last.err;
  expect_all_once(catalog, *begin);
}

TEST_F(KilledImport, TheDaemonIsKilledAndTheProgramGoesOn) {
  const Catalog catalog = place_.world.open();
  const auto begin = catalog.change_token();
  ASSERT_OK(begin);
  Program import("iceblink", arguments());
  for (int round = 0; round < 12; ++round) {
    wait_for_commits(catalog, std::uniform_int_distribution<std::uint64_t>(0, 8)(random_));
    place_.world.kill_daemon();
    ASSERT_TRUE(place_.world.start());
  }
  const Finished finished = import.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(finished.err, "");
  expect_all_once(catalog, *begin);
}

// At every point of a commit at which its answer can be lost.
TEST_F(KilledImport, TheDaemonDiesWithAnAnswerUnsent) {
  const Catalog catalog = place_.world.open();
  const auto begin = catalog.change_token();
  ASSERT_OK(begin);
  ASSERT_EQ(place_.world.stop_daemon(), 0);
  const char* const points[] = {"answer.before-send", "publish.before-root"};
  ASSERT_TRUE(place_.world.start({"--fault-point", "answer.before-send:3"}));
  Program import("iceblink", arguments());
  for (const char* point : points) {
    for (const int pass : {1, 2, 5}) {
      EXPECT_EQ(place_.world.daemon().wait(), -SIGKILL);
      ASSERT_TRUE(place_.world.start(
          {"--fault-point", std::string(point) + ":" + std::to_string(pass + 1)}));
    }
  }
  EXPECT_EQ(place_.world.daemon().wait(), -SIGKILL);
  ASSERT_TRUE(place_.world.start());
  const Finished finished = import.wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  expect_all_once(catalog, *begin);
}

}  // namespace
}  // namespace iceblink::test
