// How long requests take, by class of route: histograms without a lock, since reads count here.
//
// Thread safety: all of it.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string_view>

#include "daemon/http/request.h"

namespace iceblink::daemon::http {

/// What a request is for, as far as its time is comparable with that of others.
enum class RouteClass : std::uint8_t {
  kExists,   // HEAD of a namespace, table or view
  kLoad,     // GET of one
  kList,     // GET of many, and of the configuration
  kWrite,    // what changes the catalog, one by one
  kBatch,    // /iceblink/v1/batch, transactions
  kChanges,  // /iceblink/v1/changes
  kProbe,    // health, metrics
  kOther,
};
inline constexpr std::size_t kRouteClassCount = 8;

/// "exists" and so on.
[[nodiscard]] std::string_view to_string(RouteClass route) noexcept;
/// By verb and path alone: whether the path is served does not matter.
[[nodiscard]] RouteClass route_class_of(Verb verb, std::string_view target) noexcept;

class RequestTimes {
 public:
  static constexpr std::array<std::int64_t, 16> kBucketsUs{
      10,    25,     50,     100,    250,     500,     1'000,     2'500,
      5'000, 10'000, 25'000, 50'000, 100'000, 250'000, 1'000'000, 10'000'000};

  void observe(RouteClass route, std::chrono::nanoseconds time) noexcept;

  struct Numbers {
    std::array<std::uint64_t, kBucketsUs.size() + 1> counts{};  // of each bucket alone; last: more
    double sum_s = 0;
  };
  [[nodiscard]] Numbers numbers(RouteClass route) const noexcept;

 private:
  // relaxed, all of it: counters, for showing.
  struct alignas(64) Histogram {
    std::array<std::atomic<std::uint64_t>, kBucketsUs.size() + 1> counts{};
    std::atomic<std::uint64_t> sum_ns{0};
  };
  std::array<Histogram, kRouteClassCount> histograms_;
};

}  // namespace iceblink::daemon::http
