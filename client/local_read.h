// One local file on its way into memory, as the steps between system calls; who makes these, and
// how, is not decided here.
//
// Thread safety: belongs to one thread at a time.
//
//   open ──▶ after_open ──kRead──▶ read into space() ──▶ after_read ──kDone──▶ take the result
//     ◀──────── kOpen ◀────┘           ◀────── kRead ◀──────┘
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "client/file_places.h"
#include "client/file_reader.h"
#include "client/open_files.h"
#include "iceberg/byte_buffer.h"

namespace iceblink::client {

/// What is read into when a file does not say its size, as those of /proc do not.
inline constexpr std::size_t kGuessBytes = std::size_t{32} << 10;

class LocalRead {
 public:
  enum class Step : std::uint8_t { kOpen, kRead, kDone };

  /// `location`, `wanted` and `content` are borrowed.
  LocalRead(const std::string& location, std::vector<LocalPath> paths, std::size_t bytes_max,
            std::size_t index, const BytesWanted& wanted,
            Result<iceberg::ByteBuffer>& content) noexcept;

  /// Makes the calls itself, one after the other, from the first.
  void run(OpenFiles& open_files) noexcept;

  [[nodiscard]] const LocalPath& path() const noexcept { return paths_[path_index_]; }
  /// `result`: a descriptor, or a negative errno.
  [[nodiscard]] Step after_open(int result) noexcept;

  [[nodiscard]] int fd() const noexcept { return fd_; }
  [[nodiscard]] char* space() noexcept { return buffer_.data() + byte_count_; }
  [[nodiscard]] std::size_t space_bytes() const noexcept;
  [[nodiscard]] std::uint64_t offset() const noexcept { return byte_count_; }
  /// `result`: bytes that were read, or a negative errno. With kDone the content is set.
  [[nodiscard]] Step after_read(std::ptrdiff_t result) noexcept;

  /// Gives the descriptor back, if there is one.
  void close(OpenFiles& open_files) noexcept;
  /// After a call whose result will never be known; run() may follow. The kernel may still write to
  /// the memory: it stays where it is, for ever.
  void leave_memory() noexcept { buffer_.leak(); }
  /// The same for the descriptor, whose number may be somebody else's by now.
  void leave_descriptor(OpenFiles& open_files) noexcept;

  [[nodiscard]] bool is_done() const noexcept { return is_done_; }

 private:
  [[nodiscard]] Step fail(Error error) noexcept;
  [[nodiscard]] Status take_memory(std::size_t bytes) noexcept;
  /// Announces `bytes` beside those that it has, which are copied into them.
  void announce(std::size_t bytes) const;
  [[nodiscard]] Status look_at_file() noexcept;
  [[nodiscard]] Status make_space() noexcept;
  void finish() noexcept;
  /// One more than allowed, so that a file that is too large shows.
  [[nodiscard]] std::size_t buffer_bytes_max() const noexcept;

  const std::string& location_;
  const std::vector<LocalPath> paths_;
  const std::size_t bytes_max_;
  const std::size_t index_;
  const BytesWanted& wanted_;
  Result<iceberg::ByteBuffer>& content_;

  std::size_t path_index_ = 0;
  int retry_count_ = 0;
  int fd_ = -1;
  std::size_t said_bytes_ = 0;  // by fstat
  std::size_t byte_count_ = 0;
  bool is_done_ = false;
  iceberg::ByteBuffer buffer_;
};

}  // namespace iceblink::client
