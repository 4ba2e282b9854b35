// Readers that are killed or stopped at any moment change nothing for the daemon and the others; a
// stopped one holds memory until it ends, and nothing else.

#include <sys/statvfs.h>
#include <sys/wait.h>

#include <csignal>
#include <deque>

#include "tests/process/reader_process.h"
#include "tests/process/world.h"

namespace iceblink::test {
namespace {

TEST(ReaderStopped, KillsAtAnyMomentChangeNothingForOthers) {
  World world;
  ASSERT_TRUE(world.start({"--headroom-bytes", "65536"}));
  Catalog catalog = world.open();
  ASSERT_OK(catalog.create_namespace({"ns"}));
  ASSERT_OK(World::put(catalog, {{"ns"}, "t0"}, "s3://t0@0"));
  ReaderProcess survivor(world.runtime_dir(), judge_progress);
  for (int i = 1; i <= 40; ++i) {
    ReaderProcess victim(world.runtime_dir(), judge_progress);
    for (int n = 0; n < 25; ++n) {
      const auto done =
          World::put(catalog, {{"ns"}, "t0"}, "s3://t0@" + std::to_string(100 * i + n));
      ASSERT_OK(done);
      survivor.page().acknowledged.store(*done, std::memory_order_release);
      if (n == i % 25) victim.signal(i % 2 == 0 ? SIGKILL : SIGSTOP);
    }
    if (i % 2 == 1) victim.signal(SIGKILL);
    victim.reap();
  }
  ASSERT_TRUE(survivor.wait_for_lookups(1000));
  EXPECT_EQ(survivor.finish(), "");
  EXPECT_EQ(world.verify(), std::vector<std::string>{});
}

std::uint64_t used_bytes(const std::string& directory) {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.f_blocks - status.f_bfree) * status.f_frsize;
}

// In a mount namespace of its own, so that the tmpfs holds this segment and nothing else.
std::string stopped_reader_scenario() {
  World world;
  if (!world.use_small_tmpfs("256m")) return "cannot mount a tmpfs: this test runs as root";
  if (!world.start({"--headroom-bytes", "2097152"})) return "start";
  Catalog catalog = world.open();
  if (!catalog.create_namespace({"ns"})) return "create";
  // Two hundred versions of one table in a commit, so that arenas fill fast.
  const auto put = [&](int n) {
    RegisterOptions options;
    options.if_exists = RegisterOptions::IfExists::kOverwrite;
    options.verification = RegisterOptions::Verification::kUnverified;
    Batch batch;
    for (int i = 0; i < 200; ++i) {
      batch.register_table({{"ns"}, "t0"}, "s3://" + std::to_string(n) + "/" + std::to_string(i),
                           options);
    }
    return catalog.apply(batch).ok();
  };
  if (!put(0)) return "put";
  ReaderProcess reader(world.runtime_dir(), judge_progress);
  if (!reader.wait_for_lookups(100)) return "reader: " + reader.finish();
  reader.signal(SIGSTOP);
  siginfo_t stopped{};
  ::waitid(P_PID, static_cast<id_t>(reader.pid()), &stopped, WSTOPPED);
  const auto epoch_before = catalog.info()->epoch;
  int n = 0;
  while (catalog.info()->epoch < epoch_before + 2) {
    if (++n > 20'000 || !put(n)) return "no flip after " + std::to_string(n) + " commits";
  }
  // The daemon lets go of a replaced arena after a second; the stopped reader does not.
  const std::uint64_t arena = catalog.info()->arena_bytes;
  const auto wait_until = [&](auto condition) {
    for (int i = 0; i < 1000; ++i) {
      if (condition()) return true;
      static_cast<void>(
          catalog.wait_for_change(*catalog.generation(), std::chrono::milliseconds(10)));
    }
    return false;
  };
  if (!wait_until([&] { return used_bytes(world.runtime_dir()) < 3 * arena; })) {
    return "more than the stopped reader's arena is held: " +
           std::to_string(used_bytes(world.runtime_dir()));
  }
  const std::uint64_t while_stopped = used_bytes(world.runtime_dir());
  reader.signal(SIGKILL);
  reader.reap();
  if (!wait_until([&] { return used_bytes(world.runtime_dir()) < while_stopped; })) {
    return "the stopped reader's arena was not freed when it ended";
  }
  return world.stop_daemon() == 0 ? "" : "the daemon did not end well";
}

TEST(ReaderStopped, HoldsItsArenaAndFreesItWhenItEnds) {
  expect_in_child(stopped_reader_scenario);
}

}  // namespace
}  // namespace iceblink::test
