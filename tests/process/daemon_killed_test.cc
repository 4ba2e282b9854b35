// The daemon dies at every named point of its life, under readers that look up without pause.
// Nothing acknowledged may be missing afterwards, generations go on upwards, and readers follow
// without being told.

#include <csignal>
#include <filesystem>
#include <fstream>

#include "tests/process/reader_process.h"
#include "tests/process/world.h"

namespace iceblink::test {
namespace {

constexpr int kTables = 5;

TableIdent table_number(int i) {
  return {{"ns"}, "t" + std::to_string(i)};
}

/// How one point is reached.
enum class Scenario : std::uint8_t {
  kFirstStart,
  kRestart,
  kReplacement,
  kRestoredStore,
  kCommits,
  kFlipsUnderCommits,
  kStop,
};

std::vector<Scenario> scenarios_of(const std::string& point) {
  if (point == "control.before-create" || point == "control.after-create") {
    return {Scenario::kFirstStart};
  }
  if (point.starts_with("control.")) return {Scenario::kReplacement};
  if (point.starts_with("start.")) return {Scenario::kRestoredStore};
  if (point.starts_with("arena.") || point.starts_with("flip.")) {
    return {Scenario::kRestart, Scenario::kFlipsUnderCommits};
  }
  if (point.starts_with("publish.") || point.starts_with("commit.")) return {Scenario::kCommits};
  if (point.starts_with("stop.")) return {Scenario::kStop};
  return {};
}

/// Points that only requests of the REST protocol pass: commit_killed_test.cc.
bool is_of_requests(const std::string& point) {
  return point.starts_with("metadata.") || point.starts_with("answer.");
}

std::vector<std::string> fault_points() {
  ChildOptions options;
  options.arguments = {"--list-fault-points"};
  ChildDaemon program(options);
  std::vector<std::string> points;
  while (auto line = program.read_line()) points.push_back(*line);
  EXPECT_EQ(program.wait(), 0);
  return points;
}

class Killing {
 public:
  Killing(std::string point, Scenario scenario) : point_(std::move(point)), scenario_(scenario) {}

  void run() {
    if (scenario_ == Scenario::kFirstStart) return run_first_start();
    ASSERT_TRUE(world_.start()) << world_.daemon().errors();
    catalog_.emplace(world_.open());
    ASSERT_OK(catalog_->create_namespace({"ns"}));
    for (int i = 0; i < kTables; ++i) put(i);
    ASSERT_EQ(last_error_, "");
    const bool may_pause = scenario_ == Scenario::kReplacement;
    ReaderProcess reader(world_.runtime_dir(), [may_pause](Catalog& catalog, ReaderPage& page) {
      std::string wrong = judge_progress(catalog, page);
      // Between a retired page and its successor there is nothing to read, and that is said.
      if (may_pause && (wrong.starts_with("snapshot:") || wrong.starts_with("lookup:"))) {
        wrong.clear();
      }
      return wrong;
    });
    reader_ = &reader;
    ASSERT_TRUE(reader.wait_for_lookups(10)) << reader.finish();

    die();
    if (::testing::Test::HasFatalFailure()) return;
    ASSERT_TRUE(reader.wait_for_lookups(1000)) << reader.finish();
    if (!may_pause) expect_what_was_acknowledged();

    ASSERT_TRUE(world_.start(survivor_arguments())) << world_.daemon().errors();
    if (scenario_ != Scenario::kRestoredStore) expect_what_was_acknowledged();
    const auto generation = catalog_->generation();
    ASSERT_OK(generation);
    EXPECT_GE(*generation, acknowledged_);
    last_error_.clear();
    for (int i = 0; i < kTables; ++i) put(i);
    EXPECT_EQ(last_error_, "");
    expect_what_was_acknowledged();
    ASSERT_TRUE(reader.wait_for_lookups(1000)) << reader.finish();
    EXPECT_EQ(reader.finish(), "");
    EXPECT_EQ(world_.verify(), std::vector<std::string>{});
    reader_ = nullptr;
  }

 private:
  void run_first_start() {
    ASSERT_FALSE(world_.start({"--fault-point", point_}));
    ASSERT_EQ(world_.daemon().wait(), -SIGKILL);
    ASSERT_TRUE(world_.start()) << world_.daemon().errors();
    catalog_.emplace(world_.open());
    ASSERT_OK(catalog_->create_namespace({"ns"}));
    put(0);
    EXPECT_EQ(last_error_, "");
    EXPECT_EQ(world_.verify(), std::vector<std::string>{});
  }

  /// Moves a table's pointer; keeps what was acknowledged, and what may have happened.
  void put(int i) {
    const std::string location = "s3://w/" + table_number(i).name + "@" + std::to_string(++number_);
    const auto done = World::put(*catalog_, table_number(i), location);
    if (done) {
      EXPECT_GT(*done, acknowledged_);
      acknowledged_ = *done;
      known_[i] = location;
      maybe_.erase(i);
      // An acknowledged write is visible at once.
      const auto found = catalog_->resolve_location(table_number(i));
      ASSERT_OK(found);
      EXPECT_EQ(*found, location);
      if (reader_ != nullptr) {
        reader_->page().acknowledged.store(acknowledged_, std::memory_order_release);
      }
    } else {
      last_error_ = done.error().message();
      if (done.error().kind() == ErrorKind::kStateUnknown) maybe_[i] = location;
    }
  }

  void put_until_it_dies() {
    for (int n = 0; n < 20'000 && last_error_.empty(); ++n) put(n % kTables);
    EXPECT_NE(last_error_, "") << "the fault point was never passed";
    EXPECT_EQ(world_.daemon().wait(), -SIGKILL);
  }

  void start_and_die(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--fault-point", point_});
    ASSERT_FALSE(world_.start(std::move(arguments))) << "the fault point was never passed";
    ASSERT_EQ(world_.daemon().wait(), -SIGKILL);
  }

  void die() {
    switch (scenario_) {
      case Scenario::kFirstStart:
        break;
      case Scenario::kRestart:
        world_.kill_daemon();
        start_and_die({});
        break;
      case Scenario::kReplacement: {
        world_.kill_daemon();
        std::fstream control(world_.runtime_dir() + "/control",
                             std::ios::in | std::ios::out | std::ios::binary);
        control.seekg(40);  // the store's uuid: as if another store's daemon had been here
        const int byte = control.get();
        control.seekp(40);
        control.put(static_cast<char>(~byte));
        control.close();
        start_and_die({"--replace-control"});
        break;
      }
      case Scenario::kRestoredStore: {
        ASSERT_EQ(world_.stop_daemon(), 0);
        const std::string copy = world_.data_dir() + ".copy";
        std::filesystem::copy(world_.data_dir(), copy, std::filesystem::copy_options::recursive);
        ASSERT_TRUE(world_.start());
        for (int i = 0; i < kTables; ++i) put(i);
        world_.kill_daemon();
        std::filesystem::remove_all(world_.data_dir());
        std::filesystem::rename(copy, world_.data_dir());
        start_and_die({});
        break;
      }
      case Scenario::kCommits:
        world_.kill_daemon();
        ASSERT_TRUE(world_.start({"--fault-point", point_ + ":3"}));
        put_until_it_dies();
        break;
      case Scenario::kFlipsUnderCommits:
        world_.kill_daemon();
        // The first pass is the start's own arena.
        ASSERT_TRUE(world_.start({"--headroom-bytes", "65536", "--fault-point", point_ + ":2"}));
        put_until_it_dies();
        break;
      case Scenario::kStop:
        world_.kill_daemon();
        ASSERT_TRUE(world_.start({"--fault-point", point_}));
        ASSERT_EQ(world_.stop_daemon(), -SIGKILL);
        break;
    }
  }

  [[nodiscard]] std::vector<std::string> survivor_arguments() const {
    if (scenario_ == Scenario::kReplacement) return {"--replace-control"};
    return {};
  }

  void expect_what_was_acknowledged() {
    for (const auto& [i, location] : known_) {
      const auto found = catalog_->resolve_location(table_number(i));
      ASSERT_OK(found);
      const bool unanswered = maybe_.contains(i) && *found == maybe_[i];
      EXPECT_TRUE(*found == location || unanswered)
          << table_number(i).name << ": " << *found << ", acknowledged was " << location;
    }
  }

  const std::string point_;
  const Scenario scenario_;
  World world_;
  std::optional<Catalog> catalog_;
  ReaderProcess* reader_ = nullptr;
  std::uint64_t number_ = 0;
  std::uint64_t acknowledged_ = 0;
  std::map<int, std::string> known_;
  std::map<int, std::string> maybe_;
  std::string last_error_;
};

TEST(DaemonKilled, AtAnyNamedPointLosesNothingAndStopsNobody) {
  const auto points = fault_points();
  ASSERT_GE(points.size(), 20U);
  std::size_t killed = 0;
  for (const auto& point : points) {
    if (is_of_requests(point)) continue;
    const auto scenarios = scenarios_of(point);
    EXPECT_FALSE(scenarios.empty()) << "nothing reaches " << point;
    for (const Scenario scenario : scenarios) {
      SCOPED_TRACE(point + ", scenario " + std::to_string(static_cast<int>(scenario)));
      Killing(point, scenario).run();
      if (HasFatalFailure()) return;
      ++killed;
    }
  }
  std::printf("%zu fault points, killed %zu times\n", points.size(), killed);
}

}  // namespace
}  // namespace iceblink::test
