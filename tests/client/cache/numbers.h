// A cache of made-up values whose weights are declared, and loads that can be held up.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "client/cache/cache.h"

namespace iceblink::testing {

using client::cache::Cache;
using client::cache::Load;
using client::cache::Loaded;
using client::cache::Payload;
using client::cache::Stamp;
using client::cache::StoreOptions;

/// Says of itself which key it was made for.
struct Number {
  std::uint64_t key = 0;
  Payload* payload = nullptr;  // to grow by
};

class Numbers {
 public:
  using Pointer = std::shared_ptr<const Number>;

  explicit Numbers(std::size_t bytes_max, std::size_t entry_bytes_max = 0)
      : cache_({bytes_max, entry_bytes_max == 0 ? bytes_max : entry_bytes_max}) {}

  static std::string name_of(std::uint64_t key) { return "k" + std::to_string(key); }
  static std::uint64_t hash_of(std::uint64_t key) { return key * 0x9e3779b97f4a7c15; }

  /// Without a load. Null: it would be a miss.
  [[nodiscard]] Pointer find(std::uint64_t key, Stamp stamp = 0) const {
    const shm::MarkedSection section;
    return cache_.find(hash_of(key), stamp, section.thread_index(),
                       [&](std::string_view name) { return name == name_of(key); });
  }
  /// Through the cache; a load weighs `bytes`, and runs `meanwhile` first.
  [[nodiscard]] Result<Pointer> get(
      std::uint64_t key, std::size_t bytes,
      const std::function<Status(Load&)>& meanwhile = [](Load&) -> Status { return Ok{}; }) {
    if (Pointer found = find(key)) return found;
    return cache_.get(hash_of(key), name_of(key), thread_index(),
                      [&](Load& load) -> Result<Loaded<Number>> {
                        ICEBLINK_RETURN_IF_ERROR(meanwhile(load));
                        load.set_aside(bytes, bytes);
                        return make(key, bytes);
                      });
  }
  [[nodiscard]] Loaded<Number> make(std::uint64_t key, std::size_t bytes) const {
    auto number = std::make_shared<Number>(Number{key, nullptr});
    auto payload = cache_.store().make_payload(number);
    number->payload = payload.get();
    return {std::move(payload), bytes};
  }
  [[nodiscard]] CacheStats stats() const { return cache_.store().stats(); }
  [[nodiscard]] Cache<Number>& cache() { return cache_; }
  [[nodiscard]] static std::uint32_t thread_index() { return shm::MarkedSection().thread_index(); }

 private:
  Cache<Number> cache_;
};

/// Runs `work(index)` in that many threads.
template <typename Work>
void in_threads(std::size_t count, Work work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) threads.emplace_back([&work, i] { work(i); });
  for (auto& thread : threads) thread.join();
}

}  // namespace iceblink::testing
