// Every system call that a client's call makes fails once, in turn and in every way that fits, with
// those of io_uring among them: the call does without or says what failed, leaves no descriptor
// behind, and the next one succeeds.

#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>

#include "tests/faults/client_under_faults.h"
#include "tests/faults/fault_list.h"
#include "tests/faults/faulty_child.h"

namespace iceblink::test {
namespace {

using faults::Action;
using faults::Call;

constexpr const char* kPageVariable = "ICEBLINK_TEST_PAGE";
constexpr const char* kRuntimeVariable = "ICEBLINK_TEST_RUNTIME_DIR";

/// Less than any deadline of the client.
constexpr std::chrono::seconds kPatience{3};

/// How many calls one use makes differs with how soon the daemon answers: so many runs are counted,
/// and a fault whose call is not made is tried so many times.
constexpr int kRuns = 8;

std::size_t open_descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& fd : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

/// What may be said of it; a short call or a signal in a transfer is gone on from.
bool is_right(const Fault& fault, ErrorKind kind, bool is_write) {
  if (fault.action == Action::kShort) return false;
  if (is_write && kind == ErrorKind::kStateUnknown) return true;
  if (kind == ErrorKind::kNoDaemon) return fault.call >= Call::kAccept;
  switch (fault.error) {
    case EINTR:
      return kind == ErrorKind::kIo && fault.call < Call::kRead;
    case ENOMEM:
      return kind == ErrorKind::kOutOfMemory;
    case ENOSPC:
      return kind == ErrorKind::kNoSpace || kind == ErrorKind::kIo;
    default:
      return kind == ErrorKind::kIo;
  }
}

struct Figures {
  int tried = 0;
  int met = 0;
  int told = 0;
};

/// One way to use a client; what it needs is made before anything fails.
struct Use {
  const char* name;
  bool is_write = false;
  /// Makes the call ready, on a catalog of its own.
  std::function<std::function<Status()>(Catalog)> prepare;
};

std::vector<Use> uses() {
  const std::string runtime_dir = std::getenv(kRuntimeVariable);
  const std::vector<TableIdent> idents{kTable, {{"ns"}, "x"}, {{"ns"}, "y"}};
  const auto of_table = [](auto work) {
    return [work](const Catalog& catalog) -> std::function<Status()> {
      return [work, table = catalog.load_table(kPlanned).value()] { return work(*table); };
    };
  };
  RegisterOptions options;
  options.verification = RegisterOptions::Verification::kUnverified;
  options.if_exists = RegisterOptions::IfExists::kOverwrite;
  return {{"open", false,
           [=](const Catalog&) { return [=] { return status_of(Catalog::open(runtime_dir)); }; }},
          {"load_table", false,
           [](Catalog c) { return [c] { return status_of(c.load_table(kPlanned)); }; }},
          {"load_tables", false,
           [=](Catalog c) {
             return [c, idents]() -> Status {
               const auto tables = c.load_tables(idents);
               if (!tables) return tables.error();
               for (const auto& table : *tables) ICEBLINK_RETURN_IF_ERROR(status_of(table));
               return Ok{};
             };
           }},
          {"plan_files", false,
           of_table([](const Table& table) { return status_of(table.plan_files()); })},
          {"namespace_properties", false,
           [](Catalog c) { return [c] { return status_of(c.namespace_properties(kNamespace)); }; }},
          {"register_table", true, [=](Catalog c) {
             return [c, options]() mutable {
               return status_of(c.register_table({{"ns"}, "b"}, "/none/1-b.json", options));
             };
           }}};
}

/// What is wrong; empty: nothing.
std::string try_once(const Use& use, const Fault& fault, FaultSwitch& page, bool& is_told) {
  const std::size_t before = open_descriptors();
  std::string wrong;
  {
    const auto call = use.prepare(Catalog::open(std::getenv(kRuntimeVariable)).value());
    page.arm(fault);
    const auto begun_at = std::chrono::steady_clock::now();
    const Status status = call();
    if (std::chrono::steady_clock::now() - begun_at > kPatience) wrong = "it waits; ";
    page.disarm();
    const bool is_made = page.counts()[static_cast<std::size_t>(fault.call)] >= fault.at_number;
    if (is_made != page.has_fired()) wrong += is_made ? "not failed; " : "fired early; ";
    is_told = !status;
    if (!status) {
      if (!is_right(fault, status.error().kind(), use.is_write)) {
        wrong += std::string(to_string(status.error().kind())) + ": " + status.error().message();
      }
    }
    const Status again = call();
    if (!again) wrong += " and again: " + again.error().message();
  }
  if (open_descriptors() != before) wrong += " leaves descriptors open";
  return wrong.empty() ? wrong : text_of(fault) + " on " + page.fired_on() + ": " + wrong;
}

std::string try_fault(const Use& use, const Fault& fault, FaultSwitch& page, Figures& figures) {
  std::string wrong;
  bool is_told = false;
  for (int i = 0; i < kRuns && wrong.empty() && (i == 0 || !page.has_fired()); ++i) {
    wrong = try_once(use, fault, page, is_told);
  }
  ++figures.tried;
  if (page.has_fired()) ++figures.met;
  if (is_told) ++figures.told;
  return wrong;
}

CallCounts count_calls(const Use& use, FaultSwitch& page) {
  Catalog catalog = Catalog::open(std::getenv(kRuntimeVariable)).value();
  const auto call = use.prepare(catalog);
  page.arm({});
  const Status status = call();
  page.disarm();
  if (!status) std::fprintf(stderr, "%s: %s\n", use.name, status.error().message().c_str());
  return page.counts();
}

/// The most of several runs, once what is made once and not again has been made.
CallCounts most_calls(const Use& use, FaultSwitch& page) {
  CallCounts most{};
  static_cast<void>(count_calls(use, page));
  for (int run = 0; run < kRuns; ++run) {
    const CallCounts counts = count_calls(use, page);
    for (std::size_t i = 0; i < counts.size(); ++i) most[i] = std::max(most[i], counts[i]);
  }
  return most;
}

int fail_each_call() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  FaultSwitch page(std::getenv(kPageVariable));
  int wrong_count = 0;
  for (const Use& use : uses()) {
    const CallCounts counts = most_calls(use, page);
    Figures figures;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      for (const Fault& fault : faults_of(static_cast<Call>(i), counts[i])) {
        const std::string wrong = try_fault(use, fault, page, figures);
        if (wrong.empty()) continue;
        ++wrong_count;
        std::fprintf(stderr, "%s: %s\n", use.name, wrong.c_str());
      }
    }
    std::printf("%s: %d faults tried, %d met, %d told, the others done without\n", use.name,
                figures.tried, figures.met, figures.told);
    // A wait for the daemon, its poll and second recv, is six of the fourteen of one request.
    if (figures.met * 2 < figures.tried) {
      ++wrong_count;
      std::fprintf(stderr, "%s: too few are met\n", use.name);
    }
  }
  std::fflush(nullptr);
  return wrong_count == 0 ? 0 : 1;
}
const FaultyPiece kFailEachCall("fail_each_call", fail_each_call);

class ClientCalls : public ClientUnderFaults {};

TEST_F(ClientCalls, MayFailOnceAndSaySo) {
  const FaultSwitch page(world_.data_dir() + ".faults");
  ::setenv(kPageVariable, page.file().c_str(), 1);
  ::setenv(kRuntimeVariable, world_.runtime_dir().c_str(), 1);
  EXPECT_EQ(run_under_faults("page:" + page.file(), "fail_each_call", world_.data_dir()), 0);
}

}  // namespace
}  // namespace iceblink::test
