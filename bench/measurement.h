// What the plain programs share: clocks, samples on standard output, and loud failure.
//
// Thread safety: Samples belongs to one thread; the rest are free functions.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <ctime>
#include <map>
#include <string>
#include <vector>

namespace iceblink::bench {

[[nodiscard]] inline std::uint64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}
[[nodiscard]] inline std::uint64_t wall_ns() noexcept {
  return clock_ns(CLOCK_MONOTONIC);
}
[[nodiscard]] inline std::uint64_t thread_cpu_ns() noexcept {
  return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/// Says what is wrong and ends the program: a figure of something that does not work is worse
/// than none.
[[noreturn]] void fail(const std::string& what);

inline void require(bool holds, const char* what) {
  if (!holds) fail(what);
}
template <typename T>
void require_ok(const Result<T>& result) {
  if (!result.ok()) fail(result.error().message());
}
template <typename T>
[[nodiscard]] T take(Result<T> result) {
  require_ok(result);
  return std::move(result).value();
}

/// The value below which `quantile` of the samples lie. Sorts them.
[[nodiscard]] double quantile(std::vector<std::uint64_t>& samples, double quantile);

/// One number a round for each thing measured, printed as the program's only output.
class Samples {
 public:
  void add(const std::string& name, double value) { values_[name].push_back(value); }
  /// {"name": [1.5, …], …}
  void print() const;

 private:
  std::map<std::string, std::vector<double>> values_;
};

/// Runs the calling thread on one CPU; no effect where the process may not.
void pin_to_cpu(int cpu);

/// `name VALUE` anywhere among the arguments; `otherwise` when it is not.
[[nodiscard]] std::string argument(int argc, char** argv, const std::string& name,
                                   const std::string& otherwise);
[[nodiscard]] std::size_t number(int argc, char** argv, const std::string& name,
                                 std::size_t otherwise);

}  // namespace iceblink::bench
