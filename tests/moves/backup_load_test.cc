// Backups that are taken while others write, restored elsewhere: each is one of the generations
// that there were, whole. The map is small, so that it grows meanwhile.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "tests/moves/moves_fixture.h"

namespace iceblink::test {
namespace {

constexpr int kRounds = 20;
constexpr int kWriters = 3;
constexpr int kTablesPerBatch = 30;

using State = std::map<std::string, std::string>;  // by name, the location

/// What was acknowledged, by generation.
class History {
 public:
  void add(std::uint64_t generation, const std::string& name, const std::string& location) {
    const std::lock_guard lock(mutex_);
    changes_[name][generation] = location;
  }
  State at(std::uint64_t generation) const {
    State state;
    for (const auto& [name, locations] : changes_) {
      const auto next = locations.upper_bound(generation);
      if (next == locations.begin()) continue;
      const std::string& location = std::prev(next)->second;
      if (!location.empty()) state[name] = location;
    }
    return state;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::map<std::uint64_t, std::string>> changes_;  // empty: dropped
};

void write_until(const std::atomic<bool>& is_over, const Catalog& shared, int writer,
                 History& history) {
  Catalog catalog = shared;
  RegisterOptions options;
  options.if_exists = RegisterOptions::IfExists::kOverwrite;
  options.verification = RegisterOptions::Verification::kUnverified;
  // relaxed: only ends the loop
  for (int round = 0; !is_over.load(std::memory_order_relaxed); ++round) {
    const std::string location =
        "s3://" + std::to_string(writer) + "/" + std::to_string(round) + std::string(300, 'x');
    Batch batch;
    State put;
    for (int i = 0; i < kTablesPerBatch; ++i) {
      const std::string name =
          "w" + std::to_string(writer) + "_" + std::to_string((round * kTablesPerBatch + i) % 997);
      batch.register_table({{"a"}, name}, location, options);
      put[name] = location;
    }
    const bool drops = round % 3 == 2;
    const std::string dropped = put.begin()->first;
    if (drops) {
      batch.drop_table({{"a"}, dropped});
      put[dropped] = "";
    }
    const auto done = catalog.apply(batch);
    ASSERT_OK(done);
    for (const auto& [name, here] : put) history.add(*done, name, here);
  }
}

std::uintmax_t store_bytes(const Place& place) {
  return std::filesystem::file_size(place.world.data_dir() + "/lmdb/data.mdb");
}

struct Taken {
  std::uint64_t generation = 0;
  State state;
};

/// What a daemon on the restored backup shows.
Taken restored(const std::string& file) {
  World other;
  const Finished finished =
      Program("iceblinkd", {"--restore", file, "--data-dir", other.data_dir()}).wait();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  if (!other.start()) {
    ADD_FAILURE() << "the daemon does not start";
    return {};
  }
  const Catalog catalog = other.open();
  const auto snapshot = catalog.snapshot();
  EXPECT_OK(snapshot);
  Taken taken{snapshot->generation(), {}};
  const auto names = snapshot->list_tables({"a"});
  EXPECT_OK(names);
  for (const auto& name : *names) {
    const auto found = snapshot->find({{"a"}, name});
    EXPECT_TRUE(found.ok() && *found);
    taken.state[name] = std::string((*found)->metadata_location());
  }
  EXPECT_EQ(other.verify(), std::vector<std::string>{});
  return taken;
}

TEST(BackupUnderLoad, EachIsAGenerationThatExisted) {
  Folder folder;
  Place place({"--map-bytes", "1048576"});
  Catalog catalog = place.world.open();
  ASSERT_OK(catalog.create_namespace({"a"}));
  History history;
  std::atomic<bool> is_over{false};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] { write_until(is_over, catalog, writer, history); });
  }
  const std::uintmax_t bytes_before = store_bytes(place);
  std::vector<Taken> all;
  std::vector<std::uint64_t> before;
  for (int round = 0; round < kRounds; ++round) {
    before.push_back(*catalog.generation());
    const Finished finished = place.run({"backup", folder / "b", "--force"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    all.push_back(restored(folder / "b"));
    // More has happened before the next.
    EXPECT_OK(catalog.wait_for_change(*catalog.generation(), std::chrono::seconds(30)));
  }
  // Larger than the map was at the first backup, however it doubled.
  EXPECT_GT(store_bytes(place), 2 * std::max<std::uintmax_t>(bytes_before, 1 << 20));
  is_over.store(true, std::memory_order_relaxed);  // relaxed: only ends the loops
  for (auto& writer : writers) writer.join();
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_GE(all[round].generation, before[round]) << "what was acknowledged before is in it";
    EXPECT_EQ(all[round].state, history.at(all[round].generation)) << "round " << round;
  }
  EXPECT_GT(all.back().generation, all.front().generation);
  std::printf("generations %llu to %llu, %zu tables\n",
              static_cast<unsigned long long>(all.front().generation),
              static_cast<unsigned long long>(all.back().generation), all.back().state.size());
  EXPECT_EQ(place.world.verify(), std::vector<std::string>{});
}

}  // namespace
}  // namespace iceblink::test
