#include "tests/faults/campaign.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "tests/client/program.h"
#include "tests/faults/faulty_child.h"
#include "tests/process/rest_requests.h"

namespace iceblink::test {
namespace {

using faults::Action;
using faults::Call;

constexpr int kVerifyEvery = 100;
constexpr int kTriesMax = 4;  // of a fault that is not met
constexpr std::chrono::seconds kPatience{10};

std::string text_of(const Version& version) {
  return version ? std::to_string(*version) : "none";
}

}  // namespace

bool daemon_answers(const World& world) {
  for (int tries = 0; tries < 2; ++tries) {
    auto client = connect(world);
    if (!client.is_connected()) continue;
    if (!client.send(HttpClient::text_of({.target = "/v1/namespaces/ns"}))) continue;
    if (client.receive()) return true;
  }
  return false;
}

void expect_clear_end(World& world, const Fault& fault, const std::string& fired_on) {
  const int status = world.daemon().wait();
  const std::string errors = world.daemon().errors();
  EXPECT_GT(status, 0) << errors;
  EXPECT_NE(status, 127) << errors;
  const auto end = errors.find_last_not_of('\n');
  const auto begin = end == std::string::npos ? end : errors.rfind('\n', end);
  const std::string last = begin == std::string::npos ? errors : errors.substr(begin + 1);
  std::vector<std::string> names{std::string(faults::name_of(fault.call))};
  if (fault.error != 0) names.emplace_back(std::strerror(fault.error));
  if (fired_on.starts_with('/')) names.push_back(fired_on);
  EXPECT_TRUE(
      std::any_of(names.begin(), names.end(),
                  [&](const std::string& name) { return last.find(name) != std::string::npos; }))
      << "the daemon ended with " << status << " and did not say what failed: " << errors;
}

void put_under_faults(World& world, const FaultSwitch& faults) {
  world.set_environment(
      {{"LD_PRELOAD", kFaultLibrary}, {"ICEBLINK_FILE_FAULTS", "page:" + faults.file()}});
}

Campaign::Campaign()
    : world_("/dev/shm"),  // no power is lost here, so that no sync has to be waited for
      switch_(world_.data_dir() + ".faults"),
      warehouse_(world_.data_dir() + "/warehouse") {
  put_under_faults(world_, switch_);
}

Campaign::~Campaign() = default;

void Campaign::start_daemon() {
  ASSERT_TRUE(world_.start(scenario_arguments())) << world_.daemon().errors();
}

void Campaign::prepare() {
  start_daemon();
  for (const HttpRequest& request : preparations()) {
    const auto answer = connect(world_).request(request);
    ASSERT_LT(answer.status, 300) << answer.body;
  }
  reader_ = std::make_unique<ReaderProcess>(
      world_.runtime_dir(), [](Catalog& catalog, ReaderPage&) { return judge_snapshot(catalog); });
  ASSERT_TRUE(reader_->wait_for_lookups(10)) << reader_->finish();
  catalog_ = world_.open();
}

Outcome Campaign::attempt(const CommitScenario& scenario, const Version& before) {
  auto client = connect(world_);
  std::optional<HttpResponse> answer;
  if (client.send(HttpClient::text_of(scenario.request(attempt_number_, before)))) {
    answer = client.receive();
  }
  last_answer_ = answer ? std::to_string(answer->status) + " " + answer->body : "no answer";
  return outcome_of(answer);
}

void Campaign::bury_daemon(const Fault& fault) {
  ++figures_.exits;
  expect_clear_end(world_, fault, switch_.fired_on());
}

Version Campaign::agreed_version(const std::vector<std::string>& tables) {
  std::optional<Version> agreed;
  for (const auto& table : tables) {
    Version version;
    const auto location = catalog_->resolve_location({{"ns"}, table});
    if (location) {
      version = version_of(*location);
      warehouse_.note_named(*location);
    } else {
      EXPECT_EQ(location.error().kind(), ErrorKind::kNotFound) << location.error().message();
    }
    if (!agreed) agreed = version;
    EXPECT_EQ(text_of(version), text_of(*agreed)) << table << ": done in parts";
    // Where there are files, the daemon reads them too.
    if (!version || location->starts_with("/none/")) continue;
    const auto loaded = connect(world_).get("/v1/namespaces/ns/tables/" + table);
    EXPECT_EQ(loaded.status, 200) << loaded.body;
    if (loaded.status == 200) {
      EXPECT_EQ(loaded.json().at("metadata-location").as_string(), *location);
    }
  }
  return *agreed;
}

CallCounts Campaign::count_calls(const CommitScenario& scenario) {
  CallCounts counts{};
  // The first one is under nothing, since what it makes once is not made again; and others are at
  // work at the same time, so that two runs differ a little, and what must come may come later.
  const auto has_made_all = [&] {
    return std::ranges::all_of(
        scenario.must_make, [&](Call call) { return counts[static_cast<std::size_t>(call)] > 0; });
  };
  constexpr int kRunsMax = 64;
  for (int i = 0; i < 4 || (i < kRunsMax && !has_made_all()); ++i) {
    const Version before = agreed_version(scenario.tables(++attempt_number_));
    switch_.arm({});
    EXPECT_EQ(attempt(scenario, before), Outcome::kDone) << last_answer_;
    EXPECT_TRUE(daemon_answers(world_));
    switch_.disarm();
    const CallCounts these = switch_.counts();
    for (std::size_t call = 0; i > 0 && call < counts.size(); ++call) {
      counts[call] = std::max(counts[call], these[call]);
    }
  }
  for (const Call call : scenario.must_make) {
    EXPECT_GT(counts[static_cast<std::size_t>(call)], 0u)
        << scenario.name << " makes no " << faults::name_of(call);
  }
  return counts;
}

void Campaign::try_fault(const CommitScenario& scenario, const Fault& fault) {
  const auto tables = scenario.tables(++attempt_number_);
  const Version before = agreed_version(tables);
  switch_.arm(fault);
  const auto begun_at = std::chrono::steady_clock::now();
  const Outcome outcome = attempt(scenario, before);
  const bool is_there = daemon_answers(world_);
  const auto taken = std::chrono::steady_clock::now() - begun_at;
  switch_.disarm();
  if (switch_.has_fired()) ++figures_.fired;
  SCOPED_TRACE(scenario.name + ": " + text_of(fault) + " on " + switch_.fired_on() + ": " +
               last_answer_);
  EXPECT_LT(taken, kPatience) << "somebody was left waiting";
  if (!is_there) {
    bury_daemon(fault);
    start_daemon();
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(warehouse_.judge(), "");
  const Version after = agreed_version(tables);
  const Version next = before ? *before + 1 : 0;
  if (outcome == Outcome::kDone) {
    ++figures_.done;
    EXPECT_EQ(text_of(after), text_of(next)) << "acknowledged and lost";
  } else if (outcome == Outcome::kRefused) {
    ++figures_.refused;
    EXPECT_EQ(text_of(after), text_of(before)) << "refused and done";
  } else {
    ++figures_.unknown;
    EXPECT_TRUE(after == before || after == next) << text_of(after);
  }
  // And on it goes.
  const auto more = scenario.tables(++attempt_number_);
  const Version from = agreed_version(more);
  EXPECT_EQ(attempt(scenario, from), Outcome::kDone) << "the commit after: " << last_answer_;
  EXPECT_EQ(text_of(agreed_version(more)), text_of(from ? *from + 1 : Version(0)));
  EXPECT_EQ(world_.verify(), std::vector<std::string>{});
}

void Campaign::run(const CommitScenario& scenario, std::size_t first, std::size_t stride) {
  const CallCounts counts = count_calls(scenario);
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto more = faults_of(static_cast<Call>(i), counts[i]);
    faults.insert(faults.end(), more.begin(), more.end());
  }
  const CampaignFigures before = figures_;
  for (std::size_t i = first; i < faults.size() && !::testing::Test::HasFatalFailure();
       i += stride) {
    ++figures_.tried;
    // A call that comes beside the commits, as those of a flip, may come in the next attempt.
    const int met_before = figures_.fired;
    for (int tries = 0; tries < kTriesMax && figures_.fired == met_before; ++tries) {
      try_fault(scenario, faults[i]);
    }
    if ((i / stride) % kVerifyEvery == kVerifyEvery - 1) {
      // And what it wrote to its log so far would fill a pipe.
      EXPECT_EQ(world_.stop_daemon(), 0) << world_.daemon().errors();
      start_daemon();
      verify_by_program();
    }
  }
  std::printf(
      "%s: %d faults tried, %d met, %d commits acknowledged, %d refused, %d unknown, "
      "%d exits of the daemon; %zu metadata files, all whole, %zu of them named by nothing\n",
      scenario.name.c_str(), figures_.tried - before.tried, figures_.fired - before.fired,
      figures_.done - before.done, figures_.refused - before.refused,
      figures_.unknown - before.unknown, figures_.exits - before.exits, warehouse_.file_count(),
      warehouse_.unnamed_count());
  // What comes at another time, or not at all, is met less often.
  EXPECT_GT((figures_.fired - before.fired) * 10, (figures_.tried - before.tried) * 7);
}

void Campaign::verify_by_program() {
  iceblink::testing::Program program("iceblink", {"--dir", world_.runtime_dir(), "verify"});
  const auto verified = program.wait();
  EXPECT_EQ(verified.exit_code, 0) << verified.out << verified.err;
}

void Campaign::finish() {
  EXPECT_EQ(reader_->finish(), "");
  verify_by_program();
}

}  // namespace iceblink::test
