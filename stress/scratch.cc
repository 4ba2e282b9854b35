#include "stress/scratch.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

namespace iceblink::stress {
namespace {

bool mount_small_tmpfs(const std::string& path) {
  const std::string options = std::string("mode=0755,size=") + Scratch::kTmpfsSize;
  return ::unshare(CLONE_NEWNS) == 0 &&
         ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", path.c_str(), "tmpfs", 0, options.c_str()) == 0;
}

}  // namespace

Result<Scratch> Scratch::make(const std::string& parent, bool keeps_files) {
  std::string root = parent + "/iceblink-stress-XXXXXX";
  if (::mkdtemp(root.data()) == nullptr) {
    return {ErrorKind::kIo, root + ": " + std::strerror(errno)};
  }
  Scratch scratch(std::move(root), keeps_files);
  if (::mkdir(scratch.runtime_dir().c_str(), 0755) != 0) {
    return {ErrorKind::kIo, scratch.runtime_dir() + ": " + std::strerror(errno)};
  }
  scratch.is_mounted_ = mount_small_tmpfs(scratch.runtime_dir());
  return scratch;
}

Scratch::Scratch(Scratch&& other) noexcept
    : root_(std::exchange(other.root_, {})),
      keeps_files_(other.keeps_files_),
      is_mounted_(other.is_mounted_) {}

Scratch::~Scratch() {
  if (root_.empty()) return;
  if (is_mounted_) ::umount2(runtime_dir().c_str(), MNT_DETACH);
  if (keeps_files_) {
    std::printf("kept: %s\n", root_.c_str());
    return;
  }
  std::error_code ignored;
  std::filesystem::remove_all(root_, ignored);
}

}  // namespace iceblink::stress
