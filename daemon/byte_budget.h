// How many bytes of one kind may be in hand at a time.
//
// Thread safety: all of it. Outlives every Share.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace iceblink::daemon {

class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t bytes_max) noexcept : bytes_max_(bytes_max) {}

  /// Taken bytes, given back at the end. Move only.
  class Share {
   public:
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&& other) noexcept {
      std::swap(budget_, other.budget_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Share() {
      // relaxed: a sum, which only limits
      if (budget_ != nullptr) budget_->bytes_.fetch_sub(bytes_, std::memory_order_relaxed);
    }

   private:
    friend class ByteBudget;
    Share(ByteBudget* budget, std::uint64_t bytes) noexcept : budget_(budget), bytes_(bytes) {}

    ByteBudget* budget_;
    std::uint64_t bytes_;
  };

  /// Nothing: others have too much. One alone is given whatever it asks for.
  [[nodiscard]] std::optional<Share> take(std::uint64_t bytes) noexcept {
    // relaxed: a sum, which only limits
    const std::uint64_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
    Share share(this, bytes);
    if (before > 0 && before + bytes > bytes_max_) return std::nullopt;
    return share;
  }

 private:
  const std::uint64_t bytes_max_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace iceblink::daemon
