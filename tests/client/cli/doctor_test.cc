// From facts to findings: an installation as it should be, and each fault planted in it.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>
#include <functional>

#include "client/cli/doctor/checks.h"

namespace iceblink::cli {
namespace {

using ::testing::HasSubstr;

PathFacts path_of(std::string path, mode_t mode, std::string group = kReadersGroup) {
  PathFacts facts;
  facts.path = std::move(path);
  facts.mode = mode;
  facts.uid = 900;
  facts.owner = "iceblink";
  facts.group = std::move(group);
  return facts;
}

constexpr std::uint64_t kArenaBytes = std::uint64_t{64} << 20;

/// As a package leaves it.
Facts good() {
  Facts facts;
  RuntimeFacts& runtime = facts.runtime;
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
  facts.data.warehouse =
      path_of("/var/lib/iceblink/main/warehouse", S_IFDIR | 02775, kWritersGroup);
  facts.data.room = FileSystemRoom{false, std::uint64_t{1} << 40, 0, std::uint64_t{1} << 40};
  facts.unit = {"iceblinkd@main.service", "enabled", "active"};
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
      {[](Facts& f) {
         f.runtime.arenas[0].uid = 901;
         f.runtime.arenas[0].owner = "mallory";
       },
       kProblem, "owner", "arena.3 is of mallory"},
  });
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
      {[](Facts& f) { f.runtime.directory.group = "users"; }, kWarning, "group",
       "is of the group users"},
  });
  Facts root = good();
  root.user = {0, "root", {"root"}};
  EXPECT_TRUE(complaints(root).empty());
}

TEST(Doctor, FindsWhatIsWrongWithTheSegmentAndItsDaemon) {
  expect_each_alone({
      {[](Facts& f) { f.runtime.daemon.is_alive = false; }, kProblem, "daemon", "does not answer"},
      {[](Facts& f) { f.runtime.daemon.not_ready = "it is starting"; }, kWarning, "daemon",
       "is not ready: it is starting"},
      {[](Facts& f) { f.runtime.health.is_stale = true; }, kWarning, "daemon", "sign of life"},
      {[](Facts& f) { f.runtime.client_version = "1.1"; }, kWarning, "versions",
       "the daemon is of version 1.0, this program of 1.1"},
  });
  for (const auto& [kind, remedy] : {std::pair{ErrorKind::kIncompatible, "of one version"},
                                     {ErrorKind::kCorrupt, "builds a segment anew"},
                                     {ErrorKind::kNotAllowed, "iceblink-readers"},
                                     {ErrorKind::kNoSegment, "start the daemon"}}) {
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
      {[](Facts& f) { f.data.store.mode = S_IFDIR | 0500; }, kWarning, "store", "mode 0500"},
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

TEST(Doctor, FindsWhatSystemdThinks) {
  expect_each_alone({
      {[](Facts& f) { f.unit.active = "failed"; }, kProblem, "unit", "has failed"},
      {[](Facts& f) { f.unit.active = "inactive"; }, kWarning, "unit", "is inactive"},
      {[](Facts& f) { f.unit.enabled = "disabled"; }, kWarning, "unit", "does not start with"},
  });
}

}  // namespace
}  // namespace iceblink::cli
