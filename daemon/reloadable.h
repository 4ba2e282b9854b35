// A value that is replaced as a whole while others use it.
//
// Thread safety: thread-safe. Who got a value keeps it, unchanged, for as long as they hold it.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

namespace iceblink::daemon {

template <typename T>
class Reloadable {
 public:
  /// Holds nothing.
  Reloadable() = default;
  explicit Reloadable(std::shared_ptr<const T> value) : value_(std::move(value)) {}

  [[nodiscard]] std::shared_ptr<const T> get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  void set(std::shared_ptr<const T> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const T> value_;  // guarded by mutex_
};

}  // namespace iceblink::daemon
