// Files of the runtime directory, mapped with Boost.Interprocess.
//
// A ReadMapping is PROT_READ over a descriptor opened O_RDONLY, and the descriptor is closed
// again: nothing in a reader process can write the segment. A WriteMapping is a whole file that
// was made and allocated here: a read of a hole on a full tmpfs would be SIGBUS in a reader.
//
// Files of 2 MiB and more are mapped at multiples of that, if the place is free. Their writer asks
// the kernel for huge pages (MADV_COLLAPSE, Linux 6.1), which serve every such mapping.
//
// Thread safety: values; movable.
#pragma once

#include <iceblink/result.h>
#include <sys/types.h>

#include <boost/interprocess/mapped_region.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace iceblink::shm {

/// Which file a path led to.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

/// kNotFound, kNotAllowed, kIo.
[[nodiscard]] Result<FileIdentity> identity_of(const std::string& path);

class ReadMapping {
 public:
  /// Maps all of a regular file. kNotFound; kCorrupt: not a regular file, or empty; kNotAllowed;
  /// kIo; kOutOfMemory.
  [[nodiscard]] static Result<ReadMapping> open(const std::string& path);

  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return {static_cast<const std::byte*>(region_.get_address()), region_.get_size()};
  }
  [[nodiscard]] FileIdentity identity() const noexcept { return identity_; }

 private:
  boost::interprocess::mapped_region region_;
  FileIdentity identity_;
};

class WriteMapping {
 public:
  /// Makes `path` (O_EXCL), mode 0640, allocates `size_bytes` of it, maps it and faults it in.
  /// On failure nothing is left behind. kAlreadyExists, kNoSpace, kNotAllowed, kIo.
  [[nodiscard]] static Result<WriteMapping> create(const std::string& path,
                                                   std::uint64_t size_bytes);
  /// Maps an existing regular file of exactly `size_bytes`. kNotFound, kCorrupt, kNotAllowed, kIo.
  [[nodiscard]] static Result<WriteMapping> open(const std::string& path, std::uint64_t size_bytes);

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(region_.get_address()), region_.get_size()};
  }
  /// Unmaps in slices, so that other threads' page faults are not held up for long.
  void unmap() noexcept;

 private:
  boost::interprocess::mapped_region region_;
};

/// An Error of `errno_value`, as what it means here: ENOENT and ENOTDIR kNotFound, EACCES and EPERM
/// kNotAllowed, ENOSPC, EDQUOT and EFBIG kNoSpace, EEXIST kAlreadyExists, ENOMEM kOutOfMemory, else
/// kIo.
[[nodiscard]] Error system_error(const std::string& what, int errno_value);

}  // namespace iceblink::shm
