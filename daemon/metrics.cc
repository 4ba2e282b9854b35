#include "daemon/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string>

namespace iceblink::daemon {
namespace {

using prometheus::Histogram;
using std::chrono::nanoseconds;

struct Described {
  const char* name;
  const char* help;
};

// In the order of the enumerations.
constexpr std::array<Described, kTimedCount> kTimed{{
    {"iceblink_commit_duration_seconds", "Commits that were done, from request to answer."},
    {"iceblink_commit_queue_wait_seconds", "Operation lists, until the writer took them."},
    {"iceblink_commit_transaction_seconds", "Groups, from their begin until they are published."},
    {"iceblink_store_sync_seconds", "LMDB's commit: writing and syncing a transaction."},
    {"iceblink_metadata_write_seconds", "Metadata files, written without their syncs."},
    {"iceblink_metadata_sync_seconds", "Syncs of a metadata file and its directory."},
    {"iceblink_flip_duration_seconds", "New arenas, from the start of their build until current."},
}};
constexpr std::array<Described, kSizedCount> kSized{{
    {"iceblink_commit_group_lists", "Operation lists in one store transaction."},
    {"iceblink_commit_group_operations", "Operations in one store transaction."},
}};
constexpr std::array<Described, kCountedCount> kCounted{{
    {"iceblink_store_map_growths_total", "How often the store's map was made larger."},
    {"iceblink_slow_syncs_total", "Syncs that took more than a second."},
}};

constexpr Refusal kConflicts[] = {
    Refusal::kNoSuchNamespace, Refusal::kNoSuchTable,       Refusal::kNoSuchView,
    Refusal::kAlreadyExists,   Refusal::kNamespaceNotEmpty, Refusal::kCommitFailed,
    Refusal::kUnprocessable,   Refusal::kStaleBase,
};
constexpr std::size_t kRefusalCount = static_cast<std::size_t>(Refusal::kStaleBase) + 1;

// Of errors, as clients get them.
constexpr std::string_view kErrorTypes[] = {
    "AlreadyExistsException",
    "BadRequestException",
    "CommitFailedException",
    "CommitStateUnknownException",
    "ContentTooLargeException",
    "ForbiddenException",
    "GoneException",
    "IllegalArgumentException",
    "InsufficientStorageException",
    "InternalServerError",
    "MethodNotAllowedException",
    "NamespaceNotEmptyException",
    "NoSuchEndpointException",
    "NoSuchNamespaceException",
    "NoSuchTableException",
    "NoSuchViewException",
    "NoSuchWarehouseException",
    "NotAuthorizedException",
    "NotFoundException",
    "NotImplementedException",
    "RequestTimeoutException",
    "ServiceUnavailableException",
    "SlowDownException",
    "TimeoutException",
    "UnprocessableEntityException",
    "UnsupportedOperationException",
    "other",
};

/// How often each was the answer, of 4xx and of 5xx.
class RefusedRequests {
 public:
  void count(unsigned status, std::string_view type) noexcept {
    const auto found = std::find(std::begin(kErrorTypes), std::end(kErrorTypes) - 1, type);
    auto& counts = status < 500 ? client_errors_ : server_errors_;
    // relaxed: a counter, for showing
    counts[static_cast<std::size_t>(found - std::begin(kErrorTypes))].fetch_add(
        1, std::memory_order_relaxed);
  }

  /// Those that have been.
  [[nodiscard]] prometheus::MetricFamily collect() const {
    prometheus::MetricFamily family{
        "iceblink_http_refused_requests_total",
        "Answers of 400 and above, by class of status and type of error.",
        prometheus::MetricType::Counter,
        {}};
    add(family, "4xx", client_errors_);
    add(family, "5xx", server_errors_);
    return family;
  }

 private:
  using Counts = std::array<std::atomic<std::uint64_t>, std::size(kErrorTypes)>;

  static void add(prometheus::MetricFamily& family, const char* status_class,
                  const Counts& counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      // relaxed: a counter, for showing
      const std::uint64_t count = counts[i].load(std::memory_order_relaxed);
      if (count == 0) continue;
      prometheus::ClientMetric metric;
      metric.label = {{"class", status_class}, {"reason", std::string(kErrorTypes[i])}};
      metric.counter.value = static_cast<double>(count);
      family.metric.push_back(std::move(metric));
    }
  }

  Counts client_errors_{};
  Counts server_errors_{};
};

const char* reason_of(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::kNoSuchNamespace:
      return "no_such_namespace";
    case Refusal::kNoSuchTable:
      return "no_such_table";
    case Refusal::kNoSuchView:
      return "no_such_view";
    case Refusal::kAlreadyExists:
      return "already_exists";
    case Refusal::kNamespaceNotEmpty:
      return "not_empty";
    case Refusal::kCommitFailed:
      return "requirement_failed";
    case Refusal::kUnprocessable:
      return "unprocessable";
    case Refusal::kStaleBase:
      return "pointer_moved";
    case Refusal::kNone:
      break;
  }
  return "none";
}

const Histogram::BucketBoundaries& second_buckets() {
  static const Histogram::BucketBoundaries buckets{0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005,
                                                   0.01,   0.025,   0.05,   0.1,   0.25,   0.5,
                                                   1,      2.5,     5,      10,    30};
  return buckets;
}

const Histogram::BucketBoundaries& size_buckets() {
  static const Histogram::BucketBoundaries buckets{1,   2,   4,    8,    16,    32,   64,
                                                   128, 256, 1024, 4096, 16384, 65536};
  return buckets;
}

std::int64_t now_ns() noexcept {
  return std::chrono::duration_cast<nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

class Metrics::State {
 public:
  State() {
    for (std::size_t i = 0; i < kTimedCount; ++i) {
      timed_[i] = &histogram(kTimed[i], second_buckets());
    }
    for (std::size_t i = 0; i < kSizedCount; ++i) sized_[i] = &histogram(kSized[i], size_buckets());
    for (std::size_t i = 0; i < kCountedCount; ++i) {
      counted_[i] = &prometheus::BuildCounter()
                         .Name(kCounted[i].name)
                         .Help(kCounted[i].help)
                         .Register(registry_)
                         .Add({});
    }
    auto& conflicts = prometheus::BuildCounter()
                          .Name("iceblink_commit_conflicts_total")
                          .Help(
                              "Operation lists and commits judged and refused, by reason;"
                              " one whose pointer has moved may be made anew.")
                          .Register(registry_);
    for (const Refusal refusal : kConflicts) {
      conflicts_[static_cast<std::size_t>(refusal)] =
          &conflicts.Add({{"reason", reason_of(refusal)}});
    }
  }

  Histogram& timed(Timed what) noexcept { return *timed_[static_cast<std::size_t>(what)]; }
  Histogram& sized(Sized what) noexcept { return *sized_[static_cast<std::size_t>(what)]; }
  prometheus::Counter& counted(Counted what) noexcept {
    return *counted_[static_cast<std::size_t>(what)];
  }
  prometheus::Counter* conflict(Refusal refusal) noexcept {
    return conflicts_[static_cast<std::size_t>(refusal)];
  }
  RefusedRequests& refused() noexcept { return refused_; }
  [[nodiscard]] std::vector<prometheus::MetricFamily> collect() const {
    auto families = registry_.Collect();
    families.push_back(refused_.collect());
    return families;
  }

 private:
  Histogram& histogram(const Described& described, const Histogram::BucketBoundaries& buckets) {
    return prometheus::BuildHistogram()
        .Name(described.name)
        .Help(described.help)
        .Register(registry_)
        .Add({}, buckets);
  }

  RefusedRequests refused_;
  prometheus::Registry registry_;
  // The registry's, for as long as it lives. Constant after construction.
  std::array<Histogram*, kTimedCount> timed_{};
  std::array<Histogram*, kSizedCount> sized_{};
  std::array<prometheus::Counter*, kCountedCount> counted_{};
  std::array<prometheus::Counter*, kRefusalCount> conflicts_{};
};

Metrics::Metrics() : state_(std::make_unique<State>()), progress_ns_(now_ns()) {}
Metrics::~Metrics() = default;

void Metrics::observe(Timed what, nanoseconds time) noexcept {
  state_->timed(what).Observe(std::chrono::duration<double>(time).count());
}

void Metrics::observe(Sized what, std::uint64_t size) noexcept {
  state_->sized(what).Observe(static_cast<double>(size));
}

void Metrics::count(Counted what) noexcept {
  state_->counted(what).Increment();
}

void Metrics::count_conflict(Refusal refusal) noexcept {
  if (auto* const counter = state_->conflict(refusal)) counter->Increment();
}

void Metrics::count_refused(unsigned status, std::string_view reason) noexcept {
  state_->refused().count(status, reason);
}

void Metrics::note_progress() noexcept {
  // relaxed: an age, for showing
  progress_ns_.store(now_ns(), std::memory_order_relaxed);
}

nanoseconds Metrics::progress_age() const noexcept {
  // relaxed: an age, for showing
  return nanoseconds(now_ns() - progress_ns_.load(std::memory_order_relaxed));
}

std::vector<prometheus::MetricFamily> Metrics::collect() const {
  return state_->collect();
}

}  // namespace iceblink::daemon
