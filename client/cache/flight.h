// One load under way: one thread loads, others wait for what comes of it.
//
// Thread safety: a Load belongs to the thread that leads, but for set_aside(), which any may call.
// Fork: a child forgets the loads of its parent. What a Load of before the fork still does there is
// without effect on the cache; its value is its caller's.
#pragma once

#include <iceblink/result.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/cache/entry.h"

namespace iceblink::client::cache {

/// Shared, immutable; of the type that the key's owner knows.
using Value = std::shared_ptr<const void>;

/// Under the store's mutex.
struct Flight {
  std::uint64_t hash = 0;
  std::string key;
  std::uint64_t life = 0;        // of the process: another one after a fork
  const void* leader = nullptr;  // which thread
  std::size_t set_aside_bytes = 0;
  bool is_to_be_kept = true;
  std::optional<Result<Value>> outcome;
  std::condition_variable landed;
};

/// The leader's end of a flight. Left without an outcome, as an exception leaves it, it fails with
/// kOutOfMemory.
class Load {
 public:
  Load(std::shared_ptr<Store> store, std::shared_ptr<Flight> flight) noexcept;
  Load(Load&&) noexcept = default;
  Load& operator=(Load&&) = delete;
  ~Load();

  /// Before memory is taken: this load needs `bytes` altogether from now on, more or fewer than
  /// before; the value alone will weigh `value_bytes_min` or more. Others are evicted to make room.
  /// Where there is none to be made, or an entry may not be that large, the load goes on as one
  /// that is not kept.
  void set_aside(std::size_t bytes, std::size_t value_bytes_min) noexcept;

  /// Ends the load: keeps the value, if there is room, and hands it to all who wait.
  /// `value_bytes`: what it weighs. The payload is of this store (Store::make_payload).
  [[nodiscard]] Value succeed(std::shared_ptr<Payload> payload, std::size_t value_bytes) noexcept;
  /// Ends the load; nothing is kept.
  void fail(Error error) noexcept;

  [[nodiscard]] const std::string& key() const noexcept { return flight_->key; }

  /// Of all stores: how many the calling thread leads.
  [[nodiscard]] static int count_led() noexcept;

 private:
  /// Nobody leads it any more.
  [[nodiscard]] std::shared_ptr<Flight> end() noexcept;

  std::shared_ptr<Store> store_;
  std::shared_ptr<Flight> flight_;  // null once it has ended
};

}  // namespace iceblink::client::cache
