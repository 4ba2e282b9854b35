// One process moves, renames and drops ten tables in one batch, again and again, for 30 seconds;
// four reader processes that hold snapshots never see a mixture, nor an older generation after a
// newer one.

#include <chrono>
#include <deque>

#include "tests/process/reader_process.h"
#include "tests/process/world.h"

namespace iceblink::test {
namespace {

constexpr int kTables = 10;
constexpr auto kDuration = std::chrono::seconds(30);

std::string name(const char* prefix, int i) {
  return prefix + std::to_string(i);
}

/// Four states follow each other, each one batch: all tables as a0..a9; moved; renamed to b0..b9;
/// dropped. Every location holds the round, so parts of two rounds cannot pass for one state.
Batch next_batch(int state, int round) {
  RegisterOptions options;
  options.if_exists = RegisterOptions::IfExists::kOverwrite;
  options.verification = RegisterOptions::Verification::kUnverified;
  Batch batch;
  for (int i = 0; i < kTables; ++i) {
    const TableIdent a{{"ns"}, name("a", i)};
    const TableIdent b{{"ns"}, name("b", i)};
    switch (state) {
      case 0:
        batch.register_table(a, "s3://new@" + std::to_string(round), options);
        break;
      case 1:
        batch.register_table(a, "s3://moved@" + std::to_string(round), options);
        break;
      case 2:
        batch.rename_table(a, b);
        break;
      default:
        batch.drop_table(b);
        break;
    }
  }
  return batch;
}

/// What a snapshot shows, each of the ten tables once: one state, or a description of the mixture.
std::string state_of(const Snapshot& snapshot) {
  std::string first;
  for (int i = 0; i < kTables; ++i) {
    std::string here;
    for (const char* prefix : {"a", "b"}) {
      const auto found = snapshot.find({{"ns"}, name(prefix, i)});
      if (!found) return "error: " + found.error().message();
      if (*found) here += std::string(prefix) + "=" + std::string((*found)->metadata_location());
    }
    if (i == 0) first = here;
    if (here != first) return "mixture: " + first + " and " + here;
  }
  const auto listed = snapshot.list_tables({"ns"});
  if (!listed) return "error: " + listed.error().message();
  if (listed->size() != (first.empty() ? 0 : kTables)) {
    return "mixture: listed " + std::to_string(listed->size()) + " beside " + first;
  }
  return first;
}

bool is_wrong(const std::string& state) {
  return state.starts_with("mixture") || state.starts_with("error");
}

class Judge {
 public:
  std::string operator()(Catalog& catalog, ReaderPage& page) {
    const std::uint64_t acknowledged = page.acknowledged.load(std::memory_order_acquire);
    auto snapshot = catalog.snapshot();
    if (!snapshot) return "snapshot: " + snapshot.error().message();
    if (snapshot->generation() < std::max(last_, acknowledged)) return "an older generation";
    last_ = snapshot->generation();
    const std::string state = state_of(*snapshot);
    if (is_wrong(state)) return state;
    held_.push_back({std::move(*snapshot), state});
    if (held_.size() > 16) held_.pop_front();
    // A snapshot that was taken a while ago still shows the same.
    const auto& [old, seen] = held_[held_.size() / 2];
    if (state_of(old) != seen) return "a held snapshot changed from " + seen;
    return "";
  }

 private:
  std::uint64_t last_ = 0;
  std::deque<std::pair<Snapshot, std::string>> held_;
};

TEST(PointInTime, FourReadersNeverSeeAMixtureForThirtySeconds) {
  World world;
  ASSERT_TRUE(world.start());
  Catalog catalog = world.open();
  ASSERT_OK(catalog.create_namespace({"ns"}));
  std::deque<ReaderProcess> readers;
  for (int i = 0; i < 4; ++i) {
    readers.emplace_back(world.runtime_dir(),
                         [judge = std::make_shared<Judge>()](Catalog& c, ReaderPage& page) {
                           return (*judge)(c, page);
                         });
  }
  const auto end = std::chrono::steady_clock::now() + kDuration;
  int batches = 0;
  for (; std::chrono::steady_clock::now() < end; ++batches) {
    const auto done = catalog.apply(next_batch(batches % 4, batches / 4));
    ASSERT_OK(done);
    for (auto& reader : readers) {
      reader.page().acknowledged.store(*done, std::memory_order_release);
    }
  }
  std::uint64_t lookups = 0;
  for (auto& reader : readers) {
    EXPECT_EQ(reader.finish(), "");
    lookups += reader.page().lookups.load(std::memory_order_relaxed);
  }
  EXPECT_GT(batches, 100);
  std::printf("%d batches of %d operations, %llu snapshots judged\n", batches, kTables,
              static_cast<unsigned long long>(lookups));
  EXPECT_EQ(world.verify(), std::vector<std::string>{});
}

}  // namespace
}  // namespace iceblink::test
