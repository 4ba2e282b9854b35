// Reads of local files by any number of threads. One by itself is plain open and pread; when more
// is to be read at a time, it goes through one ring.
//
// One thread leads: it starts what is in the queue, its own and what others add meanwhile, and
// hands results out. When its own reads are done it starts no more, waits for what it started, and
// passes the lead to a thread whose reads are not done. The others wait.
//
// Thread safety: all of it, but for the part that fork handlers call.
//
// Fork: the child has an empty queue, no leader and no ring; it makes its own when it wants one.
// No thread of the child waits here, since none of the parent's that did exists in it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "client/local_read.h"
#include "client/open_files.h"
#include "client/ring_reader.h"

namespace iceblink::client {

class SharedReads {
 public:
  /// `refusal`: why no ring is to be used; empty when one may be.
  explicit SharedReads(std::string refusal);

  /// Returns when all are done.
  void run(std::span<LocalRead> reads) noexcept;

  struct RingState {
    bool is_used = false;
    std::string refusal;
  };
  [[nodiscard]] RingState ring_state() const;
  [[nodiscard]] std::uint64_t ring_file_count() const noexcept;

  // For fork handlers.
  void lock_for_fork();
  void unlock_after_fork() noexcept;
  /// In the child, before it unlocks.
  void abandon() noexcept;

 private:
  /// The reads of one call, on its thread's stack.
  struct Request {
    std::span<LocalRead> reads;
    std::size_t started_count = 0;   // by the leader
    std::size_t finished_count = 0;  // by the leader
    Request* next = nullptr;         // in the queue; under mutex_

    enum class Part : std::uint8_t { kWaits, kLeads, kReadsAlone, kIsDone };
    Part part = Part::kWaits;  // under mutex_
    std::condition_variable part_changed;
  };

  /// True when it was the only thing to be read, and is done.
  [[nodiscard]] bool run_alone(std::span<LocalRead> reads) noexcept;
  void run_each(std::span<LocalRead> reads) noexcept;
  /// Waits for a part in it.
  [[nodiscard]] Request::Part take_part(Request& own) noexcept;

  // By the leader.
  void lead(Request& own) noexcept;
  [[nodiscard]] bool make_ring(Request& own) noexcept;
  void start_from_queue(const Request& own) noexcept;
  void finish(void* owner, const Request& own) noexcept;
  void pass_lead(Request& own) noexcept;
  /// The ring is of no use: everybody reads alone, from now on.
  void give_up_ring(std::string refusal, Request& own) noexcept;
  void redo_abandoned(int code, const Request& own) noexcept;

  void push_locked(Request& request) noexcept;
  void tell_locked(Request& request, Request::Part part) noexcept;

  OpenFiles open_files_;
  std::atomic<std::uint64_t> ring_file_count_{0};

  mutable std::mutex mutex_;
  // Under mutex_.
  std::string refusal_;
  bool is_ring_allowed_;
  bool is_ring_used_ = false;
  bool is_lead_ = false;           // some thread leads
  std::size_t alone_count_ = 0;    // reads under way by run_alone
  Request* queue_head_ = nullptr;  // with reads that were not started
  Request* queue_tail_ = nullptr;
  // The leader's; made under mutex_, so that others may wake it.
  std::unique_ptr<RingReader> ring_;
};

}  // namespace iceblink::client
