#include "shm/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/interprocess/exceptions.hpp>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace iceblink::shm {
namespace {

namespace bi = boost::interprocess;

// One call for hundreds of megabytes holds the caller up; steps of this size take microseconds.
constexpr std::uint64_t kAllocateStepBytes = 256 << 10;
constexpr std::uint64_t kPopulateStepBytes = 16 << 20;
constexpr std::uint64_t kUnmapStepBytes = 8 << 20;
constexpr std::uint64_t kSmallPageBytes = 4096;
constexpr std::uint64_t kHugePageBytes = 2 << 20;

#ifndef MADV_COLLAPSE  // Linux 6.1
#define MADV_COLLAPSE 25
#endif

/// A file that is mapped next; closed when it has been. A memory mappable of Boost.Interprocess.
class OpenFile {
 public:
  /// A regular file, and no other: opening a pipe does not wait for its other end. `access`:
  /// O_RDONLY or O_RDWR.
  [[nodiscard]] static Result<OpenFile> open(const std::string& path, int access) {
    OpenFile file;
    file.fd_ = ::open(path.c_str(), access | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file.fd_ < 0 && errno != ENXIO) return system_error(path, errno);
    struct stat status {};
    if (file.fd_ >= 0 && ::fstat(file.fd_, &status) != 0) return system_error(path, errno);
    if (!S_ISREG(status.st_mode)) return {ErrorKind::kCorrupt, path + ": is not a regular file"};
    file.identity_ = {status.st_dev, status.st_ino};
    file.size_bytes_ = static_cast<std::uint64_t>(status.st_size);
    return file;
  }
  OpenFile(OpenFile&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        identity_(other.identity_),
        size_bytes_(other.size_bytes_) {}
  OpenFile& operator=(OpenFile&&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] bi::mapping_handle_t get_mapping_handle() const noexcept { return {fd_, false}; }
  [[nodiscard]] FileIdentity identity() const noexcept { return identity_; }
  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }

 private:
  OpenFile() = default;
  int fd_ = -1;
  FileIdentity identity_;
  std::uint64_t size_bytes_ = 0;
};

/// Where a mapping of so many bytes can have huge pages; null for anywhere. The place is free, but
/// not taken: another thread may take it.
void* find_aligned_place(std::uint64_t size_bytes) {
  if (size_bytes < kHugePageBytes) return nullptr;
  const std::uint64_t span = size_bytes + kHugePageBytes;
  void* const place = ::mmap(nullptr, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return nullptr;
  ::munmap(place, span);
  const auto address = reinterpret_cast<std::uintptr_t>(place);
  return reinterpret_cast<void*>((address + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes);
}

/// All of it. Throws bi::interprocess_exception.
bi::mapped_region map_aligned(const OpenFile& file, bi::mode_t mode) {
  const std::uint64_t size_bytes = file.size_bytes();
  if (void* const place = find_aligned_place(size_bytes); place != nullptr) {
    try {
      return bi::mapped_region(file, mode, 0, size_bytes, place);
    } catch (const bi::interprocess_exception&) {
      // taken: anywhere, then
    }
  }
  return bi::mapped_region(file, mode, 0, size_bytes);
}

Result<bi::mapped_region> map(const std::string& path, const OpenFile& file, bi::mode_t mode) {
  try {
    return map_aligned(file, mode);
  } catch (const bi::interprocess_exception& error) {
    return system_error(path, error.get_native_error());
  } catch (const std::bad_alloc&) {
    return {ErrorKind::kOutOfMemory, path};
  }
}

/// Makes huge pages of the pages there. False: the kernel does not, or not just now.
bool collapse(std::span<std::byte> bytes) {
  // A mapping without a page table is refused by kernels before 6.18.
  for (std::uint64_t at = 0; at < bytes.size(); at += kHugePageBytes) {
    ::madvise(bytes.data() + at, kSmallPageBytes, MADV_POPULATE_WRITE);
  }
  return ::madvise(bytes.data(), bytes.size(), MADV_COLLAPSE) == 0;
}

/// Faults all pages in, as huge pages where that is possible: a lookup in a large catalog then
/// waits for memory, and not for page tables besides.
void populate(std::span<std::byte> bytes) {
  int refusals_left = 2;  // one may be a page that is busy
  for (std::uint64_t at = 0; at < bytes.size(); at += kPopulateStepBytes) {
    const auto step = bytes.subspan(at, std::min(kPopulateStepBytes, bytes.size() - at));
    const std::uint64_t huge_bytes = step.size() / kHugePageBytes * kHugePageBytes;
    if (refusals_left > 0 && huge_bytes > 0 && !collapse(step.first(huge_bytes))) --refusals_left;
    // A kernel that knows no populate faults the pages in one by one, later.
    if (::madvise(step.data(), step.size(), MADV_POPULATE_WRITE) != 0) break;
  }
}

int allocate(int descriptor, std::uint64_t size_bytes) {
  for (std::uint64_t at = 0; at < size_bytes; at += kAllocateStepBytes) {
    const auto step = std::min(kAllocateStepBytes, size_bytes - at);
    int error = EINTR;
    while (error == EINTR) {
      error = ::posix_fallocate(descriptor, static_cast<off_t>(at), static_cast<off_t>(step));
    }
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace

Error system_error(const std::string& what, int errno_value) {
  ErrorKind kind = ErrorKind::kIo;
  switch (errno_value) {
    case ENOENT:
    case ENOTDIR:
      kind = ErrorKind::kNotFound;
      break;
    case EACCES:
    case EPERM:
    case EROFS:
      kind = ErrorKind::kNotAllowed;
      break;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      kind = ErrorKind::kNoSpace;
      break;
    case EEXIST:
      kind = ErrorKind::kAlreadyExists;
      break;
    case ENOMEM:
      kind = ErrorKind::kOutOfMemory;
      break;
    default:
      break;
  }
  return {kind, what + ": " + std::generic_category().message(errno_value)};
}

Result<FileIdentity> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return system_error(path, errno);
  return FileIdentity{status.st_dev, status.st_ino};
}

Result<ReadMapping> ReadMapping::open(const std::string& path) {
  ICEBLINK_ASSIGN_OR_RETURN(const OpenFile file, OpenFile::open(path, O_RDONLY));
  if (file.size_bytes() == 0) return {ErrorKind::kCorrupt, path + ": is empty"};
  ReadMapping mapping;
  ICEBLINK_ASSIGN_OR_RETURN(mapping.region_, map(path, file, bi::read_only));
  mapping.identity_ = file.identity();
  return mapping;
}

Result<WriteMapping> WriteMapping::create(const std::string& path, std::uint64_t size_bytes) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
  if (descriptor < 0) return system_error(path, errno);
  int error = ::fchmod(descriptor, 0640) == 0 ? 0 : errno;  // whatever the umask
  // The size first: a mount with huge=within_size then has huge pages from the beginning.
  if (error == 0 && ::ftruncate(descriptor, static_cast<off_t>(size_bytes)) != 0) error = errno;
  if (error == 0) error = allocate(descriptor, size_bytes);
  ::close(descriptor);
  if (error != 0) {
    ::unlink(path.c_str());
    return system_error(path + " (" + std::to_string(size_bytes) + " bytes)", error);
  }
  auto mapping = open(path, size_bytes);
  if (!mapping) {
    ::unlink(path.c_str());
    return mapping;
  }
  populate(mapping->bytes());
  return mapping;
}

Result<WriteMapping> WriteMapping::open(const std::string& path, std::uint64_t size_bytes) {
  ICEBLINK_ASSIGN_OR_RETURN(const OpenFile file, OpenFile::open(path, O_RDWR));
  if (file.size_bytes() != size_bytes) {
    return {ErrorKind::kCorrupt, path + ": has " + std::to_string(file.size_bytes()) +
                                     " bytes, expected " + std::to_string(size_bytes)};
  }
  if (size_bytes == 0) return {ErrorKind::kCorrupt, path + ": is empty"};
  WriteMapping mapping;
  ICEBLINK_ASSIGN_OR_RETURN(mapping.region_, map(path, file, bi::read_write));
  return mapping;
}

void WriteMapping::unmap() noexcept {
  while (region_.get_size() > kUnmapStepBytes) {
    if (!region_.shrink_by(kUnmapStepBytes, true)) break;
  }
  bi::mapped_region().swap(region_);
}

}  // namespace iceblink::shm
