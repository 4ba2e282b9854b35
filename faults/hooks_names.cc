// Calls that open, name and describe files, in front of libc's.
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "faults/judgement.h"
#include "faults/next.h"
#include "faults/recorder.h"

#define ICEBLINK_HOOK extern "C" [[gnu::visibility("default")]]

namespace iceblink::faults {
namespace {

constinit Next<decltype(::syscall)> next_syscall("syscall");
constinit Next<int(const char*, int, mode_t)> next_open("open");
constinit Next<int(int, const char*, int, mode_t)> next_openat("openat");
constinit Next<decltype(::opendir)> next_opendir("opendir");
constinit Next<decltype(::close)> next_close("close");
constinit Next<decltype(::stat)> next_stat("stat");
constinit Next<decltype(::lstat)> next_lstat("lstat");
constinit Next<decltype(::fstat)> next_fstat("fstat");
constinit Next<decltype(::statfs)> next_statfs("statfs");
constinit Next<decltype(::statvfs)> next_statvfs("statvfs");
constinit Next<decltype(::fchmod)> next_fchmod("fchmod");
constinit Next<decltype(::link)> next_link("link");
constinit Next<decltype(::linkat)> next_linkat("linkat");
constinit Next<decltype(::unlink)> next_unlink("unlink");
constinit Next<decltype(::unlinkat)> next_unlinkat("unlinkat");
constinit Next<decltype(::rename)> next_rename("rename");
constinit Next<decltype(::mkdir)> next_mkdir("mkdir");
constinit Next<decltype(::mkdirat)> next_mkdirat("mkdirat");
constinit Next<decltype(::rmdir)> next_rmdir("rmdir");

bool makes_files(int flags) noexcept {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE || (flags & O_TRUNC) != 0;
}

/// Opens by `open_it`, and records what that makes or cuts.
template <typename Open>
int opened(int directory, const char* path, int flags, Open open_it) noexcept {
  if (!makes_files(flags)) return open_it();
  const Recording recording;
  if (!recording.is_on()) return open_it();
  const bool is_unnamed = (flags & O_TMPFILE) == O_TMPFILE;
  const RecordedPath whole(directory, path);
  const bool is_new = is_unnamed || inode_at(whole.c_str()) == 0;
  const int fd = open_it();
  if (fd < 0) return fd;
  const std::uint64_t inode = inode_of(fd);
  if (is_new) {
    recording.append({.kind = RecordKind::kCreate, .inode = inode},
                     is_unnamed ? std::string_view() : whole.view(), {});
  } else if ((flags & O_TRUNC) != 0) {
    recording.append({.kind = RecordKind::kTruncate, .inode = inode}, {}, {});
  }
  return fd;
}

/// Carries out a change of directories, and records it when it was done.
template <typename Change>
int changed(RecordKind kind, int directory, const char* path, Change change) noexcept {
  const Recording recording;
  if (!recording.is_on()) return change();
  const RecordedPath whole(directory, path);
  const int result = change();
  if (result == 0) {
    const bool is_link = kind == RecordKind::kLink;
    recording.append({.kind = kind, .inode = is_link ? inode_at(whole.c_str()) : 0}, whole.view(),
                     {});
  }
  return result;
}

}  // namespace
}  // namespace iceblink::faults

using namespace iceblink::faults;  // the hooks stand outside, under libc's names

ICEBLINK_HOOK int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = makes_files(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return judged(Call::kOpen, -1, path, [=] {
    return opened(AT_FDCWD, path, flags, [=] { return next_open(path, flags, mode); });
  });
}

ICEBLINK_HOOK int openat(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = makes_files(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return judged(Call::kOpenat, -1, path, [=] {
    return opened(directory, path, flags,
                  [=] { return next_openat(directory, path, flags, mode); });
  });
}

// Of the calls made so, openat2 alone is ours: futexes pass untouched.
ICEBLINK_HOOK long syscall(long number, ...) noexcept {
  va_list rest;
  va_start(rest, number);
  long given[6];
  for (long& argument : given) argument = va_arg(rest, long);
  va_end(rest);
  const auto carry_out = [number, &given] {
    return next_syscall(number, given[0], given[1], given[2], given[3], given[4], given[5]);
  };
  if (number != SYS_openat2) return carry_out();
  const auto* const path = reinterpret_cast<const char*>(given[1]);
  return judged(Call::kOpenat2, -1, path, carry_out);
}

ICEBLINK_HOOK DIR* opendir(const char* path) {
  const Verdict verdict = judge(Call::kOpendir, -1, path);
  if (verdict.action == Action::kNone) return next_opendir(path);
  errno = verdict.error;
  return nullptr;
}

ICEBLINK_HOOK int close(int fd) {
  const Verdict verdict = judge(Call::kClose, fd);
  const int result = next_close(fd);  // on Linux the descriptor is gone even after an error
  if (verdict.action == Action::kNone) return result;
  errno = verdict.error;
  return -1;
}

ICEBLINK_HOOK int stat(const char* path, struct stat* status) noexcept {
  return judged(Call::kStat, -1, path, [=] { return next_stat(path, status); });
}

ICEBLINK_HOOK int lstat(const char* path, struct stat* status) noexcept {
  return judged(Call::kLstat, -1, path, [=] { return next_lstat(path, status); });
}

ICEBLINK_HOOK int fstat(int fd, struct stat* status) noexcept {
  return judged(Call::kFstat, fd, nullptr, [=] { return next_fstat(fd, status); });
}

ICEBLINK_HOOK int statfs(const char* path, struct statfs* status) noexcept {
  return judged(Call::kStatfs, -1, path, [=] { return next_statfs(path, status); });
}

ICEBLINK_HOOK int statvfs(const char* path, struct statvfs* status) noexcept {
  return judged(Call::kStatvfs, -1, path, [=] { return next_statvfs(path, status); });
}

ICEBLINK_HOOK int fchmod(int fd, mode_t mode) noexcept {
  return judged(Call::kFchmod, fd, nullptr, [=] { return next_fchmod(fd, mode); });
}

ICEBLINK_HOOK int link(const char* from, const char* to) noexcept {
  return judged(Call::kLink, -1, to, [=] {
    return changed(RecordKind::kLink, AT_FDCWD, to, [=] { return next_link(from, to); });
  });
}

ICEBLINK_HOOK int linkat(int from_dir, const char* from, int to_dir, const char* to,
                         int flags) noexcept {
  return judged(Call::kLinkat, -1, to, [=] {
    return changed(RecordKind::kLink, to_dir, to,
                   [=] { return next_linkat(from_dir, from, to_dir, to, flags); });
  });
}

ICEBLINK_HOOK int unlink(const char* path) noexcept {
  return judged(Call::kUnlink, -1, path, [=] {
    return changed(RecordKind::kUnlink, AT_FDCWD, path, [=] { return next_unlink(path); });
  });
}

ICEBLINK_HOOK int unlinkat(int directory, const char* path, int flags) noexcept {
  const auto kind = (flags & AT_REMOVEDIR) != 0 ? RecordKind::kRmdir : RecordKind::kUnlink;
  return judged(Call::kUnlinkat, -1, path, [=] {
    return changed(kind, directory, path, [=] { return next_unlinkat(directory, path, flags); });
  });
}

ICEBLINK_HOOK int rename(const char* from, const char* to) noexcept {
  return judged(Call::kRename, -1, to, [=] {
    const Recording recording;
    const int result = next_rename(from, to);
    if (result == 0 && recording.is_on()) {
      const RecordedPath old_path(AT_FDCWD, from);
      const RecordedPath new_path(AT_FDCWD, to);
      recording.append({.kind = RecordKind::kRename}, old_path.view(), new_path.view());
    }
    return result;
  });
}

ICEBLINK_HOOK int mkdir(const char* path, mode_t mode) noexcept {
  return judged(Call::kMkdir, -1, path, [=] {
    return changed(RecordKind::kMkdir, AT_FDCWD, path, [=] { return next_mkdir(path, mode); });
  });
}

ICEBLINK_HOOK int mkdirat(int directory, const char* path, mode_t mode) noexcept {
  return judged(Call::kMkdirat, -1, path, [=] {
    return changed(RecordKind::kMkdir, directory, path,
                   [=] { return next_mkdirat(directory, path, mode); });
  });
}

ICEBLINK_HOOK int rmdir(const char* path) noexcept {
  return judged(Call::kRmdir, -1, path, [=] {
    return changed(RecordKind::kRmdir, AT_FDCWD, path, [=] { return next_rmdir(path); });
  });
}
