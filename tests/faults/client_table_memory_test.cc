// Every allocation fails, one after another, of what a table's handle does, and of a client that
// follows the segment to another arena or another place.

#include <algorithm>

#include "shm/segment.h"
#include "tests/faults/client_under_faults.h"
#include "tests/faults/failing_allocations.h"

namespace iceblink::test {
namespace {

using TablePointer = std::shared_ptr<const Table>;

/// More than a client that follows allocates.
constexpr int kBehindCount = 60;

class TableMemory : public ClientUnderFaults {
 protected:
  template <typename Call>
  void fail_each(const char* name, const Call& call) {
    fail_each_allocation(
        name, [this] { return load_planned(); }, call);
  }
};

TEST_F(TableMemory, IsReportedBySnapshots) {
  fail_each("snapshots", [](const TablePointer& table) -> Status {
    ICEBLINK_ASSIGN_OR_RETURN(const TableSnapshot* current, table->current_snapshot());
    ICEBLINK_RETURN_IF_ERROR(status_of(table->schema_of(*current)));
    ICEBLINK_RETURN_IF_ERROR(status_of(table->snapshot(kFirstSnapshot)));
    ICEBLINK_RETURN_IF_ERROR(status_of(table->snapshot_of_ref("main")));
    ICEBLINK_RETURN_IF_ERROR(status_of(table->snapshot_as_of(2000)));
    ICEBLINK_ASSIGN_OR_RETURN(const auto ancestors, table->ancestors(kLastSnapshot));
    EXPECT_EQ(ancestors.size(), 2u);
    return Ok{};
  });
}

TEST_F(TableMemory, IsReportedByManifests) {
  fail_each("manifest_list", [](const TablePointer& table) {
    return status_of(table->manifest_list(kLastSnapshot));
  });
  const auto keeper = load_planned();
  const auto list = keeper->manifest_list(kLastSnapshot);
  ASSERT_OK(list);
  const std::span<const ManifestFile> listed = (*list)->manifests();
  ASSERT_EQ(listed.size(), 3u);
  fail_each("manifest",
            [&](const TablePointer& table) { return status_of(table->manifest(listed.front())); });
  fail_each("manifests", [&](const TablePointer& table) -> Status {
    ICEBLINK_ASSIGN_OR_RETURN(const auto read, table->manifests(listed));
    for (const auto& manifest : read) ICEBLINK_RETURN_IF_ERROR(status_of(manifest));
    return Ok{};
  });
}

TEST_F(TableMemory, IsReportedByPlans) {
  fail_each("files", [](const TablePointer& table) -> Status {
    ICEBLINK_ASSIGN_OR_RETURN(const FileList list, table->files(kLastSnapshot));
    EXPECT_EQ(list.files().size(), 6u);
    return Ok{};
  });
  fail_each("plan_files", [](const TablePointer& table) -> Status {
    ICEBLINK_ASSIGN_OR_RETURN(const FilePlan plan, table->plan_files());
    EXPECT_EQ(plan.tasks().size(), 5u);
    return Ok{};
  });
  PlanOptions options;
  options.predicate =
      Predicate::compare("kind", Comparison::kEqual, "odd") && Predicate::not_null("id");
  fail_each("plan_files with a predicate", [&](const TablePointer& table) -> Status {
    ICEBLINK_ASSIGN_OR_RETURN(const FilePlan plan, table->plan_files(kLastSnapshot, options));
    EXPECT_EQ(plan.tasks().size(), 3u);
    return Ok{};
  });
}

/// Made while `make` gave them what is gone by now.
template <typename Subject>
class Stock {
 public:
  template <typename Make>
  explicit Stock(const Make& make) {
    for (int i = 0; i < kBehindCount; ++i) subjects_.push_back(make());
  }
  [[nodiscard]] Subject take() {
    EXPECT_FALSE(subjects_.empty()) << "more allocations than expected";
    if (subjects_.empty()) std::abort();
    Subject last = std::move(subjects_.back());
    subjects_.pop_back();
    return last;
  }

 private:
  std::vector<Subject> subjects_;
};

TEST_F(TableMemory, IsReportedByWaitersWhoseArenaIsReplaced) {
  Stock<Catalog> behind([this] { return world_.open(); });
  flip();
  if (HasFatalFailure()) return;
  fail_each_allocation(
      "wait_for_change", [&] { return behind.take(); },
      [](Catalog& c) { return status_of(c.wait_for_change(1, std::chrono::milliseconds(0))); });
}

TEST_F(TableMemory, IsReportedByTheCheckOfThePlace) {
  using SegmentPointer = std::unique_ptr<shm::Segment>;
  Stock<SegmentPointer> behind([this] {
    auto segment = shm::Segment::attach(world_.runtime_dir(), std::chrono::milliseconds(0));
    EXPECT_OK(segment);
    return std::move(*segment);
  });
  ASSERT_EQ(world_.stop_daemon(), 0);
  for (const auto& file : std::filesystem::directory_iterator(world_.runtime_dir())) {
    std::filesystem::remove_all(file);
  }
  ASSERT_TRUE(world_.start(scenario_arguments())) << world_.daemon().errors();
  fail_each_allocation(
      "check_place", [&] { return behind.take(); },
      [](const SegmentPointer& segment) { return segment->check_place(); });
}

}  // namespace
}  // namespace iceblink::test
