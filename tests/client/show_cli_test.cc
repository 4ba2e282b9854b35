// status, top and watch: what they show with a daemon, without one, and across its end.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/client/cli_fixture.h"

namespace iceblink::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

using ShowCommands = CommandLine;
using ShowCommandsWithDaemon = CommandLineWithDaemon;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const auto end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end == std::string::npos ? text.size() : end + 1;
  }
  return lines;
}

void expect_fits_a_screen(const std::string& text) {
  const auto lines = lines_of(text);
  EXPECT_LE(lines.size(), 23U) << text;
  for (const auto& line : lines) EXPECT_LE(line.size(), 84U) << line;  // "…" has three bytes
}

TEST_F(ShowCommands, StatusTellsADaemonThatStoppedFromOneThatWasLost) {
  commit_tables(2);
  store_.publisher().beat();
  const Finished lost = in_dir({"status"});
  EXPECT_EQ(lost.exit_code, 3);
  EXPECT_THAT(lost.out, HasSubstr("NOT alive since 20"));
  EXPECT_THAT(lost.out, HasSubstr("was lost or hangs"));
  EXPECT_THAT(lost.out, HasSubstr("lookups are answered, writes are not"));
  EXPECT_EQ(json_of(in_dir({"status", "--json"})).at("daemon").at("stopped-in-order"), false);
  store_.publisher().say_stopped();
  store_.stop();
  const Finished stopped = in_dir({"status"});
  EXPECT_EQ(stopped.exit_code, 3);
  EXPECT_THAT(stopped.out, HasSubstr("it stopped in order"));
  EXPECT_THAT(stopped.out, HasSubstr("2 tables, 0 views, 1 namespace"));
  EXPECT_EQ(json_of(in_dir({"status", "--json"})).at("daemon").at("stopped-in-order"), true);
  expect_fits_a_screen(stopped.out);
}

TEST_F(ShowCommands, StatusTellsArenasThatAreLeftOver) {
  commit_tables(1);
  EXPECT_THAT(in_dir({"status"}).out, Not(HasSubstr("unused")));
  std::ofstream(dir_.path() + "/arena.77") << "left";
  EXPECT_THAT(in_dir({"status"}).out, HasSubstr("1 unused file: 4.0 KiB"));
  const auto memory = json_of(in_dir({"status", "--json"})).at("memory").as_object();
  ASSERT_EQ(memory.at("arenas").as_array().size(), 2U);
  EXPECT_EQ(memory.at("arenas").as_array()[0].at("current"), true);
  EXPECT_EQ(memory.at("arenas").as_array()[1].at("file"), "arena.77");
  EXPECT_EQ(memory.at("arenas").as_array()[1].at("current"), false);
}

TEST_F(ShowCommands, StatusOfNothingSaysThatClientsCannotAttach) {
  const Finished nowhere = run({"status", "--dir", "/nonexistent"});
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_THAT(nowhere.out, HasSubstr("/nonexistent"));
  EXPECT_THAT(nowhere.out, HasSubstr("cannot attach"));
  EXPECT_EQ(json_of(run({"status", "--json", "--dir", "/nonexistent"})).at("clients").at("attach"),
            false);
}

TEST_F(ShowCommandsWithDaemon, StatusShowsTheInstanceOnOneScreen) {
  EXPECT_EQ(code({"create-namespace", "a"}), 0);
  EXPECT_EQ(code({"register", "a.t", "s3://1", "--unverified"}), 0);
  const Finished alive = in_dir({"status"});
  EXPECT_EQ(alive.exit_code, 0);
  EXPECT_THAT(alive.out, HasSubstr("alive: pid " + std::to_string(daemon_->pid())));
  EXPECT_THAT(alive.out, ContainsRegex("ready +yes"));
  EXPECT_THAT(alive.out, HasSubstr("1 table, 0 views, 1 namespace"));
  EXPECT_THAT(alive.out, HasSubstr("% garbage"));
  EXPECT_THAT(alive.out, ContainsRegex("commits +2 done, 0 refused, 0 waiting"));
  EXPECT_THAT(alive.out, HasSubstr("can attach, layout version 1"));
  expect_fits_a_screen(alive.out);
  const Finished json = in_dir({"status", "--json"});
  const auto document = json_of(json);
  EXPECT_EQ(document.at("daemon").at("ready"), true);
  EXPECT_EQ(document.at("metrics").at("commits"), 2);
  EXPECT_EQ(document.at("memory").at("arenas").as_array().size(), 1U);
  EXPECT_EQ(document.at("incarnation").as_string().size(), 16U);
  const auto first = json.out.find("\"generation\"");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(json.out.find("\"generation\"", first + 1), std::string::npos);
}

TEST_F(ShowCommandsWithDaemon, TopTellsRatesAndTheTablesThatWereCommittedTo) {
  EXPECT_EQ(code({"create-namespace", "a"}), 0);
  Program top("iceblink", {"top", "--json", "--interval", "0.05", "--dir", runtime_.path()});
  const auto first = boost::json::parse(top.line()).as_object();
  EXPECT_TRUE(first.at("generations-per-second").is_null());
  EXPECT_TRUE(first.at("hot-tables").as_array().empty());
  EXPECT_EQ(code({"register", "a.t", "s3://1", "--unverified"}), 0);
  EXPECT_EQ(code({"register", "a.u", "s3://1", "--unverified"}), 0);
  EXPECT_EQ(code({"register", "a.t", "s3://2", "--unverified", "--overwrite"}), 0);
  std::uint64_t of_t = 0;
  std::uint64_t of_u = 0;
  while (of_t + of_u < 3) {
    const std::string line = top.line();
    ASSERT_NE(line, "");
    const auto look = boost::json::parse(line).as_object();
    EXPECT_GE(look.at("generations-per-second").to_number<double>(), 0);
    for (const auto& row : look.at("hot-tables").as_array()) {
      (row.at("table") == "a.t" ? of_t : of_u) += row.at("commits").to_number<std::uint64_t>();
    }
  }
  EXPECT_EQ(of_t, 2U);
  EXPECT_EQ(of_u, 1U);
  top.signal(SIGINT);
  EXPECT_EQ(top.wait().exit_code, 0);
}

TEST_F(ShowCommandsWithDaemon, TopPrintsALineALookWhereThereIsNoTerminal) {
  const Finished twice = in_dir({"top", "--count", "2", "--interval", "0.05"});
  EXPECT_EQ(twice.exit_code, 0);
  const auto lines = lines_of(twice.out);
  ASSERT_EQ(lines.size(), 2U);
  for (const auto& line : lines) {
    EXPECT_THAT(line, ContainsRegex("^20[^ ]*Z alive generation 1 "));
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
  EXPECT_THAT(lines[1], HasSubstr("(0.0/s)"));
  stop();
  const Finished dead = in_dir({"top", "--count", "1"});
  EXPECT_EQ(dead.exit_code, 3);
  EXPECT_THAT(dead.out, HasSubstr("NOT alive"));
  EXPECT_EQ(code({"top", "--interval", "0"}), 2);
}

/// A terminal that the program runs on, of a usual size unless it is given.
class OnATerminal {
 public:
  explicit OnATerminal(const std::vector<std::string>& arguments, winsize size = {24, 80, 0, 0}) {
    master_ = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    ::grantpt(master_);
    ::unlockpt(master_);
    const std::string slave = ::ptsname(master_);
    const std::string path = std::string(ICEBLINK_BIN_DIR) + "/iceblink";
    std::vector<char*> argv{const_cast<char*>(path.c_str())};
    for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    // Held open here, so that its settings can be looked at when the program is gone.
    slave_ = ::open(slave.c_str(), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ::tcgetattr(slave_, &before_);
    ::ioctl(slave_, TIOCSWINSZ, &size);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setpgid(0, 0);  // not an orphaned group, whatever runs this: such are not stopped
      for (const int fd : {0, 1, 2}) ::dup2(slave_, fd);
      ::execv(path.c_str(), argv.data());
      ::_exit(127);
    }
  }
  ~OnATerminal() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    ::close(slave_);
    ::close(master_);
  }
  OnATerminal(const OnATerminal&) = delete;
  OnATerminal& operator=(const OnATerminal&) = delete;

  void press(char key) const { ASSERT_EQ(::write(master_, &key, 1), 1); }
  void signal(int number) const { ::kill(pid_, number); }
  /// All that was shown, up to `text`.
  bool shows(const std::string& text) {
    while (seen_.find(text) == std::string::npos) {
      pollfd end{master_, POLLIN, 0};
      char buffer[4096];
      if (::poll(&end, 1, 60'000) <= 0) return false;
      const auto count = ::read(master_, buffer, sizeof(buffer));
      if (count <= 0) return false;
      seen_.append(buffer, static_cast<std::size_t>(count));
    }
    return true;
  }
  [[nodiscard]] const std::string& seen() const { return seen_; }
  void forget() { seen_.clear(); }
  [[nodiscard]] bool is_stopped() const {
    int status = 0;
    return ::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
  }
  int exit_code() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  [[nodiscard]] bool is_as_before() const {
    termios now{};
    ::tcgetattr(slave_, &now);
    return now.c_lflag == before_.c_lflag;
  }

 private:
  int master_ = -1;
  int slave_ = -1;
  pid_t pid_ = -1;
  termios before_{};
  std::string seen_;
};

TEST_F(ShowCommandsWithDaemon, TopOnATerminalEndsOnQAndLeavesItAsItWas) {
  OnATerminal top({"top", "--interval", "3600", "--dir", runtime_.path()});
  ASSERT_TRUE(top.shows("\x1b[?25l"));
  ASSERT_TRUE(top.shows("generation"));
  ASSERT_TRUE(top.shows("\x1b[J"));
  EXPECT_FALSE(top.is_as_before());
  top.press('q');
  EXPECT_TRUE(top.shows("\x1b[?25h"));
  EXPECT_EQ(top.exit_code(), 0);
  EXPECT_TRUE(top.is_as_before());
}

TEST_F(ShowCommandsWithDaemon, TopOnATerminalEndsOnASignalAndLeavesItAsItWas) {
  OnATerminal top({"top", "--interval", "3600", "--dir", runtime_.path()});
  ASSERT_TRUE(top.shows("\x1b[J"));
  top.signal(SIGTERM);
  EXPECT_TRUE(top.shows("\x1b[?25h"));
  EXPECT_EQ(top.exit_code(), 0);
  EXPECT_TRUE(top.is_as_before());
  OnATerminal hung_up({"top", "--interval", "3600", "--dir", runtime_.path()});
  ASSERT_TRUE(hung_up.shows("\x1b[J"));
  hung_up.signal(SIGHUP);
  EXPECT_TRUE(hung_up.shows("\x1b[?25h"));
  EXPECT_EQ(hung_up.exit_code(), 0);
  EXPECT_TRUE(hung_up.is_as_before());
}

TEST_F(ShowCommandsWithDaemon, TopThatIsStoppedLeavesTheTerminalAsItWasUntilItGoesOn) {
  OnATerminal top({"top", "--interval", "3600", "--dir", runtime_.path()});
  ASSERT_TRUE(top.shows("\x1b[J"));
  top.signal(SIGTSTP);
  EXPECT_TRUE(top.shows("\x1b[?25h"));
  ASSERT_TRUE(top.is_stopped());
  EXPECT_TRUE(top.is_as_before());
  top.forget();
  top.signal(SIGCONT);
  EXPECT_TRUE(top.shows("\x1b[?25l"));
  ASSERT_TRUE(top.shows("generation")) << "at once, though the interval is an hour";
  ASSERT_TRUE(top.shows("\x1b[J"));
  EXPECT_FALSE(top.is_as_before());
  top.press('q');
  EXPECT_EQ(top.exit_code(), 0);
}

TEST_F(ShowCommandsWithDaemon, TopIsCutToTheTerminal) {
  OnATerminal top({"top", "--interval", "3600", "--dir", runtime_.path()}, {5, 20, 0, 0});
  ASSERT_TRUE(top.shows("\x1b[?25l"));
  ASSERT_TRUE(top.shows("generation"));
  top.press('q');
  ASSERT_TRUE(top.shows("\x1b[?25h"));
  EXPECT_EQ(top.exit_code(), 0);
  const auto begin = top.seen().find("\x1b[H");
  ASSERT_NE(begin, std::string::npos);
  const auto lines = lines_of(top.seen().substr(begin + 3));
  ASSERT_EQ(lines.size(), 6U) << "and the one that the command leaves behind it";
  for (const std::string clear = "\x1b[K"; const auto& line : lines) {
    EXPECT_LE(line.size(), clear.size() + 20 + 3) << line;  // "…" has three bytes, and \r follows
  }
}

TEST_F(ShowCommandsWithDaemon, WatchGoesOnThroughRestarts) {
  Program watch("iceblink", {"watch", "--since", "1", "--count", "3", "--dir", runtime_.path()});
  EXPECT_EQ(code({"create-namespace", "a"}), 0);
  EXPECT_EQ(watch.line(), "2 put namespace a");
  stop();
  start();
  EXPECT_EQ(code({"create-namespace", "b"}), 0);
  EXPECT_EQ(watch.line(), "3 put namespace b");
  daemon_->signal(SIGKILL);
  daemon_->wait();
  start();
  EXPECT_EQ(code({"create-namespace", "c"}), 0);
  const Finished finished = watch.wait();
  EXPECT_EQ(finished.out, "4 put namespace c\n");
  EXPECT_EQ(finished.exit_code, 0);
}

TEST_F(ShowCommandsWithDaemon, WatchFollowsAnotherCatalogAndSaysSo) {
  EXPECT_EQ(code({"create-namespace", "a"}), 0);
  Program watch("iceblink", {"watch", "--since", "1", "--count", "2", "--dir", runtime_.path()});
  EXPECT_EQ(watch.line(), "2 put namespace a");
  stop();
  // As a restore from a backup without its runtime directory would be.
  std::filesystem::remove_all(runtime_.path());
  std::filesystem::create_directory(runtime_.path());
  start();
  std::string said;
  do said = watch.error_line();
  while (!said.empty() && said.find("another catalog now") == std::string::npos);
  EXPECT_EQ(said, "iceblink: this is another catalog now: going on behind generation 2");
  EXPECT_EQ(code({"create-namespace", "b"}), 0);
  const Finished finished = watch.wait();
  EXPECT_EQ(finished.out, "3 put namespace b\n");
  EXPECT_EQ(finished.exit_code, 0);
}

/// What doctor says of a check, one "severity: found" a line.
std::string findings_of(const Finished& finished, const std::string& check) {
  std::string text;
  const auto document = json_of(finished);
  for (const auto& finding : document.at("findings").as_array()) {
    if (finding.at("check").as_string() != check) continue;
    text += std::string(finding.at("severity").as_string()) + ": ";
    text += std::string(finding.at("found").as_string()) + "\n";
  }
  return text;
}

TEST_F(ShowCommandsWithDaemon, DoctorHasNoProblemWithAnInstanceThatIsWell) {
  std::filesystem::permissions(runtime_.path(), std::filesystem::perms(0750));
  const Finished well = in_dir({"doctor", "--data-dir", data_.path()});
  EXPECT_EQ(well.exit_code, 0) << well.out;
  EXPECT_THAT(well.out, HasSubstr("ok       daemon: answers, pid "));
  EXPECT_THAT(well.out, HasSubstr(data_.path())) << "looked at, whatever groups this host has";
  EXPECT_THAT(well.out, Not(HasSubstr("PROBLEM")));
  EXPECT_EQ(code({"doctor", "--data-dir", "/nonexistent"}), 1);
}

TEST_F(ShowCommandsWithDaemon, DoctorNamesWhatWasPlanted) {
  std::filesystem::permissions(runtime_.path(), std::filesystem::perms(0750));
  std::filesystem::permissions(runtime_.path() + "/control", std::filesystem::perms(0600));
  EXPECT_EQ(findings_of(in_dir({"doctor", "--json"}), "permissions"),
            "PROBLEM: " + runtime_.path() + "/control is closed to its group (0600)\n");
  std::filesystem::permissions(runtime_.path() + "/control", std::filesystem::perms(0644));
  const Finished open = in_dir({"doctor", "--json"});
  EXPECT_EQ(open.exit_code, 1);
  EXPECT_EQ(findings_of(open, "permissions"),
            "PROBLEM: " + runtime_.path() + "/control is open to every user (0644)\n");
  std::filesystem::permissions(runtime_.path() + "/control", std::filesystem::perms(0640));
  std::filesystem::permissions(data_.path(), std::filesystem::perms(0755));
  std::filesystem::create_directory(data_.path() + "/lmdb.20261130T122311Z");
  std::ofstream(data_.path() + "/core") << "left";
  EXPECT_EQ(findings_of(in_dir({"doctor", "--json", "--data-dir", data_.path()}), "data-directory"),
            "ok: " + data_.path() +
                "/lmdb.20261130T122311Z: kept by a restore; delete it when it is not needed\n" +
                "warning: " + data_.path() + "/core is none of the daemon's files\n");
  daemon_->signal(SIGKILL);
  daemon_->wait();
  const Finished killed = in_dir({"doctor", "--json"});
  EXPECT_EQ(killed.exit_code, 1);
  EXPECT_THAT(findings_of(killed, "daemon"), HasSubstr("PROBLEM: does not answer; its last sign"));
  EXPECT_EQ(findings_of(killed, "leftovers"),
            "warning: " + runtime_.path() + "/catalog.sock: nobody listens there\n");
}

TEST_F(ShowCommands, WatchTellsTheTimeWhenAsked) {
  commit_tables(1);
  const Finished text = in_dir({"watch", "--since", "1", "--count", "1", "--time"});
  EXPECT_THAT(text.out, ContainsRegex("^20[0-9TZ:.-]+ 2 put namespace a\n"));
  const auto object =
      json_of(in_dir({"watch", "--since", "1", "--count", "1", "--time", "--json"}));
  EXPECT_TRUE(object.at("time").is_string());
}

}  // namespace
}  // namespace iceblink::testing
