// What the cache's queues are compared with: LRU, CLOCK and SIEVE (Zhang et al., NSDI 2024), all
// in bytes, over the same nodes.
//
// A policy has insert(node), hit(node) and evict(): the node it takes out, or null.
//
// Thread safety: none.
#pragma once

#include <cstddef>

#include "client/cache/s3_fifo.h"

namespace iceblink::bench {

using client::cache::Fifo;
using client::cache::kMarksMax;
using client::cache::Queue;
using client::cache::QueueNode;
using client::cache::S3Fifo;

/// A node with the marks that a cache keeps in its handles.
struct SimulatedNode : QueueNode {
  unsigned fresh_marks = 0;
  void mark() noexcept {
    if (fresh_marks < kMarksMax) ++fresh_marks;
  }
};

class S3FifoPolicy {
 public:
  S3FifoPolicy(std::size_t bytes_max, S3Fifo::Tuning tuning) : queue_(bytes_max, tuning) {
    queue_.fit_ghosts(std::size_t{1} << 14);
  }
  void insert(SimulatedNode& node) noexcept { queue_.insert(node); }
  void hit(SimulatedNode& node) noexcept { node.mark(); }
  SimulatedNode* evict() noexcept {
    return static_cast<SimulatedNode*>(queue_.evict([](QueueNode& node) {
      return std::exchange(static_cast<SimulatedNode&>(node).fresh_marks, 0);
    }));
  }

 private:
  S3Fifo queue_;
};

class Lru {
 public:
  void insert(SimulatedNode& node) noexcept { queue_.push(node); }
  void hit(SimulatedNode& node) noexcept {
    queue_.remove(node);
    queue_.push(node);
  }
  SimulatedNode* evict() noexcept {
    QueueNode* const node = queue_.oldest();
    if (node != nullptr) queue_.remove(*node);
    return static_cast<SimulatedNode*>(node);
  }

 private:
  Fifo queue_{Queue::kMain};
};

class Clock {
 public:
  void insert(SimulatedNode& node) noexcept { queue_.push(node); }
  void hit(SimulatedNode& node) noexcept { node.fresh_marks = 1; }
  SimulatedNode* evict() noexcept {
    while (auto* const node = static_cast<SimulatedNode*>(queue_.oldest())) {
      queue_.remove(*node);
      if (std::exchange(node->fresh_marks, 0) == 0) return node;
      queue_.push(*node);
    }
    return nullptr;
  }

 private:
  Fifo queue_{Queue::kMain};
};

class Sieve {
 public:
  void insert(SimulatedNode& node) noexcept { queue_.push(node); }
  void hit(SimulatedNode& node) noexcept { node.fresh_marks = 1; }
  SimulatedNode* evict() noexcept {
    if (queue_.oldest() == nullptr) return nullptr;
    while (true) {
      auto* const node = static_cast<SimulatedNode*>(hand_ != nullptr ? hand_ : queue_.oldest());
      hand_ = node->newer;
      if (std::exchange(node->fresh_marks, 0) != 0) continue;
      queue_.remove(*node);
      return node;
    }
  }

 private:
  Fifo queue_{Queue::kMain};
  QueueNode* hand_ = nullptr;
};

}  // namespace iceblink::bench
