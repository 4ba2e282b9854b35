// Keeps stores usable in a child process.
//
// Thread safety: all of it.
#pragma once

#include <mutex>
#include <vector>

namespace iceblink::client::cache {

class Store;

class ForkHandlers {
 public:
  /// Throws std::bad_alloc.
  static ForkHandlers& instance();
  void add(Store* store);
  void remove(Store* store) noexcept;

 private:
  ForkHandlers();
  static void before() noexcept;
  static void after_in_parent() noexcept;
  static void after_in_child() noexcept;

  std::mutex mutex_;
  std::vector<Store*> stores_;
};

}  // namespace iceblink::client::cache
