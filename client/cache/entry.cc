#include "client/cache/entry.h"

#include "client/cache/store.h"

namespace iceblink::client::cache {

Payload::~Payload() {
  // relaxed: a count. The last holder has seen what the store wrote: it let go after.
  if (is_pinned_) store_->pinned_bytes_.fetch_sub(weight_bytes_, std::memory_order_relaxed);
}

void Payload::grew(std::size_t bytes) noexcept {
  store_->grew(*this, bytes);
}

Entry::~Entry() {
  for (Handle* const handle : handles) {
    // A handle holds itself through its value. This may destroy it, and the payload.
    if (handle != nullptr) const auto last = std::move(handle->value);
  }
}

Handle& Entry::make_handle(std::uint32_t stripe) {
  auto handle = std::allocate_shared<Handle>(LineAllocator<Handle>(), payload);
  Handle& made = *handle;
  made.value = std::shared_ptr<const void>(std::move(handle), payload->value());
  handles[stripe] = &made;
  return made;
}

unsigned Entry::collect_marks() noexcept {
  unsigned sum = 0;
  for (Handle* const handle : handles) {
    if (handle == nullptr) continue;
    // relaxed, both: see Handle::marks
    const unsigned seen = handle->marks.load(std::memory_order_relaxed);
    if (seen != 0) handle->marks.store(0, std::memory_order_relaxed);
    sum += seen;
  }
  return sum;
}

}  // namespace iceblink::client::cache
