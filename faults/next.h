// The function of that name in the library behind ours: what a hook passes calls on to.
#pragma once

#include <dlfcn.h>

#include <atomic>

namespace iceblink::faults {

/// Thread safety: any thread. Found at the first call, by dlsym.
template <typename Function>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}

  template <typename... Arguments>
  auto operator()(Arguments... arguments) {
    // relaxed: every thread finds the same
    Function* function = found_.load(std::memory_order_relaxed);
    if (function == nullptr) {
      function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
      found_.store(function, std::memory_order_relaxed);  // relaxed: as above
    }
    return function(arguments...);
  }

 private:
  const char* name_;
  std::atomic<Function*> found_{nullptr};
};

}  // namespace iceblink::faults
