// Who is told of a document's growth: added and removed while others tell.
//
// Thread safety: all of it. Fork: a child goes on with those that there are; what a thread that it
// does not have was about to change stays as it was.
#pragma once

#include <iceblink/metadata/document.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "iceberg/build_lock.h"

namespace iceblink::iceberg {

class WeightObservers {
 public:
  /// Throws std::bad_alloc.
  WeightObservers() = default;
  ~WeightObservers();
  WeightObservers(const WeightObservers&) = delete;
  WeightObservers& operator=(const WeightObservers&) = delete;

  /// Throws std::bad_alloc.
  void add(std::shared_ptr<WeightObserver> observer);
  /// Without memory for that it stays, and is told until all end.
  void remove(const WeightObserver& observer) noexcept;
  /// Calls them without a lock held: what they do may add and remove. Without memory for that, it
  /// calls none.
  void tell(const MetadataDocument& document, std::size_t grown_bytes) noexcept;

 private:
  using List = std::vector<std::shared_ptr<WeightObserver>>;

  void replace(std::unique_ptr<const List> list) noexcept;

  BuildLock lock_;
  /// Replaced as a whole, under the lock, so that a fork leaves one or the other.
  std::atomic<const List*> list_{nullptr};  // relaxed: the lock orders it
};

}  // namespace iceblink::iceberg
