#include "daemon/http/request_times.h"

#include <algorithm>

namespace iceblink::daemon::http {
namespace {

constexpr std::array<std::string_view, kRouteClassCount> kNames{
    "exists", "load", "list", "write", "batch", "changes", "probe", "other"};

// Of /v1/namespaces/{namespace}/tables/{table}: 5.
std::size_t segment_count_of(std::string_view path) noexcept {
  return static_cast<std::size_t>(std::ranges::count(path, '/'));
}

RouteClass class_of_read(std::string_view path) noexcept {
  if (!path.starts_with("/v1/namespaces")) return RouteClass::kList;
  const std::size_t count = segment_count_of(path);
  return count == 3 || count == 5 ? RouteClass::kLoad : RouteClass::kList;
}

}  // namespace

std::string_view to_string(RouteClass route) noexcept {
  return kNames[static_cast<std::size_t>(route)];
}

RouteClass route_class_of(Verb verb, std::string_view target) noexcept {
  const std::string_view path = target.substr(0, target.find('?'));
  if (path.starts_with("/v1/")) {
    if (verb == Verb::kHead) return RouteClass::kExists;
    if (verb == Verb::kGet) return class_of_read(path);
    if (verb != Verb::kPost && verb != Verb::kDelete) return RouteClass::kOther;
    return path == "/v1/transactions/commit" ? RouteClass::kBatch : RouteClass::kWrite;
  }
  if (path == "/iceblink/v1/batch") return RouteClass::kBatch;
  if (path == "/iceblink/v1/changes") return RouteClass::kChanges;
  const bool is_probe = path == "/healthz" || path == "/readyz" || path == "/metrics";
  return is_probe ? RouteClass::kProbe : RouteClass::kOther;
}

void RequestTimes::observe(RouteClass route, std::chrono::nanoseconds time) noexcept {
  Histogram& histogram = histograms_[static_cast<std::size_t>(route)];
  std::size_t bucket = 0;
  while (bucket < kBucketsUs.size() && time.count() > kBucketsUs[bucket] * 1000) ++bucket;
  // relaxed: counters, for showing
  histogram.counts[bucket].fetch_add(1, std::memory_order_relaxed);
  histogram.sum_ns.fetch_add(static_cast<std::uint64_t>(time.count()), std::memory_order_relaxed);
}

RequestTimes::Numbers RequestTimes::numbers(RouteClass route) const noexcept {
  const Histogram& histogram = histograms_[static_cast<std::size_t>(route)];
  Numbers numbers;
  // relaxed: counters, for showing
  for (std::size_t i = 0; i < numbers.counts.size(); ++i) {
    numbers.counts[i] = histogram.counts[i].load(std::memory_order_relaxed);
  }
  numbers.sum_s = static_cast<double>(histogram.sum_ns.load(std::memory_order_relaxed)) / 1e9;
  return numbers;
}

}  // namespace iceblink::daemon::http
