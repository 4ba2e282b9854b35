// The daemon's end of the segment: owns the control page and the arenas of one runtime directory.
//
// Life of a publisher:  open -> (the store catches up with adopted_generation) -> start ->
//                       { reserve -> [store commits durably] -> publish }* -> destroy
//
// Thread safety: reserve, release and publish are called by one thread, the writer. Everything
// else may be called from any thread. A builder thread of the publisher's own makes new arenas.
//
// Invariants:
//  - The runtime directory is locked by this object for as long as it lives.
//  - Only publish() and the last step of a flip store the root word, both under `publish_mutex_`.
//  - What reserve() granted cannot fail in publish(); a flip carries the grant over.
//  - The arena that the root names is never unlinked.
#pragma once

#include <iceblink/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "shm/change.h"
#include "shm/layout.h"

namespace iceblink::shm {

/// Room in an arena, for a number of changes.
struct Room {
  std::uint64_t bytes = 0;
  std::uint64_t slots = 0;

  Room& operator+=(const Room& other) noexcept {
    bytes += other.bytes;
    slots += other.slots;
    return *this;
  }
};

/// What became of a new arena beside the current one.
struct BuildReport {
  Status status = Ok{};
  std::uint32_t epoch = 0;  // of the arena that is current now, as all below
  std::uint64_t arena_bytes = 0;
  std::uint64_t garbage_bytes_before = 0;
  std::uint64_t table_count = 0;
  std::chrono::nanoseconds duration{0};
};

struct PublisherOptions {
  std::string runtime_dir;  // must exist
  Id store_uuid{};
  std::uint64_t incarnation = 0;
  std::uint64_t hash_seed = 0;
  std::string daemon_version;
  /// Replace a control page that cannot be adopted (another store's, another layout, damaged)
  /// instead of refusing it. Readers of the old page attach anew.
  enum class OnForeignControl : std::uint8_t { kRefuse, kReplace };
  OnForeignControl on_foreign_control = OnForeignControl::kRefuse;
  /// Least free room of a new arena, in bytes. It is also at least 1/16 of the live records.
  std::uint64_t headroom_bytes_min = std::uint64_t{1} << 20;
  /// How long the daemon keeps a replaced arena open, so that it and not a reader pays for
  /// freeing the pages.
  std::chrono::milliseconds linger{1000};
  /// Called after each build of an arena, on the builder's thread; must not throw.
  std::function<void(const BuildReport&)> on_build;
};

struct PublisherStats {
  std::uint64_t generation = 0;
  std::uint32_t epoch = 0;
  std::uint64_t table_count = 0;
  std::uint64_t view_count = 0;
  std::uint64_t namespace_count = 0;
  std::uint64_t arena_bytes = 0;          // file size of the current arena
  std::uint64_t arena_used_bytes = 0;     // header, index and records
  std::uint64_t arena_garbage_bytes = 0;  // superseded records and tombstones
  std::uint64_t index_used_slots = 0;
  std::uint64_t index_capacity = 0;
  std::uint64_t flip_count = 0;          // since start
  std::uint64_t failed_build_count = 0;  // builds given up, for want of space
  std::uint64_t publish_count = 0;
  std::uint64_t publishes_during_build_count = 0;
  std::uint64_t lingering_bytes = 0;  // replaced arenas still held open by the daemon
};

class Publisher {
 public:
  /// Locks the directory and reads the control page, if there is one.
  /// kConflict: another daemon holds the lock (the message names its pid). kIncompatible,
  /// kCorrupt: a control page that cannot be adopted. kIo, kNotAllowed.
  [[nodiscard]] static Result<std::unique_ptr<Publisher>> open(PublisherOptions options);
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  /// The highest generation that readers may have seen in this directory, of this store: the
  /// control page's, or, where there is none to adopt, that of the arenas left. The store's must
  /// be above it, or equal, durably, before start() (rule 17).
  [[nodiscard]] std::optional<std::uint64_t> adopted_generation() const noexcept;
  /// False: there is no control page to go on with, so what readers have seen may be lost, and
  /// the store needs a new incarnation before start(), for no feed to run over the gap.
  [[nodiscard]] bool adopts_control() const noexcept;

  /// Sweeps orphans, builds an arena from `source` and makes it current. `incarnation` replaces
  /// the one in the options. Errors: those of the source, kNoSpace, kIo.
  [[nodiscard]] Status start(const CatalogSource& source, std::uint64_t incarnation);

  /// An upper bound of what `change` needs.
  [[nodiscard]] static Room room_for(const Change& change) noexcept;

  /// Makes sure that `room` can be published; replaces an earlier grant. Waits for a flip when
  /// the arena has less. kNoSpace: not to be had; the current arena goes on serving.
  [[nodiscard]] Status reserve(Room room);
  /// The same of the room for `changes`, and begins to fetch what publishing them will touch.
  [[nodiscard]] Status reserve(std::span<const Change> changes);
  /// Gives a grant back unused.
  void release() noexcept;

  /// Makes `changes` visible as `generation`, all at once, and wakes waiters. Must follow a
  /// reserve() that covers them, and the durable commit. Cannot fail: if it must, the process is
  /// aborted, to be rebuilt from the store. `change.generation` is ignored.
  void publish(std::uint64_t generation, std::span<const Change> changes) noexcept;

  [[nodiscard]] std::uint64_t published_generation() const noexcept;
  /// Returns once published_generation() >= generation. Microseconds, as a rule.
  void wait_published(std::uint64_t generation) const noexcept;

  /// Builds a new arena and flips to it, now.
  [[nodiscard]] Status flip();

  /// Sign of life in the control page.
  void beat() noexcept;
  /// Says in the control page that the daemon has ended in good order.
  void say_stopped() noexcept;

  [[nodiscard]] PublisherStats stats() const;

 private:
  class State;
  explicit Publisher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace iceblink::shm
