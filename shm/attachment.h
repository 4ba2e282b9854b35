// How a process comes to a mapping of the current arena: a state machine with a deadline.
//
//   opening_control -> checking_control -> reading_root -> opening_arena -> checking_arena ->
//   attached
//
// Steps back: the root moved while its arena was opened (reading_root); the page was retired or
// is no longer the file at its path, or the arena belongs to another page (opening_control).
// Version, length and identity are checked before anything of a file is exposed.
//
// Thread safety: a Mapping is immutable and shared; an Attachment belongs to one thread.
#pragma once

#include <iceblink/result.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "shm/arena_view.h"
#include "shm/file_mapping.h"

namespace iceblink::shm {

/// A mapped control page.
struct ControlMapping {
  ReadMapping file;
  const ControlPage* page = nullptr;
};

/// A control page together with the arena that its root named.
struct Mapping : std::enable_shared_from_this<Mapping> {
  std::shared_ptr<const ControlMapping> control;
  ReadMapping file;
  ArenaView arena;
  const ControlPage* page = nullptr;  // of `control`
  std::uint32_t epoch = 0;
  /// Names this mapping within the process: none has the same, and later ones have larger ones.
  std::uint32_t serial = 0;
};

enum class AttachState : std::uint8_t {
  kOpeningControl,
  kCheckingControl,
  kReadingRoot,
  kOpeningArena,
  kCheckingArena,
  kAttached,
};
[[nodiscard]] std::string_view to_string(AttachState state) noexcept;

class Attachment {
 public:
  using Clock = std::chrono::steady_clock;

  /// Now and `timeout`; not before now, and not after the clock's end.
  [[nodiscard]] static Clock::time_point deadline_after(std::chrono::nanoseconds timeout) noexcept {
    const auto now = Clock::now();
    if (timeout <= std::chrono::nanoseconds::zero()) return now;
    return timeout < Clock::time_point::max() - now ? now + timeout : Clock::time_point::max();
  }

  /// `control` is the page to begin with; null to open it by its path.
  Attachment(std::string runtime_dir, std::shared_ptr<const ControlMapping> control);

  /// Runs to kAttached. Waits, napping, for a page or a successor of a retired page as long as
  /// `patience` from the first nap on, and for nothing else.
  /// kNoSegment: no page, or a retired one without successor, when that is over. kCorrupt,
  /// kIncompatible (both versions), kNotAllowed, kIo, kOutOfMemory.
  [[nodiscard]] Result<std::shared_ptr<const Mapping>> run(std::chrono::nanoseconds patience);

  [[nodiscard]] AttachState state() const noexcept { return state_; }

 private:
  Status step();
  Status open_control();
  Status check_control_page();
  Status read_root();
  Status open_arena();
  Status check_arena();
  /// True when the file at the control path is not the page in use.
  [[nodiscard]] bool page_was_replaced() const;
  Status wait_or_fail(const std::string& why);

  const std::string runtime_dir_;
  const std::string control_path_;
  AttachState state_;
  std::shared_ptr<const ControlMapping> control_;
  std::shared_ptr<ControlMapping> unchecked_control_;
  std::shared_ptr<Mapping> mapping_;
  RootWord root_ = 0;
  std::chrono::nanoseconds patience_{0};
  std::optional<Clock::time_point> deadline_;  // none: has not waited
  int steps_ = 0;                              // since the last nap
};

}  // namespace iceblink::shm
