#include "bench/demo/latency.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace iceblink::demo {

void Latency::record(std::uint64_t nanoseconds) noexcept {
  const std::uint64_t ns = std::max<std::uint64_t>(nanoseconds, kSteps);
  const int power = 63 - std::countl_zero(ns);
  const auto step = static_cast<int>((ns >> (power - 4)) & (kSteps - 1));
  ++buckets_[static_cast<std::size_t>(power * kSteps + step)];
  ++count_;
  max_ns_ = std::max(max_ns_, nanoseconds);
}

void Latency::merge(const Latency& other) noexcept {
  for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

std::uint64_t Latency::quantile_ns(double q) const noexcept {
  const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(count_));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen > rank) {
      const auto power = static_cast<int>(i / kSteps);
      const std::uint64_t step = i % kSteps;
      return std::min(max_ns_, (kSteps + step + 1) << (power - 4));
    }
  }
  return max_ns_;
}

std::string human_time(std::uint64_t nanoseconds) {
  const auto ns = static_cast<double>(nanoseconds);
  char text[32];
  if (ns < 1e3) {
    std::snprintf(text, sizeof(text), "%.0f ns", ns);
  } else if (ns < 1e6) {
    std::snprintf(text, sizeof(text), "%.1f us", ns / 1e3);
  } else {
    std::snprintf(text, sizeof(text), "%.1f ms", ns / 1e6);
  }
  return text;
}

std::string human_count(std::uint64_t count) {
  std::string digits = std::to_string(count);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

}  // namespace iceblink::demo
