// Reads metadata files whole: one by pread, several through io_uring, those of other schemes
// through the engine's own reader.
//
// Thread safety: everything may be called from any thread. After fork the child has a ring of its
// own. Starts no threads.
#pragma once

#include <iceblink/object_reader.h>
#include <iceblink/options.h>
#include <iceblink/result.h>
#include <iceblink/stats.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "iceberg/byte_buffer.h"

namespace iceblink::client {

/// Told before memory for a file's content is taken, so that it can be accounted for: the file's
/// index and all the bytes its content will take; again, with a larger number, where a file proves
/// other than it seemed: what it has and what it moves to count both. Called in the thread that
/// reads; may not fork.
using BytesWanted = std::function<void(std::size_t index, std::size_t bytes)>;

/// One file of a batch.
struct FileRead {
  std::string location;                                        // as stored in the catalog
  Result<iceberg::ByteBuffer> content{iceberg::ByteBuffer{}};  // out
};

class FileReader {
 public:
  /// kInvalidArgument: a setting that cannot be.
  [[nodiscard]] static Result<std::unique_ptr<FileReader>> make(const FileOptions& options);
  ~FileReader();

  /// The whole file. Errors name the location as given (and no local path): kNotFound; kNotAllowed
  /// (permissions; outside the allowed roots); kUnsupported (scheme, host); kInvalidArgument (no
  /// location; not a regular file); kTooLarge; kIo; kOutOfMemory.
  ///
  /// A file system that does not answer holds up those calls that have a file of it, no others.
  [[nodiscard]] Result<iceberg::ByteBuffer> read(const std::string& location, std::size_t bytes_max,
                                                 const BytesWanted& wanted = {}) noexcept;

  /// All of them, with many under way at once. Every `content` is set; one that fails does not
  /// disturb the others.
  void read_many(std::span<FileRead> files, std::size_t bytes_max,
                 const BytesWanted& wanted = {}) noexcept;

  using Stats = FileStats;
  [[nodiscard]] Stats stats() const noexcept;

 private:
  class State;
  explicit FileReader(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace iceblink::client
