// A source read ahead by a thread of its own, so that reading goes on while a batch is committed.
//
// Thread safety: one consumer. Bounded in items and in bytes, so memory is, whatever the source's
// size: 32 pieces of a MiB, or of one item that is larger.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "client/cli/import/source.h"

namespace iceblink::cli {

class ItemQueue {
 public:
  /// Starts to read. The source outlives the queue.
  explicit ItemQueue(Source& source);
  /// Stops the reading after the item in hand.
  ~ItemQueue();
  ItemQueue(const ItemQueue&) = delete;
  ItemQueue& operator=(const ItemQueue&) = delete;

  /// Some items, in their order; none at the end. What the source failed with comes after all that
  /// was read before.
  [[nodiscard]] Result<std::vector<SourceItem>> take();

 private:
  void read();
  [[nodiscard]] bool put(SourceItem item);

  Source& source_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<std::vector<SourceItem>> chunks_;
  std::vector<SourceItem> open_;  // the chunk that is being filled
  std::size_t open_bytes_ = 0;
  std::optional<Error> failure_;
  bool is_at_end_ = false;
  bool is_stopped_ = false;
  std::thread reader_;  // the last: it uses all of the above
};

}  // namespace iceblink::cli
