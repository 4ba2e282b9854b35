// Numbers, progress and metrics, as the program shows and reads them.
#include <gmock/gmock.h>

#include "client/cli/doctor/command_output.h"
#include "client/cli/number_text.h"
#include "client/cli/progress.h"
#include "client/cli/status/daemon_answers.h"
#include "client/cli/status/instance_status.h"

namespace iceblink::cli {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ProgressLine, HasABarOnceTheTotalIsKnown) {
  EXPECT_EQ(Progress::line_of("tables", 500, 1000, seconds(2)),
            "[############............]  50 %  500/1,000 tables, 250/s, 2 s left");
  EXPECT_EQ(Progress::line_of("tables", 1000, 1000, seconds(2)),
            "[########################] 100 %  1,000/1,000 tables, 500/s");
  EXPECT_EQ(Progress::line_of("tables", 0, 1000, milliseconds(0)),
            "[........................]   0 %  0/1,000 tables");
}

TEST(ProgressLine, CountsWithoutATotal) {
  EXPECT_EQ(Progress::line_of("files", 12'345, std::nullopt, seconds(1)), "12,345 files, 12,345/s");
  EXPECT_EQ(Progress::line_of("files", 3, std::nullopt, milliseconds(10)), "3 files");
}

TEST(ProgressLine, BearsMoreThanTheTotalAndNothingToDo) {
  EXPECT_EQ(Progress::line_of("files", 12, 10, milliseconds(10)),
            "[########################] 100 %  12/10 files");
  EXPECT_EQ(Progress::line_of("files", 0, 0, milliseconds(10)),
            "[########################] 100 %  0/0 files");
}

TEST(ProgressLine, FitsATerminal) {
  const std::string line = Progress::line_of(std::string(100, 'x'), 1'000'000'000'000,
                                             std::uint64_t{1} << 60, seconds(1));
  EXPECT_LE(line.size(), 82U);  // the last character, "…", has three bytes
}

TEST(NumberText, IsGroupedAndHasUnits) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1'234'567), "1,234,567");
  EXPECT_EQ(bytes_text(1023), "1023 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(std::uint64_t{12} << 20), "12.0 MiB");
  EXPECT_EQ(bytes_text(std::uint64_t{3} << 50), "3072.0 TiB");
}

TEST(NumberText, ADurationHasThePartsThatMatter) {
  EXPECT_EQ(duration_text(milliseconds(-5)), "0 ms");
  EXPECT_EQ(duration_text(milliseconds(999)), "999 ms");
  EXPECT_EQ(duration_text(seconds(59)), "59 s");
  EXPECT_EQ(duration_text(minutes(59)), "59 min");
  EXPECT_EQ(duration_text(hours(5) + minutes(12)), "5 h 12 min");
  EXPECT_EQ(duration_text(hours(49)), "2 days");
}

TEST(Metrics, AreReadByNameAndSummedOverLabels) {
  const auto metrics = parse_metrics(
      "# HELP a something\n# TYPE a counter\na 12\nb 1.5e3\nc{class=\"2xx\"} 7\n"
      "c{class=\"4 x\",x=\"{\"} 2\nd x\n\ne 1");
  EXPECT_EQ(metrics.size(), 4U);
  EXPECT_EQ(metrics.at("a"), 12);
  EXPECT_EQ(metrics.at("c"), 9);
  EXPECT_EQ(metrics.at("e"), 1);
  DaemonAnswers answers;
  answers.metrics = metrics;
  EXPECT_EQ(answers.metric("b"), 1500U);
  EXPECT_EQ(answers.metric("d"), std::nullopt);
}

/// Of a daemon that beats, and whose socket this user may not open.
InstanceStatus refused() {
  InstanceStatus status;
  status.info->daemon_version = "1.0";
  status.health.pid = 299;
  status.daemon.refusal = "/run/iceblink/main/catalog.sock: Permission denied";
  return status;
}

std::string text_of(const InstanceStatus& status) {
  std::string text;
  for (const auto& line : status_lines(status)) text += line + "\n";
  return text;
}

TEST(StatusText, ADaemonThatMayNotBeAskedIsJudgedByItsSignsOfLife) {
  InstanceStatus status = refused();
  EXPECT_THAT(text_of(status), HasSubstr("alive: pid 299"));
  EXPECT_THAT(text_of(status), HasSubstr("may not be asked by this user (permission)"));
  EXPECT_THAT(text_of(status), Not(HasSubstr("NOT alive")));
  EXPECT_THAT(text_of(status), Not(HasSubstr("ready")));
  EXPECT_EQ(exit_code_of(status), ExitCode::kNotAllowed);
  const auto daemon = status_json(status).at("daemon").as_object();
  EXPECT_EQ(daemon.at("alive"), true);
  EXPECT_EQ(daemon.at("refused").as_string(), *status.daemon.refusal);
  EXPECT_FALSE(daemon.contains("ready"));
  status.health.is_stale = true;
  EXPECT_THAT(text_of(status), HasSubstr("NOT alive since"));
  EXPECT_EQ(exit_code_of(status), ExitCode::kNoDaemon);
}

TEST(StatusText, WithoutASegmentWhoMayNotAskKnowsNothingOfTheDaemon) {
  InstanceStatus status = refused();
  status.info = Error{ErrorKind::kNotAllowed, "no"};
  EXPECT_THAT(text_of(status), HasSubstr("may not be asked by this user (permission)"));
  EXPECT_EQ(exit_code_of(status), ExitCode::kNoDaemon);
}

TEST(CommandOutput, IsTheFirstLine) {
  EXPECT_EQ(command_output({"printf", "one\\ntwo"}, seconds(60)), "one");
  EXPECT_EQ(command_output({"true"}, seconds(60)), "");
  EXPECT_EQ(command_output({"no-such-program-of-iceblink"}, seconds(60)), "");
}

TEST(CommandOutput, IsNotWaitedForLongerThanAllowed) {
  EXPECT_EQ(command_output({"sleep", "600"}, milliseconds(20)), "");
}

}  // namespace
}  // namespace iceblink::cli
