// Inside of the publisher: what it holds, what protects it. See shm/publisher.h for the contract.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "shm/arena_builder.h"
#include "shm/control_page.h"
#include "shm/directory_lock.h"
#include "shm/publisher.h"

namespace iceblink::shm {

class Publisher::State {
 public:
  explicit State(PublisherOptions options);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  Status open();
  Status start(const CatalogSource& source, std::uint64_t incarnation);
  Status reserve(Room room, std::span<const Change> changes);
  void release() noexcept;
  void publish(std::uint64_t generation, std::span<const Change> changes) noexcept;
  Status flip();
  PublisherStats stats() const;

  [[nodiscard]] std::optional<std::uint64_t> adopted_generation() const noexcept {
    return adopted_generation_;
  }
  [[nodiscard]] bool adopts_control() const noexcept { return present_ == Present::kAdoptable; }
  [[nodiscard]] const Atomic<std::uint64_t>& published() const noexcept { return published_; }
  [[nodiscard]] ControlPage* control() noexcept { return control_; }

 private:
  using Clock = std::chrono::steady_clock;

  Status adopt();  // open(), when there is a page
  [[nodiscard]] Result<std::uint64_t> generation_seen_through(RootWord root) const;
  void clear_reserved_bytes() noexcept;
  void look_for_epoch() noexcept;
  void look_at_arenas();
  [[nodiscard]] ArenaParameters parameters(std::uint32_t epoch, std::uint64_t generation) const;
  [[nodiscard]] std::string arena_path(std::uint32_t epoch) const {
    return options_.runtime_dir + "/" + kArenaPrefix + std::to_string(epoch);
  }
  void sweep_arenas(std::optional<std::uint32_t> keep_epoch);
  // start()'s last steps
  Status make_visible(std::unique_ptr<WritableArena> arena);
  Status place_control(RootWord root);

  void builder_main() noexcept;
  [[nodiscard]] Status build(Room need, bool forced) noexcept;
  /// One attempt to build and flip.
  Status build_and_flip(Room need, bool only_if_two_fit);
  Result<std::unique_ptr<WritableArena>> create_beside(const WritableArena& source,
                                                       std::uint64_t generation, Room need,
                                                       bool only_if_two_fit);
  void end_lingering(Clock::time_point now) noexcept;
  [[nodiscard]] std::uint64_t headroom_for(std::uint64_t live_bytes) noexcept;

  /// As many changes as are fetched from memory at once.
  static constexpr std::size_t kFetchedChanges = 16;
  void publish_some(std::uint64_t generation, std::span<const Change> changes) noexcept;
  [[nodiscard]] bool fits(Room room) const noexcept;      // under publish_mutex_
  [[nodiscard]] bool wants_replacement() const noexcept;  // under publish_mutex_
  void request_build(Room need) noexcept;                 // under publish_mutex_
  /// Has a build made that starts from now on, and waits for its end.
  void force_build(std::unique_lock<std::mutex>& lock, Room need);

  // Constant after start().
  PublisherOptions options_;
  const std::uint64_t started_s_;
  DirectoryLock lock_;
  WriteMapping control_mapping_;
  ControlPage* control_ = nullptr;
  Id control_id_{};
  std::optional<std::uint64_t> adopted_generation_;
  enum class Present : std::uint8_t { kNothing, kRetiredPage, kAdoptable, kForeign };
  Present present_ = Present::kNothing;
  std::optional<std::uint32_t> present_epoch_;  // of the page found, when its root can be read

  // Under publish_mutex_.
  mutable std::mutex publish_mutex_;
  std::unique_ptr<WritableArena> current_;
  std::uint64_t generation_ = 0;
  Room reserved_;
  Clock::time_point current_since_;
  std::uint64_t flip_count_ = 0;
  std::uint64_t failed_build_count_ = 0;
  std::uint64_t publish_count_ = 0;
  std::uint64_t publishes_during_build_count_ = 0;
  std::uint64_t quiet_until_publish_ = 0;  // after a failed build: do not try again before
  bool build_running_ = false;
  // The builder's mail box.
  bool stopping_ = false;
  bool build_requested_ = false;
  bool build_forced_ = false;  // somebody waits for it
  Room build_need_;
  std::uint64_t builds_done_ = 0;  // builds that ended, well or not
  Status last_build_ = Ok{};
  std::condition_variable builder_wakes_;
  std::condition_variable build_ended_;

  // Builder thread only (lingering_ also under publish_mutex_).
  struct Lingering {
    std::unique_ptr<WritableArena> arena;
    Clock::time_point until;
  };
  std::deque<Lingering> lingering_;
  std::uint64_t unmapping_bytes_ = 0;  // of the one that is just being let go of

  std::uint64_t headroom_boost_ = 1;

  /// = generation_, for those who wait without the mutex.
  Atomic<std::uint64_t> published_{0};

  std::thread builder_;  // last: it uses everything above
};

}  // namespace iceblink::shm
