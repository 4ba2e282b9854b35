// Several local files at once through a ring: at most kFilesMax are open, or have memory, and are
// not read to their end. More would not be faster, and a host's descriptors are not ours to use up.
//
// Thread safety: one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "client/local_read.h"
#include "client/open_files.h"
#include "client/ring.h"

namespace iceblink::client {

class RingReader {
 public:
  static constexpr std::size_t kFilesMax = 64;

  /// As Ring::make.
  [[nodiscard]] static Result<std::unique_ptr<RingReader>> make(OpenFiles& open_files);

  /// Returns when all are done; or with a ring_refusal(), after which the ring is of no use, and
  /// what is not done may be run anew.
  [[nodiscard]] Status run(std::span<LocalRead> reads) noexcept;

 private:
  struct Slot {
    LocalRead* read = nullptr;
    LocalRead::Step step = LocalRead::Step::kOpen;  // the call that is under way
    bool is_postponed = false;                      // it is not, for want of descriptors
    open_how how{};
  };

  RingReader(std::unique_ptr<Ring> ring, OpenFiles& open_files) noexcept;
  [[nodiscard]] bool has_room() const noexcept { return active_count_ < active_count_max_; }
  void start(LocalRead& read) noexcept;
  void submit(std::size_t index) noexcept;
  void advance(const Ring::Completion& completion) noexcept;
  void postpone(std::size_t index) noexcept;
  void resume_postponed() noexcept;
  void release(std::size_t index) noexcept;
  void abandon(int code) noexcept;

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
