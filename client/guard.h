// The border that no exception crosses.
#pragma once

#include <iceblink/result.h>

#include <exception>
#include <new>
#include <type_traits>

namespace iceblink::client {

/// What `work` returns; kOutOfMemory or kInternal when it throws.
template <typename Work>
[[nodiscard]] std::invoke_result_t<Work> guarded(Work&& work) noexcept {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Error{ErrorKind::kOutOfMemory, {"out of memory"}};
  } catch (const std::exception& error) {
    return Error{ErrorKind::kInternal, {error.what()}};
  }
}

}  // namespace iceblink::client
