#include "iceberg/weight_observers.h"

#include <mutex>
#include <new>
#include <utility>

namespace iceblink::iceberg {

WeightObservers::~WeightObservers() {
  delete list_.load(std::memory_order_relaxed);  // relaxed: nobody else is left
}

void WeightObservers::replace(std::unique_ptr<const List> list) noexcept {
  // relaxed, both: under the lock
  const std::unique_ptr<const List> old(list_.load(std::memory_order_relaxed));
  list_.store(list.release(), std::memory_order_relaxed);
}

void WeightObservers::add(std::shared_ptr<WeightObserver> observer) {
  auto list = std::make_unique<List>();
  const std::lock_guard lock(lock_);
  // relaxed: under the lock
  if (const List* const old = list_.load(std::memory_order_relaxed)) *list = *old;
  list->push_back(std::move(observer));
  replace(std::move(list));
}

void WeightObservers::remove(const WeightObserver& observer) noexcept {
  std::shared_ptr<WeightObserver> removed;  // destroyed without the lock
  try {
    const std::lock_guard lock(lock_);
    const List* const old = list_.load(std::memory_order_relaxed);  // relaxed: under the lock
    if (old == nullptr) return;
    auto list = std::make_unique<List>();
    list->reserve(old->size());
    for (const auto& each : *old) {
      if (each.get() == &observer) {
        removed = each;
      } else {
        list->push_back(each);
      }
    }
    replace(std::move(list));
  } catch (const std::bad_alloc&) {
    return;
  }
}

void WeightObservers::tell(const MetadataDocument& document, std::size_t grown_bytes) noexcept {
  try {
    List list;
    {
      const std::lock_guard lock(lock_);
      const List* const now = list_.load(std::memory_order_relaxed);  // relaxed: under the lock
      if (now == nullptr) return;
      list = *now;
    }
    for (const auto& each : list) each->grew(document, grown_bytes);
  } catch (const std::bad_alloc&) {
    return;
  }
}

}  // namespace iceblink::iceberg
