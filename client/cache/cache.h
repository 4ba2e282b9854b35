// A Store with types.
//
// Thread safety: as Store's.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "client/cache/store.h"

namespace iceblink::client::cache {

template <typename T>
[[nodiscard]] std::shared_ptr<const T> cast(Value value) noexcept {
  return std::static_pointer_cast<const T>(std::move(value));
}

template <typename T>
[[nodiscard]] Result<std::shared_ptr<const T>> cast(Result<Value> value) noexcept {
  if (!value) return value.error();
  return cast<T>(std::move(*value));
}

/// A value, and what it weighs beside the payload.
template <typename T>
struct Loaded {
  std::shared_ptr<Payload> payload;
  std::size_t value_bytes = 0;
};

/// Owns its store. Values are `const T`.
template <typename T>
class Cache {
 public:
  using Pointer = std::shared_ptr<const T>;

  explicit Cache(const StoreOptions& options) : store_(Store::make(options)) {}
  ~Cache() { store_->close(); }
  Cache(const Cache&) = delete;
  Cache& operator=(const Cache&) = delete;

  [[nodiscard]] Store& store() const noexcept { return *store_; }

  /// As Store::find.
  template <typename Matches>
  [[nodiscard]] Pointer find(std::uint64_t hash, Stamp stamp, std::uint32_t thread_index,
                             Matches&& matches) const noexcept {
    return cast<T>(store_->find(hash, stamp, thread_index, matches));
  }

  /// What is there, or what `load(Load&) -> Result<Loaded<T>>` makes, or another thread's load. The
  /// load goes on without a lock. Errors: those of Store::wait. Throws what start() and `load`
  /// throw.
  template <typename LoadIt>
  [[nodiscard]] Result<Pointer> get(std::uint64_t hash, std::string_view key,
                                    std::uint32_t thread_index, LoadIt&& load) {
    Ticket ticket = store_->start(hash, key, thread_index);
    if (ticket.value) return cast<T>(std::move(ticket.value));
    if (ticket.follows) {
      if (auto outcome = store_->wait(*ticket.follows)) return cast<T>(std::move(*outcome));
      ticket.load.emplace(store_->start_alone(key));
    }
    Result<Loaded<T>> loaded = load(*ticket.load);
    if (!loaded) {
      ticket.load->fail(loaded.error());
      return loaded.error();
    }
    return cast<T>(ticket.load->succeed(std::move(loaded->payload), loaded->value_bytes));
  }

 private:
  const std::shared_ptr<Store> store_;
};

}  // namespace iceblink::client::cache
