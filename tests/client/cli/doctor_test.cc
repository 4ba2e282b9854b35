// From facts to findings: an installation as it should be, and each fault planted in it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <functional>

#include "client/cli/doctor/checks.h"
#include "client/cli/doctor/gather.h"

namespace iceblink::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

PathFacts path_of(std::string path, mode_t mode, std::string group = kReadersGroup) {
  PathFacts facts;
  facts.path = std::move(path);
  facts.mode = mode;
  facts.uid = 900;
  facts.owner = "iceblink";
  facts.group = std::move(group);
  return facts;
}

void own(PathFacts& file, const std::string& owner) {
  file.uid = 901;
  file.owner = owner;
}

constexpr std::uint64_t kArenaBytes = std::uint64_t{64} << 20;

/// As a package leaves it.
Facts good() {
  Facts facts;
  RuntimeFacts& runtime = facts.runtime;
  runtime.instance = "main";
  runtime.parents = {path_of("/run/iceblink", S_IFDIR | 0755, "root"),
                     path_of("/run", S_IFDIR | 0755, "root")};
  runtime.directory = path_of("/run/iceblink/main", S_IFDIR | 0750);
  runtime.control = path_of("/run/iceblink/main/control", S_IFREG | 0640);
  runtime.socket = path_of("/run/iceblink/main/catalog.sock", S_IFSOCK | 0660);
  runtime.arenas = {path_of("/run/iceblink/main/arena.3", S_IFREG | 0640)};
  runtime.files.arenas = {{"arena.3", 3, kArenaBytes, kArenaBytes}};
  runtime.files.has_socket = true;
  runtime.room = FileSystemRoom{true, 8 * kArenaBytes, kArenaBytes, 7 * kArenaBytes};
  runtime.segment->epoch = 3;
  runtime.segment->daemon_version = "1.0";
  runtime.client_version = "1.0";
  runtime.health.pid = 12;
  runtime.daemon.is_alive = true;
  runtime.socket_has_listener = true;
  facts.user = {1000, "anna", {"users", kReadersGroup}};
  KernelFacts& kernel = facts.kernel;
  kernel.offers_membarrier = true;
  kernel.open_files_max = 1024;
  kernel.file_max = 1'000'000;
  kernel.max_map_count = 65'530;
  kernel.locked_bytes_max = 8 << 20;
  kernel.shmem_huge_pages = "never";
  facts.data.directory = path_of("/var/lib/iceblink/main", S_IFDIR | 0755);
  facts.data.store = path_of("/var/lib/iceblink/main/lmdb", S_IFDIR | 0700);
  facts.data.store_file = path_of("/var/lib/iceblink/main/lmdb/data.mdb", S_IFREG | 0600);
  facts.data.warehouse =
      path_of("/var/lib/iceblink/main/warehouse", S_IFDIR | 02775, kWritersGroup);
  facts.data.room = FileSystemRoom{false, std::uint64_t{1} << 40, 0, std::uint64_t{1} << 40};
  facts.unit = {"iceblinkd@main.service", "enabled", "active", "success"};
  return facts;
}

/// All that is not well.
std::vector<Finding> complaints(const Facts& facts) {
  std::vector<Finding> list;
  const Findings findings = check_all(facts);
  for (const Finding& finding : findings.list()) {
    if (finding.severity != Severity::kOk) list.push_back(finding);
  }
  return list;
}

struct Fault {
  std::function<void(Facts&)> plant;
  Severity severity;
  std::string check;
  std::string found;  // a part of it
};

void expect_each_alone(const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    Facts facts = good();
    fault.plant(facts);
    const auto list = complaints(facts);
    ASSERT_EQ(list.size(), 1U) << fault.found << ": "
                               << (list.empty() ? "nothing" : list.back().found);
    EXPECT_EQ(list[0].severity, fault.severity) << list[0].found;
    EXPECT_EQ(list[0].check, fault.check);
    EXPECT_THAT(list[0].found, HasSubstr(fault.found));
    EXPECT_FALSE(list[0].remedy.empty()) << list[0].found;
  }
}

constexpr auto kProblem = Severity::kProblem;
constexpr auto kWarning = Severity::kWarning;

TEST(Doctor, FindsNothingWrongWithAGoodInstallation) {
  EXPECT_TRUE(complaints(good()).empty());
  EXPECT_GE(check_all(good()).list().size(), 18U) << "and says what it looked at";
}

TEST(Doctor, FindsWhatIsWrongWithTheDirectory) {
  expect_each_alone({
      {[](Facts& f) { f.runtime.room->is_tmpfs = false; }, kWarning, "runtime-directory",
       "not on a tmpfs"},
      {[](Facts& f) { f.runtime.room->size_bytes = 2 * kArenaBytes - 1; }, kProblem, "tmpfs-size",
       "for an arena of 64.0 MiB"},
      {[](Facts& f) { f.runtime.room->free_bytes = 1; }, kProblem, "tmpfs-size", "1 byte free"},
      {[](Facts& f) { f.runtime.room->size_bytes = 3 * kArenaBytes - 1; }, kWarning, "tmpfs-size",
       "for an arena of"},
      {[](Facts& f) { f.runtime.directory.mode |= 0005; }, kProblem, "permissions",
       "/run/iceblink/main is open to every user (0755)"},
      {[](Facts& f) { f.runtime.directory.mode |= 0020; }, kProblem, "permissions",
       "can be written by its group (0770)"},
      {[](Facts& f) { f.runtime.control.mode |= 0004; }, kProblem, "permissions",
       "control is open"},
      {[](Facts& f) { f.runtime.arenas[0].mode |= 0020; }, kProblem, "permissions",
       "arena.3 can be written by its group"},
      {[](Facts& f) { f.runtime.socket.mode |= 0006; }, kProblem, "permissions", "catalog.sock"},
      {[](Facts& f) { own(f.runtime.arenas[0], "mallory"); }, kProblem, "owner",
       "arena.3 is of mallory, and its directory of iceblink"},
  });
}

TEST(Doctor, FindsWhatIsClosedToThoseWhoNeedIt) {
  expect_each_alone({
      {[](Facts& f) { f.runtime.directory.mode = S_IFDIR | 0700; }, kProblem, "permissions",
       "/run/iceblink/main is closed to its group (0700)"},
      {[](Facts& f) { f.runtime.control.mode = S_IFREG | 0600; }, kProblem, "permissions",
       "control is closed to its group (0600)"},
      {[](Facts& f) { f.runtime.arenas[0].mode = S_IFREG | 0600; }, kProblem, "permissions",
       "arena.3 is closed to its group (0600)"},
      {[](Facts& f) { f.runtime.socket.mode = S_IFSOCK | 0600; }, kProblem, "permissions",
       "catalog.sock is closed to its group (0600)"},
      {[](Facts& f) { f.runtime.control.mode = S_IFREG | 0440; }, kProblem, "permissions",
       "control is closed to its owner (0440)"},
      {[](Facts& f) { f.runtime.parents[0].mode = S_IFDIR | 0700; }, kProblem, "permissions",
       "/run/iceblink lets no reader through (0700)"},
  });
  Facts entered = good();
  entered.runtime.parents[0] = path_of("/run/iceblink", S_IFDIR | 0710);
  EXPECT_TRUE(complaints(entered).empty()) << "by the readers' group";
}

TEST(Doctor, FindsWhatIsOfAnotherOwnerOrGroup) {
  expect_each_alone({
      {[](Facts& f) { own(f.runtime.control, "root"); }, kProblem, "owner", "control is of root"},
      {[](Facts& f) { own(f.runtime.socket, "root"); }, kProblem, "owner", "sock is of root"},
      {[](Facts& f) { own(f.runtime.directory, "root"); }, kProblem, "owner",
       "/run/iceblink/main is of root, and what is in it of iceblink"},
      {[](Facts& f) { f.runtime.control.group = "root"; }, kProblem, "group",
       "control is of the group root, and its directory of iceblink-readers"},
      {[](Facts& f) { f.runtime.arenas[0].group = "root"; }, kProblem, "group", "arena.3 is of"},
      {[](Facts& f) { f.runtime.socket.group = "root"; }, kProblem, "group",
       "sock is of the group"},
  });
}

TEST(Doctor, LeavesADirectoryAloneThatIsNoInstances) {
  Facts facts = good();
  facts.runtime = {};
  facts.runtime.directory = path_of("/tmp", S_IFDIR | 01777, "root");
  for (PathFacts* file : {&facts.runtime.control, &facts.runtime.socket}) file->error = ENOENT;
  facts.runtime.segment = Error{ErrorKind::kNoSegment, "none"};
  const Findings findings = check_all(facts);
  for (const Finding& finding : findings.list()) {
    EXPECT_NE(finding.check, "permissions") << finding.found;
    EXPECT_THAT(finding.remedy, Not(HasSubstr("chmod")));
    EXPECT_THAT(finding.remedy, Not(HasSubstr("INSTANCE")));
  }
}

TEST(Doctor, KnowsTheInstanceByItsDirectory) {
  EXPECT_EQ(instance_of("/run/iceblink/main"), "main");
  EXPECT_EQ(instance_of("/run/iceblink/main/"), "main");
  EXPECT_EQ(instance_of("/run/iceblink/./a.b"), "a.b");
  EXPECT_EQ(instance_of("/tmp/main"), "");
  EXPECT_EQ(instance_of("/run/iceblink"), "");
  Facts facts = good();
  facts.runtime.daemon.is_alive = false;
  EXPECT_EQ(complaints(facts)[0].remedy,
            "systemctl start iceblinkd@main; journalctl -u iceblinkd@main says why it ended");
}

TEST(Doctor, ADirectoryThatIsNotThereIsTheOneProblem) {
  Facts facts = good();
  facts.runtime = {};
  facts.runtime.directory.path = "/run/iceblink/main";
  facts.runtime.directory.error = ENOENT;
  facts.runtime.segment = Error{ErrorKind::kNoSegment, "none"};
  facts.user.uid = 0;
  const auto list = complaints(facts);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].check, "runtime-directory");
  EXPECT_THAT(list[0].found, HasSubstr("/run/iceblink/main: No such file"));
}

TEST(Doctor, FindsUsersWhoMayNotReadAndDaemonsOfTheSameUser) {
  expect_each_alone({
      {[](Facts& f) { f.user.groups = {"users"}; }, kWarning, "user", "anna may not read"},
      {[](Facts& f) { f.user.uid = 900; }, kWarning, "owner", "as whom this runs"},
      {[](Facts& f) { f.runtime.directory.group = "users"; }, kProblem, "group",
       "is of the group users, not iceblink-readers as what is in it"},
  });
  Facts of_users = good();
  for (PathFacts* file : {&of_users.runtime.directory, &of_users.runtime.control,
                          &of_users.runtime.socket, &of_users.runtime.arenas[0]}) {
    file->group = "users";
  }
  of_users.user.groups = {"users"};
  ASSERT_EQ(complaints(of_users).size(), 1U);
  EXPECT_EQ(complaints(of_users)[0].severity, kWarning) << "all of one group, and it works";
  Facts root = good();
  root.user = {0, "root", {"root"}};
  EXPECT_TRUE(complaints(root).empty());
}

TEST(Doctor, FindsWhatIsWrongWithTheSegmentAndItsDaemon) {
  expect_each_alone({
      {[](Facts& f) { f.runtime.daemon.is_alive = false; }, kProblem, "daemon", "does not answer"},
      {[](Facts& f) {
         f.runtime.daemon.is_alive = false;
         f.runtime.daemon.refusal = "Permission denied";
       },
       kWarning, "daemon", "may not be asked by this user; its last sign of life was 0 ms ago"},
      {[](Facts& f) {
         f.runtime.daemon.is_alive = false;
         f.runtime.daemon.refusal = "Permission denied";
         f.runtime.health.is_stale = true;
       },
       kProblem, "daemon", "may not be asked by this user"},
      {[](Facts& f) { f.runtime.daemon.not_ready = "it is starting"; }, kWarning, "daemon",
       "is not ready: it is starting"},
      {[](Facts& f) { f.runtime.health.is_stale = true; }, kWarning, "daemon", "sign of life"},
      {[](Facts& f) { f.runtime.client_version = "1.1"; }, kWarning, "versions",
       "the daemon is of version 1.0, this program of 1.1"},
  });
  for (const auto& [kind, remedy] : {std::pair{ErrorKind::kIncompatible, "of one version"},
                                     {ErrorKind::kCorrupt, "builds a segment anew"},
                                     {ErrorKind::kNotAllowed, "iceblink-readers"},
                                     {ErrorKind::kNoSegment, "systemctl start iceblinkd@main"}}) {
    Facts facts = good();
    facts.runtime.segment = Error{kind, "why"};
    const auto list = complaints(facts);
    ASSERT_EQ(list.size(), 1U);
    EXPECT_EQ(list[0].check, "segment");
    EXPECT_EQ(list[0].found, "why");
    EXPECT_THAT(list[0].remedy, HasSubstr(remedy));
  }
}

TEST(Doctor, FindsLeftovers) {
  expect_each_alone({
      {[](Facts& f) {
         f.runtime.files.arenas.push_back({"arena.2", 2, 4096, 4096});
       },
       kWarning, "leftovers", "arena.2 is used by nobody, and takes 4.0 KiB"},
      {[](Facts& f) { f.runtime.socket_has_listener = false; }, kWarning, "leftovers",
       "nobody listens there"},
  });
  Facts interrupted = good();
  interrupted.runtime.files.has_control_draft = true;
  EXPECT_TRUE(complaints(interrupted).empty()) << "the daemon may be making one";
  interrupted.runtime.daemon.is_alive = false;
  ASSERT_EQ(complaints(interrupted).size(), 2U);
  EXPECT_THAT(complaints(interrupted)[1].found, HasSubstr("control.new"));
  Facts building = good();
  building.runtime.files.arenas.push_back({"arena.4", 4, 4096, 4096});
  EXPECT_TRUE(complaints(building).empty()) << "the next arena is being built";
}

TEST(Doctor, FindsWhatTheKernelRefuses) {
  expect_each_alone({
      {[](Facts& f) { f.kernel.io_uring_refusal = "io_uring_setup: EPERM"; }, kWarning, "io-uring",
       "is refused (io_uring_setup: EPERM)"},
      {[](Facts& f) {
         f.kernel.io_uring_refusal = "EPERM";
         f.kernel.io_uring_disabled = 2;
       },
       kWarning, "io-uring", "kernel.io_uring_disabled is 2"},
      {[](Facts& f) {
         f.kernel.io_uring_refusal = "EPERM";
         f.kernel.is_filtered = true;
       },
       kWarning, "io-uring", "seccomp"},
      {[](Facts& f) { f.kernel.offers_membarrier = false; }, kWarning, "membarrier", "not offered"},
      {[](Facts& f) { f.kernel.futex_error = EFAULT; }, kProblem, "futex", "Bad address"},
      {[](Facts& f) { f.kernel.openat2_error = ENOSYS; }, kWarning, "openat2", "not implemented"},
      {[](Facts& f) { f.kernel.open_files_max = 64; }, kWarning, "open-files", "64 files"},
      {[](Facts& f) { f.kernel.file_max = 4096; }, kWarning, "open-files", "fs.file-max is 4,096"},
      {[](Facts& f) { f.kernel.max_map_count = 100; }, kWarning, "mappings", "100"},
      {[](Facts& f) { f.kernel.locked_bytes_max = 0; }, kWarning, "locked-memory", "0 bytes"},
      {[](Facts& f) { f.kernel.swap_bytes = 1 << 30; }, kWarning, "swap", "1.0 GiB of swap"},
      {[](Facts& f) { f.kernel.shmem_huge_pages = "deny"; }, kWarning, "huge-pages", "denied"},
  });
}

TEST(Doctor, FindsWhatIsWrongWithTheDataDirectory) {
  expect_each_alone({
      {[](Facts& f) {
         f.data.is_network = true;
         f.data.file_system = "nfs";
       },
       kProblem, "data-directory", "network file system (nfs)"},
      {[](Facts& f) { f.data.room->free_bytes = 1 << 20; }, kWarning, "data-directory",
       "1.0 MiB free"},
      {[](Facts& f) { f.data.store.mode = S_IFDIR | 0750; }, kProblem, "store", "mode 0750"},
      {[](Facts& f) { f.data.store.mode = S_IFDIR | 0500; }, kProblem, "store", "mode 0500"},
      {[](Facts& f) { f.data.store_file.mode = S_IFREG | 0644; }, kWarning, "store",
       "data.mdb has mode 0644"},
      {[](Facts& f) { f.data.store_file.mode = S_IFREG | 0400; }, kProblem, "store",
       "data.mdb has mode 0400"},
      {[](Facts& f) { own(f.data.store, "root"); }, kProblem, "store",
       "lmdb is of root, and the daemon runs as iceblink"},
      {[](Facts& f) { own(f.data.store_file, "root"); }, kProblem, "store",
       "data.mdb is of root, and the daemon runs as iceblink"},
      {[](Facts& f) {
         own(f.data.directory, "root");
         f.data.directory.mode = S_IFDIR | 0700;
       },
       kProblem, "data-directory", "main is of root (0700), and the daemon runs as iceblink"},
      {[](Facts& f) { own(f.data.directory, "root"); }, kWarning, "data-directory",
       "main is of root (0755)"},
      {[](Facts& f) { f.data.directory.mode = S_IFDIR | 0700; }, kWarning, "data-directory",
       "others cannot come to the warehouse"},
      {[](Facts& f) { f.data.warehouse.mode = S_IFDIR | 0777; }, kProblem, "warehouse",
       "every user (0777)"},
      {[](Facts& f) { f.data.warehouse.mode = S_IFDIR | 0755; }, kWarning, "warehouse",
       "mode 0755"},
      {[](Facts& f) { f.data.warehouse.group = "users"; }, kWarning, "warehouse",
       "the group users"},
      {[](Facts& f) { f.data.unknown_names = {"core.17"}; }, kWarning, "data-directory",
       "core.17 is none of the daemon's"},
      {[](Facts& f) {
         f.data.directory.error = ENOENT;
         f.data.is_asked_for = true;
       },
       kProblem, "data-directory", "No such file"},
  });
  Facts elsewhere = good();
  elsewhere.data.directory.error = ENOENT;
  EXPECT_TRUE(complaints(elsewhere).empty()) << "nobody said that it is there";
}

TEST(Doctor, TellsWhatARestoreKeptAndDoesNotComplain) {
  Facts facts = good();
  facts.data.kept_stores = {{"lmdb.20261130T122311Z", std::uint64_t{3} << 29}};
  EXPECT_TRUE(complaints(facts).empty());
  const Findings findings = check_all(facts);
  const auto is_told = [](const Finding& finding) {
    return finding.found ==
           "/var/lib/iceblink/main/lmdb.20261130T122311Z: kept by a restore, 1.5 GiB; delete it "
           "when it is not needed";
  };
  EXPECT_TRUE(std::any_of(findings.list().begin(), findings.list().end(), is_told));
  EXPECT_TRUE(is_kept_store("lmdb.20261130T122311Z"));
  EXPECT_TRUE(is_kept_store("lmdb.20261130T122311Z-12"));
  for (const char* name : {"lmdb", "lmdb.old", "lmdb.20261130T122311Z-", "lmdb.20261130T122311Z-x",
                           "lmdb.20261130T122311Zx", "lmdb.2026113xT122311Z"}) {
    EXPECT_FALSE(is_kept_store(name)) << name;
  }
}

TEST(Doctor, FindsWhatSystemdThinks) {
  expect_each_alone({
      {[](Facts& f) { f.unit.active = "activating"; }, kProblem, "unit", "fails at each start"},
      {[](Facts& f) {
         f.unit.active = "activating";
         f.unit.result = "exit-code";
       },
       kProblem, "unit", "has failed (exit-code)"},
      {[](Facts& f) { f.unit.active = "failed"; }, kProblem, "unit", "has failed"},
      {[](Facts& f) { f.unit.active = "inactive"; }, kWarning, "unit", "is inactive"},
      {[](Facts& f) { f.unit.enabled = "disabled"; }, kWarning, "unit", "does not start with"},
  });
}

}  // namespace
}  // namespace iceblink::cli
