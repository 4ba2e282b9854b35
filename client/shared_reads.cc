#include "client/shared_reads.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "client/guard.h"

namespace iceblink::client {

SharedReads::SharedReads(std::string refusal)
    : refusal_(std::move(refusal)), is_ring_allowed_(refusal_.empty()) {}

void SharedReads::run(std::span<LocalRead> reads) noexcept {
  if (reads.empty() || run_alone(reads)) return;
  Request own;
  own.reads = reads;
  while (true) {
    switch (take_part(own)) {
      case Request::Part::kLeads:
        lead(own);
        break;
      case Request::Part::kReadsAlone:
        run_each(reads.subspan(own.started_count));
        return;
      default:
        return;
    }
  }
}

bool SharedReads::run_alone(std::span<LocalRead> reads) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const bool is_lone = reads.size() == 1 && alone_count_ == 0 && !is_lead_;
    if (is_ring_allowed_ && !is_lone) return false;
    ++alone_count_;
  }
  run_each(reads);
  const std::lock_guard lock(mutex_);
  --alone_count_;
  return true;
}

void SharedReads::run_each(std::span<LocalRead> reads) noexcept {
  for (LocalRead& read : reads) read.run(open_files_);
}

SharedReads::Request::Part SharedReads::take_part(Request& own) noexcept {
  std::unique_lock lock(mutex_);
  if (own.part == Request::Part::kWaits) {
    if (!is_ring_allowed_) return Request::Part::kReadsAlone;
    push_locked(own);
    if (!is_lead_) {
      is_lead_ = true;
      return own.part = Request::Part::kLeads;
    }
    if (ring_ != nullptr) ring_->wake();
    own.part_changed.wait(lock, [&] { return own.part != Request::Part::kWaits; });
  }
  return own.part;
}

void SharedReads::lead(Request& own) noexcept {
  if (!make_ring(own)) return;
  int code = 0;
  while (true) {
    start_from_queue(own);
    if (ring_->active_count() == 0) break;
    code = ring_->wait();
    if (code != 0) break;
    while (const auto finished = ring_->next()) {
      // relaxed: a count for showing
      ring_file_count_.fetch_add(1, std::memory_order_relaxed);
      finish(finished->owner, own);
    }
  }
  if (code == 0) code = ring_->quiesce();
  if (code == 0) {
    pass_lead(own);
    return;
  }
  redo_abandoned(code, own);
  give_up_ring(std::string("io_uring_enter: ") + std::strerror(code), own);
}

bool SharedReads::make_ring(Request& own) noexcept {
  if (ring_ != nullptr) return true;
  auto made = guarded([&] { return RingReader::make(open_files_); });
  if (!made) {
    give_up_ring(made.error().message(), own);
    return false;
  }
  const std::lock_guard lock(mutex_);
  ring_ = std::move(*made);
  is_ring_used_ = true;
  return true;
}

void SharedReads::start_from_queue(const Request& own) noexcept {
  if (own.finished_count == own.reads.size() || !ring_->has_room()) return;
  const std::lock_guard lock(mutex_);
  while (queue_head_ != nullptr && ring_->has_room()) {
    Request& request = *queue_head_;
    ring_->start(request.reads[request.started_count], &request);
    if (++request.started_count < request.reads.size()) continue;
    queue_head_ = request.next;
    if (queue_head_ == nullptr) queue_tail_ = nullptr;
  }
}

void SharedReads::finish(void* owner, const Request& own) noexcept {
  auto& request = *static_cast<Request*>(owner);
  if (++request.finished_count < request.reads.size() || &request == &own) return;
  const std::lock_guard lock(mutex_);
  tell_locked(request, Request::Part::kIsDone);
}

void SharedReads::pass_lead(Request& own) noexcept {
  const std::lock_guard lock(mutex_);
  own.part = Request::Part::kIsDone;
  is_lead_ = queue_head_ != nullptr;
  if (is_lead_) tell_locked(*queue_head_, Request::Part::kLeads);
}

void SharedReads::redo_abandoned(int code, const Request& own) noexcept {
  while (const auto abandoned = ring_->next_abandoned(code)) {
    abandoned->read->run(open_files_);
    finish(abandoned->owner, own);
  }
}

void SharedReads::give_up_ring(std::string refusal, Request& own) noexcept {
  const std::lock_guard lock(mutex_);
  is_ring_allowed_ = is_ring_used_ = is_lead_ = false;
  refusal_ = std::move(refusal);
  // Left as it is: the kernel may still work on it, and its descriptor may be somebody else's.
  static_cast<void>(ring_.release());
  own.part = Request::Part::kIsDone;
  for (Request* request = queue_head_; request != nullptr;) {
    Request* const next = request->next;  // once told, it may be gone
    tell_locked(*request, Request::Part::kReadsAlone);
    request = next;
  }
  queue_head_ = queue_tail_ = nullptr;
}

void SharedReads::push_locked(Request& request) noexcept {
  (queue_tail_ == nullptr ? queue_head_ : queue_tail_->next) = &request;
  queue_tail_ = &request;
}

void SharedReads::tell_locked(Request& request, Request::Part part) noexcept {
  request.part = part;
  request.part_changed.notify_one();  // under the mutex, which keeps its thread from leaving
}

SharedReads::RingState SharedReads::ring_state() const {
  const std::lock_guard lock(mutex_);
  return {is_ring_used_, refusal_};
}

std::uint64_t SharedReads::ring_file_count() const noexcept {
  return ring_file_count_.load(std::memory_order_relaxed);  // relaxed: for showing
}

void SharedReads::lock_for_fork() {
  mutex_.lock();
  open_files_.lock();
}

void SharedReads::unlock_after_fork() noexcept {
  open_files_.unlock();
  mutex_.unlock();
}

void SharedReads::abandon() noexcept {
  ring_.reset();
  is_ring_used_ = is_lead_ = false;
  alone_count_ = 0;
  queue_head_ = queue_tail_ = nullptr;
  open_files_.close_all();
}

}  // namespace iceblink::client
