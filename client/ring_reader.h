// Several local files at once through a ring: at most kFilesMax are open, or have memory, and are
// not read to their end.
//
// Thread safety: one thread at a time, which drains what it started; wake() from any.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "client/local_read.h"
#include "client/open_files.h"
#include "client/ring.h"

namespace iceblink::client {

class RingReader {
 public:
  static constexpr std::size_t kFilesMax = 128;

  /// As Ring::make.
  [[nodiscard]] static Result<std::unique_ptr<RingReader>> make(OpenFiles& open_files);

  [[nodiscard]] bool has_room() const noexcept { return active_count_ < active_count_max_; }
  [[nodiscard]] std::size_t active_count() const noexcept { return active_count_; }
  /// There is room. `owner` comes back with it.
  void start(LocalRead& read, void* owner) noexcept;

  struct Finished {
    LocalRead* read;
    void* owner;
  };
  /// Lets what was started go on until something happens, or wake() is called. Other than 0: the
  /// errno for which the ring is of no use any longer.
  [[nodiscard]] int wait() noexcept;
  /// What came to its end by that.
  [[nodiscard]] std::optional<Finished> next() noexcept;
  /// After a wait() that failed: the reads that were under way, one by one, to be begun anew.
  [[nodiscard]] std::optional<Finished> next_abandoned(int code) noexcept;

  void wake() noexcept { ring_->wake(); }
  /// Nothing is active.
  [[nodiscard]] int quiesce() noexcept;

 private:
  struct Slot {
    LocalRead* read = nullptr;
    void* owner = nullptr;
    LocalRead::Step step = LocalRead::Step::kOpen;  // the call that is under way
    bool is_postponed = false;                      // it is not, for want of descriptors
    open_how how{};
  };

  RingReader(std::unique_ptr<Ring> ring, OpenFiles& open_files) noexcept;
  void submit(std::size_t index) noexcept;
  void postpone(std::size_t index) noexcept;
  void resume_postponed() noexcept;
  [[nodiscard]] Finished release(std::size_t index) noexcept;

  const std::unique_ptr<Ring> ring_;
  OpenFiles& open_files_;
  std::array<Slot, kFilesMax> slots_;
  std::array<std::size_t, kFilesMax> free_{};  // the first free_count_ are indices of free slots
  std::size_t free_count_ = kFilesMax;
  std::size_t active_count_ = 0;
  std::size_t active_count_max_ = kFilesMax;  // less while descriptors are short
  std::size_t postponed_count_ = 0;
};

}  // namespace iceblink::client
