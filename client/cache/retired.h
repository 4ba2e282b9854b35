// What left the cache, until no thread can be reading it any more.
//
// Thread safety: none. Takes no memory, so that nothing is lost where there is none.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "client/cache/entry.h"
#include "client/cache/index.h"
#include "shm/atomic_word.h"

namespace iceblink::client::cache {

class Retired {
 public:
  /// `pinned_bytes` outlives this.
  explicit Retired(shm::Atomic<std::size_t>& pinned_bytes) noexcept : pinned_bytes_(pinned_bytes) {}
  Retired(const Retired&) = delete;
  Retired& operator=(const Retired&) = delete;
  ~Retired() {
    while (newest_ != nullptr) {
      const std::unique_ptr<Entry> entry(std::exchange(newest_, next_of(*newest_)));
    }
    pinned_bytes_.fetch_sub(own_bytes_, std::memory_order_relaxed);  // relaxed: a count
  }

  /// Takes an entry that nothing leads to any more.
  void add(Entry& entry) noexcept {
    count(kEntryBytes);
    entry.newer = std::exchange(newest_, &entry);
  }
  void add(std::unique_ptr<Index<Handle>> index) noexcept {
    count(index->bytes());
    index->older_ = std::move(index_);
    index_ = std::move(index);
  }
  /// Takes all that `other`, of the same count, holds. This one is empty.
  void take(Retired& other) noexcept {
    own_bytes_ = std::exchange(other.own_bytes_, 0);
    newest_ = std::exchange(other.newest_, nullptr);
    index_ = std::move(other.index_);
  }
  [[nodiscard]] bool empty() const noexcept { return own_bytes_ == 0; }

 private:
  static Entry* next_of(const Entry& entry) noexcept { return static_cast<Entry*>(entry.newer); }
  void count(std::size_t bytes) noexcept {
    own_bytes_ += bytes;
    pinned_bytes_.fetch_add(bytes, std::memory_order_relaxed);  // relaxed: a count
  }

  shm::Atomic<std::size_t>& pinned_bytes_;
  std::size_t own_bytes_ = 0;
  Entry* newest_ = nullptr;  // chained by `newer`, which the queues use no more
  std::unique_ptr<Index<Handle>> index_;
};

}  // namespace iceblink::client::cache
