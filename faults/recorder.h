// Writes the record (record.h) of this process.
//
// Thread safety: any thread. One call at a time is carried out and recorded, so that the record's
// order is the order of the calls. A forked child does not record. Nothing here allocates.
#pragma once

#include <cstdint>
#include <string_view>

#include "faults/record.h"

namespace iceblink::faults {

/// Appends to `file` from now on. False when it cannot be opened.
[[nodiscard]] bool start_recording(const char* file) noexcept;

/// Held while a call is carried out and recorded; of no effect when nothing is recorded.
class Recording {
 public:
  Recording() noexcept;
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  [[nodiscard]] bool is_on() const noexcept { return is_on_; }
  /// `head` without its sizes.
  void append(RecordHead head, std::string_view path, std::string_view data) const noexcept;

 private:
  bool is_on_;
};

/// A path as the record has it: absolute, of what `path` names below `directory` (or AT_FDCWD).
class RecordedPath {
 public:
  RecordedPath(int directory, const char* path) noexcept;
  /// Of an open descriptor.
  explicit RecordedPath(int fd) noexcept;
  [[nodiscard]] std::string_view view() const noexcept { return {bytes_, size_}; }
  [[nodiscard]] const char* c_str() const noexcept { return bytes_; }

 private:
  void read_link(int fd) noexcept;

  char bytes_[4096];
  std::size_t size_ = 0;
};

/// 0: not a regular file.
[[nodiscard]] std::uint64_t inode_of(int fd) noexcept;
[[nodiscard]] bool is_directory(int fd) noexcept;
[[nodiscard]] bool is_socket(int fd) noexcept;
/// Of what is there, without following a link; 0: nothing.
[[nodiscard]] std::uint64_t inode_at(const char* path) noexcept;

}  // namespace iceblink::faults
