// Tries faults, one after another, on the commits of one daemon, and judges what became of each.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/faults/commit_scenarios.h"
#include "tests/faults/fault_list.h"
#include "tests/faults/fault_switch.h"
#include "tests/faults/warehouse_judge.h"
#include "tests/process/reader_process.h"
#include "tests/process/world.h"

namespace iceblink::test {

struct CampaignFigures {
  int tried = 0;
  int fired = 0;
  int done = 0;     // the commit was acknowledged all the same
  int refused = 0;  // with an error that says that nothing was done
  int unknown = 0;  // 500, or no answer
  int exits = 0;    // of the daemon, with a message
};

/// The daemons that `world` starts from now on can be made to fail.
void put_under_faults(World& world, const FaultSwitch& faults);
/// Whether it answers a request. Asked twice, so that the end of one connection is met too.
[[nodiscard]] bool daemon_answers(const World& world);
/// The daemon has ended, or is about to, by itself. Fails the test unless its last line says what
/// failed: the error's words, the call, or the file that it fired on.
void expect_clear_end(World& world, const Fault& fault, const std::string& fired_on);

class Campaign {
 public:
  Campaign();
  ~Campaign();

  /// Starts the daemon, makes what the scenarios need, and a reader process that judges throughout.
  void prepare();
  /// Fails every call that the scenario's commit makes, in turn. Each `stride`th fault is tried,
  /// from number `first` on.
  void run(const CommitScenario& scenario, std::size_t first, std::size_t stride);
  /// The reader saw nothing wrong, and `iceblink verify` finds nothing.
  void finish();

  [[nodiscard]] const CampaignFigures& figures() const { return figures_; }

 private:
  void start_daemon();
  [[nodiscard]] CallCounts count_calls(const CommitScenario& scenario);
  void try_fault(const CommitScenario& scenario, const Fault& fault);
  [[nodiscard]] Outcome attempt(const CommitScenario& scenario, const Version& before);
  void bury_daemon(const Fault& fault);
  /// The one version that all tables have, in the store and in the segment; fails the test when
  /// there is none.
  [[nodiscard]] Version agreed_version(const std::vector<std::string>& tables);
  void verify_by_program();

  World world_;
  FaultSwitch switch_;
  std::unique_ptr<ReaderProcess> reader_;
  std::optional<Catalog> catalog_;
  WarehouseJudge warehouse_;
  CampaignFigures figures_;
  int attempt_number_ = 0;
  std::string last_answer_;
};

}  // namespace iceblink::test
