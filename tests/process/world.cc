#include "tests/process/world.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "shm/verifier.h"

namespace iceblink::test {
namespace {

std::string make_dir(const char* parent) {
  std::string path = std::string(parent) + "/iceblink-world-XXXXXX";
  EXPECT_NE(::mkdtemp(path.data()), nullptr);
  return path;
}

}  // namespace

World::World(const char* data_parent_dir)
    : runtime_dir_(make_dir(std::filesystem::exists("/dev/shm") ? "/dev/shm" : "/tmp")),
      data_dir_(make_dir(data_parent_dir)) {}

World::~World() {
  daemon_.reset();
  for (const std::string& mount : mounts_) ::umount2(mount.c_str(), MNT_DETACH);
  std::filesystem::remove_all(runtime_dir_);
  std::filesystem::remove_all(data_dir_);
}

bool World::mount_small_tmpfs(const std::string& path, const char* size) {
  const std::string options = std::string("size=") + size;
  if (::unshare(CLONE_NEWNS) != 0 ||
      ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      ::mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) != 0) {
    return false;
  }
  mounts_.push_back(path);
  return true;
}

bool World::start(std::vector<std::string> arguments) {
  daemon_.reset();
  ChildOptions options;
  options.arguments = {"--runtime-dir", runtime_dir_, "--data-dir", data_dir_};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  options.environment = environment_;
  daemon_ = std::make_unique<ChildDaemon>(options);
  return daemon_->read_line().has_value();
}

void World::kill_daemon() {
  daemon_->signal(SIGKILL);
  EXPECT_EQ(daemon_->wait(), -SIGKILL);
}

int World::stop_daemon() {
  daemon_->signal(SIGTERM);
  return daemon_->wait();
}

Catalog World::open(CatalogOptions options) {
  auto catalog = Catalog::open(runtime_dir_, options);
  EXPECT_TRUE(catalog.ok()) << catalog.error().message();
  if (!catalog) std::abort();
  return std::move(*catalog);
}

Result<std::uint64_t> World::put(Catalog& catalog, const TableIdent& ident,
                                 const std::string& location) {
  RegisterOptions options;
  options.if_exists = RegisterOptions::IfExists::kOverwrite;
  options.verification = RegisterOptions::Verification::kUnverified;
  return catalog.register_table(ident, location, options);
}

std::vector<std::string> World::verify() const {
  return shm::verify_segment(runtime_dir_).problems;
}

void expect_in_child(std::string (*scenario)()) {
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string wrong = scenario();
    if (!wrong.empty()) std::fprintf(stderr, "%s\n", wrong.c_str());
    ::_exit(wrong.empty() && !::testing::Test::HasFailure() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace iceblink::test
