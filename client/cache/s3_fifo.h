// Which entry is evicted: S3-FIFO (Yang et al., SOSP 2023), with sizes in bytes.
//
// New entries queue in `small`, a twentieth of the bytes. At its end one that was used twice moves
// to `main`, and another is evicted, and remembered in `ghosts`; who comes back while remembered
// starts in main. At main's end an entry that was used gives up one of its marks and queues again.
// So what a scan uses passes through a twentieth of the cache, and hits move nothing: they leave a
// mark, which whoever evicts collects. docs/architecture.md has the figures against LRU.
//
// Thread safety: none; nodes are intrusive and belong to their entries.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "client/cache/ghost_table.h"

namespace iceblink::client::cache {

enum class Queue : std::uint8_t { kNone, kSmall, kMain };

/// Marks of use that count.
inline constexpr unsigned kMarksMax = 3;

struct QueueNode {
  QueueNode* older = nullptr;
  QueueNode* newer = nullptr;
  std::uint64_t hash = 0;
  std::size_t weight_bytes = 0;
  std::uint8_t marks = 0;  // of the last collections
  Queue queue = Queue::kNone;
};

/// First in, first out; knows its bytes.
class Fifo {
 public:
  explicit Fifo(Queue name) noexcept : name_(name) {}

  void push(QueueNode& node) noexcept {
    node.queue = name_;
    node.older = newest_;
    node.newer = nullptr;
    (newest_ != nullptr ? newest_->newer : oldest_) = &node;
    newest_ = &node;
    bytes_ += node.weight_bytes;
  }
  void remove(QueueNode& node) noexcept {
    (node.older != nullptr ? node.older->newer : oldest_) = node.newer;
    (node.newer != nullptr ? node.newer->older : newest_) = node.older;
    node.queue = Queue::kNone;
    bytes_ -= node.weight_bytes;
  }
  void reweigh(QueueNode& node, std::size_t weight_bytes) noexcept {
    bytes_ = bytes_ - node.weight_bytes + weight_bytes;
    node.weight_bytes = weight_bytes;
  }
  [[nodiscard]] QueueNode* oldest() const noexcept { return oldest_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  const Queue name_;
  QueueNode* oldest_ = nullptr;
  QueueNode* newest_ = nullptr;
  std::size_t bytes_ = 0;
};

class S3Fifo {
 public:
  struct Tuning {
    double small_share = 0.05;
    unsigned marks_to_stay = 2;  // that move an entry from small to main
  };

  explicit S3Fifo(std::size_t bytes_max, Tuning tuning) noexcept
      : small_bytes_(static_cast<std::size_t>(static_cast<double>(bytes_max) * tuning.small_share)),
        window_bytes_(bytes_max - small_bytes_),
        marks_to_stay_(tuning.marks_to_stay) {}
  explicit S3Fifo(std::size_t bytes_max) noexcept : S3Fifo(bytes_max, Tuning{}) {}

  /// `node.hash` and `node.weight_bytes` are set.
  void insert(QueueNode& node) noexcept {
    node.marks = 0;
    (ghosts_.take(node.hash, window_bytes_) ? main_ : small_).push(node);
  }
  void remove(QueueNode& node) noexcept { queue_of(node).remove(node); }
  void reweigh(QueueNode& node, std::size_t weight_bytes) noexcept {
    queue_of(node).reweigh(node, weight_bytes);
  }

  /// Takes out the one to be evicted; null when there is none. `collect(QueueNode&) -> unsigned`
  /// takes the marks of use since its last call. Amortised O(1): a turn more for each mark.
  template <typename Collect>
  [[nodiscard]] QueueNode* evict(Collect&& collect) noexcept {
    for (std::size_t turns = 0;; ++turns) {
      // Threads that hit mark on; they must not keep this one busy.
      const bool is_last_turn = turns >= kTurnsMax;
      QueueNode* node = small_.oldest();
      if (node != nullptr && (small_.bytes() > small_bytes_ || main_.oldest() == nullptr)) {
        small_.remove(*node);
        if (collect(*node) < marks_to_stay_ || is_last_turn) {
          ghosts_.remember(node->hash, node->weight_bytes);
          return node;
        }
        main_.push(*node);
        continue;
      }
      node = main_.oldest();
      if (node == nullptr) return nullptr;
      main_.remove(*node);
      const unsigned marks = std::min(kMarksMax, node->marks + collect(*node));
      if (marks == 0 || is_last_turn) return node;
      node->marks = static_cast<std::uint8_t>(marks - 1);
      main_.push(*node);
    }
  }

  /// For about that many entries at once. Throws std::bad_alloc.
  void fit_ghosts(std::size_t count) { ghosts_.fit(count); }
  [[nodiscard]] std::size_t ghost_bytes() const noexcept { return ghosts_.bytes(); }

 private:
  static constexpr std::size_t kTurnsMax = 10'000;

  [[nodiscard]] Fifo& queue_of(const QueueNode& node) noexcept {
    return node.queue == Queue::kSmall ? small_ : main_;
  }

  const std::size_t small_bytes_;
  const std::size_t window_bytes_;
  const unsigned marks_to_stay_;
  Fifo small_{Queue::kSmall};
  Fifo main_{Queue::kMain};
  GhostTable ghosts_;
};

}  // namespace iceblink::client::cache
