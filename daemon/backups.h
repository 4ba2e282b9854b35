// Consistent copies of the store, made while the daemon runs.
//
// A copy is LMDB's own, compacted, of one read transaction: commits go on meanwhile. It lies in a
// file without a name in the data directory, is opened and read once to prove it, and is gone with
// its last holder. One at a time, sending included: each may be as large as the store.
//
// It is written and proved by child processes: what is damaged ends them, and the daemon goes on;
// and no commit waits for them, whatever the map does.
//
// Thread safety: all of it.
#pragma once

#include <iceblink/result.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "daemon/file_pool.h"
#include "daemon/owned_fd.h"
#include "daemon/store.h"

namespace iceblink::daemon {

struct Backup {
  OwnedFd file;  // read with pread from 0
  std::uint64_t bytes = 0;
  std::uint64_t generation = 0;
  std::string sha256;           // of the bytes, in hex
  std::shared_ptr<void> place;  // given back with it
};

class Backups {
 public:
  /// The store outlives this.
  Backups(const Store& store, std::string data_dir);

  using Done = std::function<void(Result<std::shared_ptr<const Backup>>)>;
  /// Calls `done` on a thread of its own, which must not throw; at once, on this one, with kBusy
  /// while there is another. kNoSpace: the disk has no room for a copy beside the store; kCorrupt,
  /// kIo.
  void make(Done done);
  /// Waits for the one being made; makes no more. Idempotent.
  void stop() { pool_.stop(); }
  /// Makes no more. Idempotent.
  void close() { pool_.close(); }
  /// After close(): true once none is being made; false at `until`.
  [[nodiscard]] bool wait_idle(std::chrono::steady_clock::time_point until) {
    return pool_.wait_idle(until);
  }

 private:
  [[nodiscard]] Result<std::shared_ptr<const Backup>> make_now(std::shared_ptr<void> place) const;
  [[nodiscard]] Status check_space() const;

  const Store& store_;
  const std::string data_dir_;
  // relaxed: lets one in; what it guards is handed over otherwise
  std::shared_ptr<std::atomic<bool>> is_taken_ = std::make_shared<std::atomic<bool>>(false);
  FilePool pool_{FilePoolOptions{.threads = 1, .queue_length_max = 1, .name = "backup"}};
};

}  // namespace iceblink::daemon
