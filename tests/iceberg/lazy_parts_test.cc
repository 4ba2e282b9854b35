// Snapshots and logs, which stay raw until they are asked for: faults that show late, what is built
// and what it weighs, threads that ask at once, a fork while one of them builds.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "iceberg/build_lock.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

using ::testing::ElementsAre;

/// Snapshots 0 to count - 1, the last one current, and both logs. `odd` has that summary.
std::string table_with(int count, int odd = -1, const std::string& summary = "") {
  std::string snapshots;
  std::string snapshot_log;
  std::string metadata_log;
  for (int i = 0; i < count; ++i) {
    const std::string id = std::to_string(i);
    const auto one = snapshot(id).with(
        "summary", i == odd ? summary : R"({"operation":"append","added-files":")" + id + "\"}");
    snapshots += (i == 0 ? "" : ",") + one.text();
    snapshot_log += (i == 0 ? "" : ",") + (R"({"timestamp-ms":1,"snapshot-id":)" + id + "}");
    metadata_log += (i == 0 ? "" : ",") + (R"({"timestamp-ms":1,"metadata-file":"m)" + id + "\"}");
  }
  return v2()
      .with("snapshots", '[' + snapshots + ']')
      .with("snapshot-log", '[' + snapshot_log + ']')
      .with("metadata-log", '[' + metadata_log + ']')
      .with("current-snapshot-id", std::to_string(count - 1))
      .text();
}

class Growth final : public WeightObserver {
 public:
  void grew(const MetadataDocument& document, std::size_t grown_bytes) noexcept override {
    const std::lock_guard lock(mutex_);
    document_ = &document;
    grown_bytes_.push_back(grown_bytes);
  }
  [[nodiscard]] std::size_t count() const { return grown_bytes_.size(); }
  [[nodiscard]] std::size_t sum() const {
    std::size_t sum = 0;
    for (const std::size_t bytes : grown_bytes_) sum += bytes;
    return sum;
  }
  [[nodiscard]] const MetadataDocument* document() const { return document_; }

 private:
  std::mutex mutex_;
  const MetadataDocument* document_ = nullptr;
  std::vector<std::size_t> grown_bytes_;
};

// ---- Faults

TEST(LazyParts, ADeeperFaultShowsAtEveryUseWithItsPath) {
  const auto table = load(table_with(5, 3, R"({"x":1})"));
  ASSERT_TRUE(table) << table.error().message();
  const std::string fault = "snapshots[3].summary.x: expected a string, found a number";
  for (int use = 0; use < 2; ++use) {
    const auto all = (*table)->snapshots();
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(all.error().message(), fault);
    const auto one = (*table)->snapshot(3);
    ASSERT_FALSE(one);
    EXPECT_EQ(one.error().kind(), ErrorKind::kCorrupt);
    EXPECT_EQ(one.error().message(), fault);
  }
  const auto current = (*table)->current_snapshot();
  ASSERT_TRUE(current) << "nothing is wrong with that one";
  EXPECT_EQ((*current)->snapshot_id, 4);
}

TEST(LazyParts, JsonThatIsBrokenInsideShowsThereToo) {
  for (const char* broken : {R"({"x" "y"})", R"({"x":})", R"({"x":"\q"})", "{]}"}) {
    const auto table = load(table_with(3, 1, broken));
    if (!table) continue;  // found at once: fine, too
    EXPECT_EQ((*table)->snapshot(1).error().kind(), ErrorKind::kCorrupt) << broken;
    EXPECT_EQ((*table)->snapshots().error().kind(), ErrorKind::kCorrupt) << broken;
    EXPECT_TRUE((*table)->snapshot(2)) << broken;
  }
}

TEST(LazyParts, FaultsOfLogsNameThem) {
  const auto table = load(v2().with("snapshot-log", R"([{"timestamp-ms":1}])")
                              .with("metadata-log", R"([{"timestamp-ms":"1"}])"));
  ASSERT_TRUE(table) << table.error().message();
  EXPECT_EQ((*table)->snapshot_log().error().message(), "snapshot-log[0].snapshot-id: is missing");
  EXPECT_EQ((*table)->metadata_log().error().message(),
            "metadata-log[0].timestamp-ms: expected an integer, found a string");
}

TEST(LazyParts, LogsAndSnapshotsThatAreNoListsAreRefusedAtOnce) {
  for (const char* name : {"snapshots", "snapshot-log", "metadata-log"}) {
    EXPECT_THAT(error_of(v2().with(name, "{}")),
                ::testing::StartsWith(std::string("corrupt: ") + name + ": expected an array"));
  }
}

// ---- What is built

TEST(LazyParts, TheIndexIsKnownWithoutBuilding) {
  const auto table = load(table_with(100));
  ASSERT_TRUE(table) << table.error().message();
  const std::size_t weight = (*table)->weight_bytes();
  ASSERT_EQ((*table)->snapshot_index().size(), 100U);
  EXPECT_EQ((*table)->snapshot_index()[99].snapshot_id, 99);
  EXPECT_EQ((*table)->snapshot_index()[99].sequence_number, 1);
  const auto missing = (*table)->snapshot(100);
  ASSERT_TRUE(missing);
  EXPECT_EQ(*missing, nullptr);
  EXPECT_EQ((*table)->weight_bytes(), weight);
}

TEST(LazyParts, TheCurrentSnapshotIsBuiltAlone) {
  const auto growth = std::make_shared<Growth>();
  const auto table = load(table_with(1000, 5, "[]"));
  ASSERT_TRUE(table) << table.error().message();
  (*table)->add_weight_observer(growth);
  const auto current = (*table)->current_snapshot();
  ASSERT_TRUE(current) << "the fault in another one is not looked at";
  EXPECT_EQ(growth->count(), 1U);
  EXPECT_LT(growth->sum(), 2000U);
  EXPECT_EQ(*(*table)->current_snapshot(), *current) << "and once";
  EXPECT_EQ(*(*table)->snapshot(999), *current);
  EXPECT_EQ(growth->count(), 1U);
}

TEST(LazyParts, WhatWasHandedOutStaysWhenAllAreBuilt) {
  const auto table = load(table_with(50));
  ASSERT_TRUE(table) << table.error().message();
  const TableSnapshot* const before = *(*table)->snapshot(10);
  const auto all = (*table)->snapshots();
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 50U);
  EXPECT_EQ(before->manifest_list, "s3://b/t/m10.avro");
  EXPECT_EQ(*(*table)->snapshot(11), &(*all)[11]) << "no second one is built beside them";
  EXPECT_EQ((*(*table)->snapshots()).data(), all->data());
}

TEST(LazyParts, EachPartThatIsBuiltIsWeighedOnce) {
  const auto growth = std::make_shared<Growth>();
  const auto table = load(table_with(200));
  ASSERT_TRUE(table) << table.error().message();
  const std::size_t before = (*table)->weight_bytes();
  (*table)->add_weight_observer(growth);
  for (int round = 0; round < 2; ++round) {
    EXPECT_TRUE((*table)->current_snapshot());
    EXPECT_TRUE((*table)->snapshots());
    EXPECT_TRUE((*table)->snapshot_log());
    EXPECT_TRUE((*table)->metadata_log());
  }
  EXPECT_EQ(growth->count(), 4U);
  EXPECT_EQ((*table)->weight_bytes(), before + growth->sum());
  EXPECT_GE(growth->sum(), 201 * sizeof(TableSnapshot) + 200 * sizeof(SnapshotLogEntry) +
                               200 * sizeof(MetadataLogEntry));
  EXPECT_EQ(growth->document(), table->get());
}

TEST(LazyParts, WhatIsNotThereWeighsNothing) {
  const auto table = load(v2());
  ASSERT_TRUE(table) << table.error().message();
  const std::size_t before = (*table)->weight_bytes();
  EXPECT_TRUE((*table)->snapshots()->empty());
  EXPECT_TRUE((*table)->snapshot_log()->empty());
  EXPECT_TRUE((*table)->metadata_log()->empty());
  EXPECT_EQ((*table)->weight_bytes(), before);
}

// ---- Threads and forks

TEST(LazyParts, ThreadsThatAskAtOnceSeeOneResult) {
  constexpr int kThreads = 8;
  for (int round = 0; round < 10; ++round) {
    const auto growth = std::make_shared<Growth>();
    const auto table = load(table_with(300));
    ASSERT_TRUE(table) << table.error().message();
    (*table)->add_weight_observer(growth);
    std::barrier start(kThreads);
    std::mutex mutex;
    std::set<const void*> seen[4];
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        start.arrive_and_wait();
        const void* const log = (*table)->snapshot_log()->data();
        const TableSnapshot* const current = *(*table)->current_snapshot();
        const auto all = *(*table)->snapshots();
        const void* const files = (*table)->metadata_log()->data();
        EXPECT_EQ(current->manifest_list, "s3://b/t/m299.avro");
        EXPECT_EQ(all[7].summary[1].value, "7");
        const std::lock_guard lock(mutex);
        seen[0].insert(log);
        seen[1].insert(all.data());
        seen[2].insert(files);
        seen[3].insert(*(*table)->snapshot(250));
      });
    }
    for (auto& thread : threads) thread.join();
    for (const auto& places : seen) EXPECT_EQ(places.size(), 1U);
    // The current one may have been found among all of them.
    EXPECT_GE(growth->count(), 3U);
    EXPECT_LE(growth->count(), 4U);
  }
}

TEST(LazyParts, ThreadsThatAskAtOnceSeeOneFault) {
  const auto table = load(table_with(200, 100, R"({"x":1})"));
  ASSERT_TRUE(table) << table.error().message();
  const std::size_t weight = (*table)->weight_bytes();
  std::barrier start(4);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      EXPECT_EQ((*table)->snapshots().error().message(),
                "snapshots[100].summary.x: expected a string, found a number");
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ((*table)->weight_bytes(), weight);
}

/// Exit status of a child that runs `checks`, which say whether all is well.
template <typename Checks>
int status_of_child(Checks checks) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a watchdog
    ::_exit(checks() ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(LazyParts, AChildTakesALockOverThatAThreadOfItsParentHeld) {
  BuildLock lock;
  std::latch is_held(1);
  std::latch may_end(1);
  std::thread holder([&] {
    const std::lock_guard held(lock);
    is_held.count_down();
    may_end.wait();
  });
  is_held.wait();
  const auto checks = [&] {
    for (int i = 0; i < 3; ++i) const std::lock_guard held(lock);
    return true;
  };
  EXPECT_EQ(status_of_child(checks), 0);
  may_end.count_down();
  holder.join();
  const std::lock_guard held(lock);
}

TEST(LazyParts, AChildTakesALockOverThoughItsPidIsItsParents) {
  const auto is_first_process = [](auto checks) {
    // Without privileges, or where it is refused, there is nothing to be seen.
    if (::unshare(CLONE_NEWPID) != 0) return true;
    return status_of_child([&] { return ::getpid() != 1 || checks(); }) == 0;
  };
  const auto checks = [&] {
    return is_first_process([&] {
      BuildLock lock;
      const std::lock_guard held(lock);
      return is_first_process([&] {
        const std::lock_guard taken_over(lock);
        return true;
      });
    });
  };
  EXPECT_EQ(status_of_child(checks), 0);
}

#ifndef __SANITIZE_ADDRESS__  // whose allocator stays locked when a fork meets it so
TEST(LazyParts, AChildForkedWhileAThreadBuildsBuildsItself) {
  const std::string text = table_with(5000);
  for (int round = 0; round < 10; ++round) {
    const auto table = load(text);
    ASSERT_TRUE(table) << table.error().message();
    std::atomic<bool> begins = false;
    std::thread builder([&] {
      begins = true;
      EXPECT_TRUE((*table)->snapshots());
    });
    while (!begins) std::this_thread::yield();
    const auto checks = [&] {
      const auto current = (*table)->current_snapshot();
      const auto all = (*table)->snapshots();
      return current.ok() && (*current)->snapshot_id == 4999 && all.ok() && all->size() == 5000 &&
             (*all)[4321].manifest_list == "s3://b/t/m4321.avro";
    };
    EXPECT_EQ(status_of_child(checks), 0);
    builder.join();
  }
}
#endif

}  // namespace
}  // namespace iceblink::iceberg::testing
