// The rings that batches of local files are read through. A call takes one, has it for itself until
// it gives it back, and reads plainly when there is none for it.
//
// Rings are not shared between calls: submitting to one, and finishing what was submitted, may wait
// for a file system that does not answer, and so would all whose files are in it.
//
// Thread safety: all of it, but for the part that fork handlers call.
//
// Fork: the child has no ring; it makes its own when it wants one. Those that other threads had
// taken are closed in it, too: none of these threads exists there.
#pragma once

#include <iceblink/result.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "client/open_files.h"
#include "client/ring_reader.h"

namespace iceblink::client {

class RingPool {
 public:
  /// Each has a descriptor, and up to RingReader::kFilesMax files open. One stays free for batches:
  /// single files gain less by it.
  static constexpr std::size_t kRingsMax = 4;

  /// `refusal`: why none is to be used; empty when they may be.
  RingPool(std::string refusal, OpenFiles& open_files);

  /// A ring for reading so many files; null where there is none: all are taken, or the kernel
  /// refuses to make one. After a shortage (of descriptors, of memory) it is asked again, else not.
  [[nodiscard]] RingReader* take(std::size_t file_count) noexcept;
  /// `outcome`: of its last run(). A ring that failed is closed.
  void give_back(RingReader& ring, const Status& outcome) noexcept;

  struct State {
    bool is_used = false;
    std::string refusal;
  };
  [[nodiscard]] State state() const;

  // For fork handlers.
  void lock() { mutex_.lock(); }
  void unlock() noexcept { mutex_.unlock(); }
  /// In the child. The mutex is held.
  void close_all() noexcept;

 private:
  struct Slot {
    std::unique_ptr<RingReader> ring;
    bool is_taken = false;
  };

  [[nodiscard]] bool has_ring_locked() const noexcept;
  [[nodiscard]] bool make_locked(Slot& slot) noexcept;
  void refuse_locked(const Error& refusal) noexcept;

  OpenFiles& open_files_;
  mutable std::mutex mutex_;
  // Under mutex_.
  std::array<Slot, kRingsMax> slots_;
  std::optional<Error> refusal_;  // the last one, while there is no ring
  bool is_refused_ = false;       // for good
};

}  // namespace iceblink::client
