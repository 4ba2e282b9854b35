// The program itself, as a service manager and an operator meet it.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "shm/layout.h"
#include "tests/http/child_daemon.h"
#include "tests/http/http_client.h"
#include "tests/http/metadata_samples.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Iceblinkd : public ::testing::Test {
 protected:
  [[nodiscard]] std::string runtime_dir() const { return scratch_.path() + "/main"; }
  [[nodiscard]] std::string data_dir() const { return scratch_.path() + "/data"; }
  [[nodiscard]] std::string socket_path() const { return runtime_dir() + "/catalog.sock"; }
  [[nodiscard]] const ScratchDir& scratch() const { return scratch_; }

  [[nodiscard]] ChildOptions options(std::vector<std::string> more = {}) const {
    ChildOptions options;
    options.arguments = {"--runtime-dir", runtime_dir(), "--data-dir",
                         data_dir(),      "--map-bytes", "67108864"};
    for (auto& argument : more) options.arguments.push_back(std::move(argument));
    return options;
  }
  HttpClient connect() const { return HttpClient::to_unix(socket_path()); }
  int create_namespace(const std::string& name) const {
    auto client = connect();
    client.send(HttpClient::text_of({.verb = "POST",
                                     .target = "/v1/namespaces",
                                     .body = R"({"namespace":[")" + name + "\"]}"}));
    const auto response = client.receive();
    return response ? response->status : 0;
  }
  /// Runs a daemon that must end by itself.
  static int run(const ChildOptions& options, std::string& errors) {
    ChildDaemon child(options);
    const int code = child.wait();
    errors = child.errors();
    return code;
  }

 private:
  ScratchDir scratch_;
};

TEST_F(Iceblinkd, SaysWhenItIsReadyAndStopsInOrder) {
  for (const int number : {SIGTERM, SIGINT}) {
    ChildDaemon child(options());
    EXPECT_THAT(child.read_line().value_or(""),
                MatchesRegex("iceblinkd ready: " + runtime_dir() + " generation [0-9]+, 0 tables"));
    EXPECT_EQ(connect().get("/readyz").status, 200);
    child.signal(number);
    EXPECT_EQ(child.wait(), 0);
    EXPECT_EQ(child.errors().find("error"), std::string::npos);
    EXPECT_FALSE(fs::exists(socket_path()));
    const auto control = read_file(runtime_dir() + "/control");
    ASSERT_EQ(control.size(), shm::kControlBytes);
    std::uint32_t pid = 1;
    std::memcpy(&pid, control.data() + offsetof(shm::ControlPage, daemon_pid), sizeof(pid));
    EXPECT_EQ(pid, 0u);
  }
}

TEST_F(Iceblinkd, KeepsItsDirectoriesAndSocketToItsGroup) {
  ChildDaemon child(options());
  ASSERT_TRUE(child.read_line().has_value());
  EXPECT_EQ(fs::status(runtime_dir()).permissions() & fs::perms(07), fs::perms::none);
  EXPECT_EQ(fs::status(socket_path()).permissions(), fs::perms(0660));
}

TEST_F(Iceblinkd, ServesOnAfterItWasKilled) {
  {
    ChildDaemon child(options());
    ASSERT_TRUE(child.read_line().has_value());
    EXPECT_EQ(create_namespace("a"), 200);
    child.signal(SIGKILL);
    EXPECT_EQ(child.wait(), -SIGKILL);
  }
  EXPECT_TRUE(fs::exists(socket_path()));  // stale: the next one removes it
  ChildDaemon child(options());
  ASSERT_TRUE(child.read_line().has_value());
  EXPECT_EQ(connect().head("/v1/namespaces/a").status, 204);
}

TEST_F(Iceblinkd, LeavesTheLockToTheDaemonThatHoldsIt) {
  ChildDaemon holder(options());
  ASSERT_TRUE(holder.read_line().has_value());
  std::string errors;
  EXPECT_EQ(run(options(), errors), 4);
  EXPECT_THAT(errors, HasSubstr(std::to_string(holder.pid())));
  auto other_data = options();
  other_data.arguments[3] = scratch().path() + "/other-data";
  EXPECT_EQ(run(other_data, errors), 4);
  EXPECT_EQ(connect().get("/healthz").status, 200);  // its socket was not taken away
}

TEST_F(Iceblinkd, RefusesADamagedControlPageUnlessToldToReplaceIt) {
  fs::create_directory(runtime_dir());
  write_file(runtime_dir() + "/control", std::string(shm::kControlBytes, 'x'));
  std::string errors;
  EXPECT_EQ(run(options(), errors), 5);
  EXPECT_THAT(errors, HasSubstr("control"));
  ChildDaemon child(options({"--replace-control"}));
  EXPECT_TRUE(child.read_line().has_value());
}

TEST_F(Iceblinkd, RefusesWhatIsInTheWayOfItsSocketAndIsNone) {
  fs::create_directory(runtime_dir());
  write_file(socket_path(), "precious");
  std::string errors;
  EXPECT_EQ(run(options(), errors), 1);
  EXPECT_THAT(errors, HasSubstr("is in the way"));
  EXPECT_EQ(read_file(socket_path()), "precious");
}

TEST_F(Iceblinkd, LooksAtItsAddressesBeforeItMakesAnythingForReaders) {
  ChildDaemon holder(options({"--listen", "127.0.0.1:0"}));
  ASSERT_TRUE(holder.read_line().has_value());
  holder.signal(SIGTERM);
  EXPECT_EQ(holder.wait(), 0);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(fd, 1), 0);
  ASSERT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  fs::remove_all(runtime_dir());
  const std::string listen = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  std::string errors;
  EXPECT_EQ(run(options({"--listen", listen}), errors), 1);
  EXPECT_THAT(errors, HasSubstr(listen));
  EXPECT_FALSE(fs::exists(runtime_dir() + "/control"));
  EXPECT_FALSE(fs::exists(socket_path()));
  ::close(fd);

  write_file(socket_path(), "precious");
  EXPECT_EQ(run(options(), errors), 1);
  EXPECT_FALSE(fs::exists(runtime_dir() + "/control"));

  auto deep = options();
  deep.arguments[1] = scratch().path() + "/" + std::string(100, 'd');
  EXPECT_EQ(run(deep, errors), 2);
  EXPECT_THAT(errors, HasSubstr("at most 107"));
  EXPECT_FALSE(fs::exists(deep.arguments[1]));
}

TEST_F(Iceblinkd, NeedsTwoDirectoriesThatAreTwo) {
  const std::string file = scratch().path() + "/file";
  write_file(file, "precious");
  std::string errors;
  for (const std::size_t argument : {1u, 3u}) {
    const std::string role = argument == 1 ? "runtime directory" : "data directory";
    for (const std::string& path : {file, file + "/below"}) {
      auto wrong = options();
      wrong.arguments[argument] = path;
      EXPECT_EQ(run(wrong, errors), 2);
      EXPECT_EQ(errors, "iceblinkd: " + path + ": " + role + ": Not a directory\n");
    }
  }
  EXPECT_FALSE(fs::exists(runtime_dir()));
  for (const std::string& path : {runtime_dir(), runtime_dir() + "/", runtime_dir() + "/../main"}) {
    auto same = options();
    same.arguments[3] = path;
    EXPECT_EQ(run(same, errors), 2) << path;
    EXPECT_THAT(errors, HasSubstr("cannot be both"));
    EXPECT_FALSE(fs::exists(runtime_dir()));
    fs::remove_all(runtime_dir());
  }
  fs::create_directory(runtime_dir());
  fs::create_directory_symlink(runtime_dir(), data_dir());
  EXPECT_EQ(run(options(), errors), 2);
}

TEST_F(Iceblinkd, ExplainsWrongUsageInOneLine) {
  std::string errors;
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--nonsense"},
                                             {"--listen", "0.0.0.0:80"},
                                             {"--http-threads", "none"},
                                             {"--config", "/nowhere.toml"},
                                             {"--config", "/tmp"},
                                             {"--config", ""},
                                             {"--fault-point", "no.such-point"}}) {
    EXPECT_EQ(run(options(arguments), errors), 2) << arguments[0];
    EXPECT_THAT(errors, MatchesRegex("iceblinkd: [^\n]+\n")) << arguments[0];
  }
  EXPECT_EQ(run({}, errors), 2);
  EXPECT_FALSE(fs::exists(data_dir()));
}

/// For this thread and all that it starts.
void take_openat2_away() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(program), program};
  ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
  ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
}

TEST_F(Iceblinkd, DoesNotStartWhereASandboxTakesOpenat2Away) {
  int code = 0;
  std::string errors;
  std::thread([&] {
    take_openat2_away();
    code = run(options(), errors);
  }).join();
  EXPECT_EQ(code, 1);
  EXPECT_THAT(errors, HasSubstr("openat2(2)"));
  EXPECT_THAT(errors, HasSubstr("RestrictSUIDSGID="));
  EXPECT_FALSE(fs::exists(data_dir()));
}

TEST_F(Iceblinkd, ReadsItsSettingsFromAFile) {
  const std::string path = scratch().path() + "/d.toml";
  write_file(path, "runtime-dir = \"" + runtime_dir() + "\"\ndata-dir = \"" + data_dir() +
                       "\"\nmap-bytes = 67108864\ninstance = \"prod\"\n");
  ChildOptions from_file;
  from_file.arguments = {"--config", path};
  ChildDaemon child(from_file);
  ASSERT_TRUE(child.read_line().has_value());
  EXPECT_EQ(connect().get("/v1/config?warehouse=prod").status, 200);
}

TEST_F(Iceblinkd, TellsTheServiceManagerThatItIsReady) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = scratch().path() + "/notify";
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  auto with_manager = options();
  with_manager.environment["NOTIFY_SOCKET"] = path;
  ChildDaemon child(with_manager);
  char message[64] = {};
  const auto got = ::recv(fd, message, sizeof(message), 0);
  ASSERT_GT(got, 0);
  EXPECT_STREQ(message, "READY=1\nSTATUS=generation 1, 0 tables");
  ::close(fd);
}

TEST_F(Iceblinkd, ServesAnInheritedSocketAndLeavesItInPlace) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = scratch().path() + "/inherited.sock";
  std::memcpy(address.sun_path, path.data(), path.size());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(::listen(fd, 8), 0);
  auto activated = options();
  activated.inherited_fd = fd;
  ChildDaemon child(activated);
  ASSERT_TRUE(child.read_line().has_value());
  ::close(fd);
  EXPECT_EQ(HttpClient::to_unix(path).get("/healthz").status, 200);
  EXPECT_FALSE(fs::exists(socket_path()));
  child.signal(SIGTERM);
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(fs::exists(path));
}

TEST_F(Iceblinkd, GoesAboveWhatReadersSawWhenItsStoreWasRestored) {
  const auto run_and_create = [this](const std::string& name) {
    ChildDaemon child(options());
    EXPECT_TRUE(child.read_line().has_value());
    if (!name.empty()) {
      EXPECT_EQ(create_namespace(name), 200);
    }
    const auto generation = connect().get("/readyz").json().at("generation").to_number<int>();
    child.signal(SIGTERM);
    EXPECT_EQ(child.wait(), 0);
    return generation;
  };
  run_and_create("kept");
  fs::copy(data_dir(), data_dir() + ".backup", fs::copy_options::recursive);
  const int seen = run_and_create("lost");
  fs::remove_all(data_dir());
  fs::rename(data_dir() + ".backup", data_dir());
  EXPECT_GT(run_and_create(""), seen);
  ChildDaemon child(options());
  ASSERT_TRUE(child.read_line().has_value());
  EXPECT_EQ(connect().head("/v1/namespaces/kept").status, 204);
  EXPECT_EQ(connect().head("/v1/namespaces/lost").status, 404);
}

TEST_F(Iceblinkd, AnswersHelpAndVersion) {
  for (const char* flag : {"--help", "--version"}) {
    ChildOptions asking;
    asking.arguments = {flag};
    ChildDaemon child(asking);
    EXPECT_THAT(child.read_line().value_or(""), HasSubstr("iceblinkd")) << flag;
    EXPECT_EQ(child.wait(), 0);
  }
}

#ifdef ICEBLINK_FAULT_POINTS
TEST_F(Iceblinkd, ListsItsFaultPointsOneALine) {
  ChildOptions listing;
  listing.arguments = {"--list-fault-points"};
  ChildDaemon child(listing);
  int count = 0;
  while (const auto line = child.read_line()) {
    EXPECT_THAT(*line, MatchesRegex("[a-z]+\\.[a-z-]+"));
    ++count;
  }
  EXPECT_GT(count, 20);
  EXPECT_EQ(child.wait(), 0);
}

TEST_F(Iceblinkd, LosesNoDurableCommitWhereverItDies) {
  for (const char* point : {"commit.after-lmdb", "publish.before-root", "commit.before-answer",
                            "stop.before-say-stopped"}) {
    const std::string name = std::string("n-") + point;
    ChildDaemon child(options({"--fault-point", point}));
    ASSERT_TRUE(child.read_line().has_value()) << point;
    const bool dies_at_stop = std::string(point).starts_with("stop.");
    EXPECT_EQ(create_namespace(name), dies_at_stop ? 200 : 0) << point;
    if (dies_at_stop) child.signal(SIGTERM);
    EXPECT_EQ(child.wait(), -SIGKILL) << point;
    ChildDaemon next(options());
    ASSERT_TRUE(next.read_line().has_value()) << point;
    EXPECT_EQ(connect().head("/v1/namespaces/" + name).status, 204) << point;
  }
}
#endif

}  // namespace
}  // namespace iceblink::test
