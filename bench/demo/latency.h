// A histogram of latencies, with buckets of about 6 %, that may lie in shared memory.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace iceblink::demo {

class Latency {
 public:
  void record(std::uint64_t nanoseconds) noexcept;
  void merge(const Latency& other) noexcept;
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t max_ns() const noexcept { return max_ns_; }
  /// Upper bound of the bucket that holds the quantile `q` in [0, 1].
  [[nodiscard]] std::uint64_t quantile_ns(double q) const noexcept;

 private:
  static constexpr int kSteps = 16;  // buckets for each power of two
  std::array<std::uint64_t, 64 * kSteps> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ns_ = 0;
};

[[nodiscard]] inline std::uint64_t ns_since(std::chrono::steady_clock::time_point start) {
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start)
          .count());
}

/// "85 ns", "1.2 us", "340 ms".
[[nodiscard]] std::string human_time(std::uint64_t nanoseconds);
/// "1,234,567".
[[nodiscard]] std::string human_count(std::uint64_t count);

}  // namespace iceblink::demo
