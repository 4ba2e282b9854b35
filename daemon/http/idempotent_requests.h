// The idempotency keys of requests that are being carried out: a second request with the same key
// waits for the first.
//
// Thread safety: all of it. Outlives every Hold.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "daemon/stored_answer.h"

namespace iceblink::daemon::http {

class IdempotentRequests {
 public:
  /// One request's hold on its key, given up at the end of its life. Move only.
  class Hold {
   public:
    Hold(Hold&& other) noexcept : requests_(other.requests_), key_(other.key_) {
      other.requests_ = nullptr;
    }
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (requests_ != nullptr) requests_->release(key_);
    }
    [[nodiscard]] const IdempotencyKey& key() const noexcept { return key_; }

   private:
    friend class IdempotentRequests;
    Hold(IdempotentRequests& requests, const IdempotencyKey& key)
        : requests_(&requests), key_(key) {}

    IdempotentRequests* requests_;
    IdempotencyKey key_;
  };

  /// Nothing: another request holds the key, and `when_free` is called once it does not, from the
  /// thread that gives it up. It must be short, and must not throw.
  [[nodiscard]] std::optional<Hold> claim(const IdempotencyKey& key,
                                          std::function<void()> when_free);

 private:
  void release(const IdempotencyKey& key) noexcept;

  std::mutex mutex_;
  std::map<IdempotencyKey, std::vector<std::function<void()>>> held_;  // guarded by mutex_
};

}  // namespace iceblink::daemon::http
