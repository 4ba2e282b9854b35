// Keeps stores usable in a child process.
//
// Thread safety: all of it.
#pragma once

#include <mutex>

namespace iceblink::client::cache {

class Store;

class ForkHandlers {
 public:
  /// Throws std::bad_alloc.
  static ForkHandlers& instance();
  void add(Store* store) noexcept;
  void remove(Store* store) noexcept;

 private:
  ForkHandlers();
  static void before() noexcept;
  static void after_in_parent() noexcept;
  static void after_in_child() noexcept;

  std::mutex mutex_;
  Store* first_ = nullptr;  // of a list through the stores: there may be one for each table
};

}  // namespace iceblink::client::cache
