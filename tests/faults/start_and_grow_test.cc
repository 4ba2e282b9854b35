// System calls that fail while the daemon starts, and while its store's map grows.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "tests/faults/campaign.h"
#include "tests/process/rest_requests.h"

namespace iceblink::test {
namespace {

using faults::Call;

/// Of those that a start may meet, unless ICEBLINK_FAULTS_ALL is set.
constexpr std::size_t kStartFaultsMax = 100;
constexpr int kTables = 1500;

std::vector<Fault> all_faults_of(const CallCounts& counts, std::initializer_list<Call> calls) {
  std::vector<Fault> faults;
  for (const Call call : calls) {
    const std::uint64_t count = counts[static_cast<std::size_t>(call)];
    EXPECT_GT(count, 0u) << "makes no " << faults::name_of(call);
    const auto more = faults_of(call, count);
    faults.insert(faults.end(), more.begin(), more.end());
  }
  return faults;
}

class StartingUnderFaults : public ::testing::Test {
 protected:
  StartingUnderFaults() : switch_(world_.data_dir() + ".faults") {
    put_under_faults(world_, switch_);
  }

  bool start() { return world_.start(scenario_arguments()); }
  void expect_everything_is_there() {
    const Catalog catalog = world_.open();
    for (const char* const table : {"p1", "f1", "r", "x", "y"}) {
      EXPECT_OK(catalog.resolve_location({{"ns"}, table}));
      if (table[0] == 'p' || table[0] == 'f') continue;
      EXPECT_OK(catalog.resolve_metadata(TableIdent{{"ns"}, table}));
    }
    EXPECT_EQ(world_.verify(), std::vector<std::string>{});
  }

  World world_;
  FaultSwitch switch_;
};

TEST_F(StartingUnderFaults, StartsOrSaysWhyNotAndLosesNothing) {
  ASSERT_TRUE(start()) << world_.daemon().errors();
  for (const HttpRequest& request : preparations()) {
    ASSERT_LT(connect(world_).request(request).status, 300);
  }
  ASSERT_EQ(world_.stop_daemon(), 0);
  switch_.arm({});
  ASSERT_TRUE(start()) << world_.daemon().errors();
  switch_.disarm();
  const auto all = all_faults_of(
      switch_.counts(),
      {Call::kOpen, Call::kStat, Call::kFstat, Call::kStatfs, Call::kRead, Call::kPwrite,
       Call::kFdatasync, Call::kFtruncate, Call::kFallocate, Call::kMmap, Call::kUnlink,
       Call::kPthreadCreate, Call::kLseek, Call::kClose, Call::kEpollCtl});
  const bool tries_all = ::getenv("ICEBLINK_FAULTS_ALL") != nullptr;
  const std::size_t stride = tries_all ? 1 : all.size() / kStartFaultsMax + 1;
  int tried = 0;
  int started = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i % stride != 0 && all[i].call != Call::kEpollCtl) continue;
    ++tried;
    world_.stop_daemon();
    switch_.arm(all[i]);
    const bool has_started = start();
    switch_.disarm();
    SCOPED_TRACE(text_of(all[i]) + " on " + switch_.fired_on());
    if (has_started) {
      ++started;
    } else {
      expect_clear_end(world_, all[i], switch_.fired_on());
      ASSERT_TRUE(start()) << world_.daemon().errors();
    }
    expect_everything_is_there();
  }
  std::printf("start: %d of %zu faults tried, %d starts all the same\n", tried, all.size(),
              started);
  EXPECT_EQ(world_.stop_daemon(), 0);
}

// A store of its own for each fault.
struct Growing {
  Growing() : faults(world.data_dir() + ".faults") { put_under_faults(world, faults); }

  void prepare() {
    ASSERT_TRUE(world.start({"--map-bytes", "1048576", "--log-level", "warning"}));
    catalog = world.open();
    ASSERT_OK(catalog->create_namespace({"ns"}));
    ASSERT_OK(World::put(*catalog, {{"ns"}, "before"}, "/none/1.metadata.json"));
  }
  /// More than the map holds.
  Result<std::uint64_t> put_many() {
    RegisterOptions options;
    options.verification = RegisterOptions::Verification::kUnverified;
    options.if_exists = RegisterOptions::IfExists::kOverwrite;
    Batch batch;
    for (int i = 0; i < kTables; ++i) {
      batch.register_table({{"ns"}, "t" + std::to_string(i)}, std::string(600, 'x'), options);
    }
    return catalog->apply(batch);
  }
  /// All of them or none.
  std::size_t count() {
    const auto names = catalog->list_tables({"ns"});
    EXPECT_OK(names);
    return names->size() - 1;
  }

  World world;
  FaultSwitch faults;
  std::optional<Catalog> catalog;
};

void grow_under(const Fault& fault, int& exits) {
  Growing growing;
  growing.prepare();
  if (::testing::Test::HasFatalFailure()) return;
  growing.faults.arm(fault);
  const auto done = growing.put_many();
  growing.faults.disarm();
  SCOPED_TRACE(text_of(fault) + " on " + growing.faults.fired_on() +
               (done ? "" : ": " + done.error().message()));
  // Who gets no answer, or whom nobody answers after it, waits for the end.
  if (!daemon_answers(growing.world) ||
      (!done && done.error().kind() == ErrorKind::kStateUnknown)) {
    ++exits;
    expect_clear_end(growing.world, fault, growing.faults.fired_on());
    ASSERT_TRUE(growing.world.start()) << growing.world.daemon().errors();
    const std::size_t count = growing.count();
    EXPECT_TRUE(count == 0 || count == kTables) << count;
  } else {
    EXPECT_EQ(growing.count(), done ? std::size_t{kTables} : 0u);
  }
  EXPECT_OK(growing.catalog->resolve_location({{"ns"}, "before"}));
  EXPECT_OK(growing.put_many());
  EXPECT_EQ(growing.count(), std::size_t{kTables});
  EXPECT_EQ(growing.world.verify(), std::vector<std::string>{});
}

TEST(GrowingUnderFaults, GrowsOrRefusesAndLosesNothing) {
  CallCounts counts{};
  {
    Growing growing;
    growing.prepare();
    if (::testing::Test::HasFatalFailure()) return;
    growing.faults.arm({});
    ASSERT_OK(growing.put_many());
    growing.faults.disarm();
    counts = growing.faults.counts();
  }
  const auto all = all_faults_of(counts, {Call::kMmap, Call::kFdatasync, Call::kPwrite});
  int exits = 0;
  for (const Fault& fault : all) {
    grow_under(fault, exits);
    if (::testing::Test::HasFatalFailure()) return;
  }
  std::printf("grow: %zu faults tried, %d exits of the daemon\n", all.size(), exits);
}

}  // namespace
}  // namespace iceblink::test
