#include "daemon/http/idempotent_requests.h"

#include <utility>

namespace iceblink::daemon::http {

std::optional<IdempotentRequests::Hold> IdempotentRequests::claim(const IdempotencyKey& key,
                                                                  std::function<void()> when_free) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = held_.try_emplace(key);
  if (is_new) return Hold(*this, key);
  place->second.push_back(std::move(when_free));
  return std::nullopt;
}

void IdempotentRequests::release(const IdempotencyKey& key) noexcept {
  std::vector<std::function<void()>> waiting;
  {
    const std::lock_guard lock(mutex_);
    const auto place = held_.find(key);
    waiting = std::move(place->second);
    held_.erase(place);
  }
  for (const auto& when_free : waiting) when_free();
}

}  // namespace iceblink::daemon::http
