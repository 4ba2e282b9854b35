// Calls that move and sync the bytes of files, in front of libc's.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

#include "faults/judgement.h"
#include "faults/next.h"
#include "faults/recorder.h"

#define ICEBLINK_HOOK extern "C" [[gnu::visibility("default")]]

namespace iceblink::faults {
namespace {

constexpr int kPartsMax = 64;  // LMDB's, and more than anybody else's

constinit Next<decltype(::read)> next_read("read");
constinit Next<decltype(::pread)> next_pread("pread");
constinit Next<decltype(::preadv2)> next_preadv2("preadv2");
constinit Next<decltype(::lseek)> next_lseek("lseek");
constinit Next<decltype(::write)> next_write("write");
constinit Next<decltype(::writev)> next_writev("writev");
constinit Next<decltype(::pwrite)> next_pwrite("pwrite");
constinit Next<decltype(::pwritev)> next_pwritev("pwritev");
constinit Next<decltype(::fsync)> next_fsync("fsync");
constinit Next<decltype(::fdatasync)> next_fdatasync("fdatasync");
constinit Next<decltype(::msync)> next_msync("msync");
constinit Next<decltype(::ftruncate)> next_ftruncate("ftruncate");
constinit Next<decltype(::posix_fallocate)> next_fallocate("posix_fallocate");
constinit Next<int(int, int, ...)> next_fcntl("fcntl");

/// Writes by `write_it`, and records what was written where. `offset` < 0: where the file stands.
template <typename Write>
ssize_t written(int fd, off_t offset, const struct iovec* parts, int count,
                Write write_it) noexcept {
  const Recording recording;
  if (!recording.is_on()) return write_it();
  const std::uint64_t inode = inode_of(fd);
  if (inode == 0) {
    if (is_socket(fd) && count > 0) {
      recording.append({.kind = RecordKind::kSend}, {},
                       {static_cast<const char*>(parts[0].iov_base), parts[0].iov_len});
    }
    return write_it();
  }
  off_t at = offset < 0 ? next_lseek(fd, 0, SEEK_CUR) : offset;
  const ssize_t result = write_it();
  const int flags = next_fcntl(fd, F_GETFL);
  auto rest = static_cast<std::size_t>(std::max<ssize_t>(result, 0));
  for (int i = 0; i < count && rest > 0; ++i) {
    const std::size_t bytes = std::min(rest, parts[i].iov_len);
    recording.append({.kind = RecordKind::kWrite,
                      .is_durable = (flags & (O_DSYNC | O_SYNC)) != 0 ? 1u : 0u,
                      .inode = inode,
                      .offset = static_cast<std::uint64_t>(at)},
                     {}, {static_cast<const char*>(parts[i].iov_base), bytes});
    at += static_cast<off_t>(bytes);
    rest -= bytes;
  }
  return result;
}

/// Syncs by `sync_it`, and records which file or directory is durable now.
template <typename Sync>
int synced(int fd, Sync sync_it) noexcept {
  const Recording recording;
  const int result = sync_it();
  if (result != 0 || !recording.is_on()) return result;
  if (is_directory(fd)) {
    const RecordedPath path(fd);
    recording.append({.kind = RecordKind::kSync}, path.view(), {});
  } else {
    recording.append({.kind = RecordKind::kSync, .inode = inode_of(fd)}, {}, {});
  }
  return result;
}

/// The first `bytes` of what `parts` describe.
struct Shortened {
  Shortened(const struct iovec* parts, int part_count, std::size_t bytes) noexcept {
    for (; count < std::min(part_count, kPartsMax) && bytes > 0; ++count) {
      shorter[count] = parts[count];
      shorter[count].iov_len = std::min(parts[count].iov_len, bytes);
      bytes -= shorter[count].iov_len;
    }
  }
  struct iovec shorter[kPartsMax];
  int count = 0;
};

std::size_t size_of(const struct iovec* parts, int count) noexcept {
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) bytes += parts[i].iov_len;
  return bytes;
}

}  // namespace
}  // namespace iceblink::faults

using namespace iceblink::faults;  // the hooks stand outside, under libc's names

ICEBLINK_HOOK ssize_t read(int fd, void* to, size_t bytes) {
  return judged_transfer(Call::kRead, fd, bytes,
                         [=](std::size_t n) { return next_read(fd, to, n); });
}

ICEBLINK_HOOK ssize_t pread(int fd, void* to, size_t bytes, off_t offset) {
  return judged_transfer(Call::kPread, fd, bytes,
                         [=](std::size_t n) { return next_pread(fd, to, n, offset); });
}

ICEBLINK_HOOK ssize_t preadv2(int fd, const struct iovec* parts, int count, off_t offset,
                              int flags) {
  return judged_transfer(Call::kPreadv2, fd, size_of(parts, count), [=](std::size_t n) {
    const Shortened some(parts, count, n);
    return next_preadv2(fd, some.shorter, some.count, offset, flags);
  });
}

ICEBLINK_HOOK off_t lseek(int fd, off_t offset, int whence) noexcept {
  return judged(Call::kLseek, fd, nullptr, [=] { return next_lseek(fd, offset, whence); });
}

ICEBLINK_HOOK ssize_t write(int fd, const void* from, size_t bytes) {
  return judged_transfer(Call::kWrite, fd, bytes, [=](std::size_t n) {
    const struct iovec part { const_cast<void*>(from), n };
    return written(fd, -1, &part, 1, [=] { return next_write(fd, from, n); });
  });
}

ICEBLINK_HOOK ssize_t writev(int fd, const struct iovec* parts, int count) {
  return judged_transfer(Call::kWritev, fd, size_of(parts, count), [=](std::size_t n) {
    const Shortened some(parts, count, n);
    return written(fd, -1, some.shorter, some.count,
                   [fd, &some] { return next_writev(fd, some.shorter, some.count); });
  });
}

ICEBLINK_HOOK ssize_t pwrite(int fd, const void* from, size_t bytes, off_t offset) {
  return judged_transfer(Call::kPwrite, fd, bytes, [=](std::size_t n) {
    const struct iovec part { const_cast<void*>(from), n };
    return written(fd, offset, &part, 1, [=] { return next_pwrite(fd, from, n, offset); });
  });
}

ICEBLINK_HOOK ssize_t pwritev(int fd, const struct iovec* parts, int count, off_t offset) {
  return judged_transfer(Call::kPwritev, fd, size_of(parts, count), [=](std::size_t n) {
    const Shortened some(parts, count, n);
    return written(fd, offset, some.shorter, some.count, [fd, offset, &some] {
      return next_pwritev(fd, some.shorter, some.count, offset);
    });
  });
}

ICEBLINK_HOOK int fsync(int fd) {
  return judged(Call::kFsync, fd, nullptr,
                [=] { return synced(fd, [=] { return next_fsync(fd); }); });
}

ICEBLINK_HOOK int fdatasync(int fd) {
  return judged(Call::kFdatasync, fd, nullptr,
                [=] { return synced(fd, [=] { return next_fdatasync(fd); }); });
}

ICEBLINK_HOOK int msync(void* address, size_t bytes, int flags) {
  return judged(Call::kMsync, -1, nullptr, [=] {
    const Recording recording;
    if (recording.is_on()) recording.append({.kind = RecordKind::kSyncMap}, {}, {});
    return next_msync(address, bytes, flags);
  });
}

ICEBLINK_HOOK int ftruncate(int fd, off_t length) noexcept {
  return judged(Call::kFtruncate, fd, nullptr, [=] {
    const Recording recording;
    const int result = next_ftruncate(fd, length);
    if (result == 0 && recording.is_on()) {
      recording.append({.kind = RecordKind::kTruncate,
                        .inode = inode_of(fd),
                        .offset = static_cast<std::uint64_t>(length)},
                       {}, {});
    }
    return result;
  });
}

ICEBLINK_HOOK int posix_fallocate(int fd, off_t offset, off_t bytes) {
  const Verdict verdict = judge(Call::kFallocate, fd);
  if (verdict.action != Action::kNone) return verdict.error;  // errno is not its way
  const Recording recording;
  const int result = next_fallocate(fd, offset, bytes);
  if (result == 0 && recording.is_on()) {
    recording.append({.kind = RecordKind::kExtend,
                      .inode = inode_of(fd),
                      .offset = static_cast<std::uint64_t>(offset + bytes)},
                     {}, {});
  }
  return result;
}
