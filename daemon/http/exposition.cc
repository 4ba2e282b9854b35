// GET /metrics: everything that is counted, in the text format that Prometheus scrapes.
//
// It is bounded: nothing here goes through tables, and no lock is held for longer than a copy of
// some numbers takes. Disks are asked on a thread of their own.
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <initializer_list>
#include <utility>

#include "daemon/disk_space.h"
#include "daemon/http/resources.h"
#include "daemon/process_numbers.h"

namespace iceblink::daemon::http {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;
using Labels = std::vector<ClientMetric::Label>;

class Families {
 public:
  explicit Families(std::vector<MetricFamily> families) : families_(std::move(families)) {}

  template <typename Number>
  void counter(std::string name, std::string help, Number value) {
    begin(std::move(name), std::move(help), MetricType::Counter);
    add({}, static_cast<double>(value));
  }
  template <typename Number>
  void gauge(std::string name, std::string help, Number value) {
    begin(std::move(name), std::move(help), MetricType::Gauge);
    add({}, static_cast<double>(value));
  }

  void begin(std::string name, std::string help, MetricType type) {
    families_.push_back({std::move(name), std::move(help), type, {}});
  }
  /// To the family that was begun last.
  void add(Labels labels, double value) {
    ClientMetric metric;
    metric.label = std::move(labels);
    const bool is_counter = families_.back().type == MetricType::Counter;
    (is_counter ? metric.counter.value : metric.gauge.value) = value;
    families_.back().metric.push_back(std::move(metric));
  }
  void add(ClientMetric metric) { families_.back().metric.push_back(std::move(metric)); }

  [[nodiscard]] const std::vector<MetricFamily>& all() const noexcept { return families_; }

 private:
  std::vector<MetricFamily> families_;
};

void add_committer(Families& out, const Services& services) {
  const CommitterStats stats = services.committer.stats();
  out.counter("iceblink_commits_total", "Operation lists committed.", stats.commit_count);
  out.counter("iceblink_refused_total", "Operation lists refused.", stats.refused_count);
  out.counter("iceblink_commit_groups_total", "Store transactions.", stats.group_count);
  out.gauge("iceblink_commit_queue_length", "Operation lists waiting for the writer.",
            stats.queue_length);
  out.gauge("iceblink_writer_progress_age_seconds", "Since the writer last got somewhere.",
            std::chrono::duration<double>(services.metrics.progress_age()).count());
}

void add_metadata_commits(Families& out, const MetadataCommits& commits) {
  const MetadataCommitsStats stats = commits.stats();
  out.counter("iceblink_metadata_retries_total",
              "Commits begun anew because the pointer had moved.", stats.retry_count);
  out.counter("iceblink_metadata_files_written_total", "Metadata files written.",
              stats.files_written_count);
  out.counter("iceblink_metadata_files_removed_total",
              "Metadata files of commits that failed or began anew.", stats.files_removed_count);
  out.gauge("iceblink_metadata_queue_length", "Commits waiting for a commit thread.",
            commits.queue_length());
}

void add_threads(Families& out, const Services& services) {
  out.gauge("iceblink_file_queue_length", "Jobs waiting for a file thread.",
            services.files.queue_length());
  out.gauge("iceblink_purge_queue_length", "Purges waiting.", services.purges.queue_length());
  out.begin("iceblink_busy_threads", "Threads with a job in hand, by pool.", MetricType::Gauge);
  const std::pair<const char*, std::size_t> pools[] = {
      {"file", services.files.busy_count()},
      {"commit", services.metadata_commits.busy_count()},
      {"purge", services.purges.busy_count()}};
  for (const auto& [pool, count] : pools) {
    out.add({{"pool", pool}}, static_cast<double>(count));
  }
}

void add_publisher(Families& out, const shm::PublisherStats& stats) {
  out.gauge("iceblink_generation", "Published generation.", stats.generation);
  out.gauge("iceblink_epoch", "Epoch of the current arena.", stats.epoch);
  out.gauge("iceblink_tables", "Live tables.", stats.table_count);
  out.gauge("iceblink_views", "Live views.", stats.view_count);
  out.gauge("iceblink_namespaces", "Live namespaces.", stats.namespace_count);
  out.gauge("iceblink_arena_bytes", "Size of the current arena.", stats.arena_bytes);
  out.gauge("iceblink_arena_used_bytes", "Header, index and records.", stats.arena_used_bytes);
  out.gauge("iceblink_arena_garbage_bytes", "Superseded records and tombstones.",
            stats.arena_garbage_bytes);
  out.gauge("iceblink_arena_lingering_bytes", "Replaced arenas still held open.",
            stats.lingering_bytes);
  out.gauge("iceblink_index_used_slots", "Index slots in use.", stats.index_used_slots);
  out.gauge("iceblink_index_capacity", "Index slots.", stats.index_capacity);
  out.counter("iceblink_flips_total", "Arenas replaced.", stats.flip_count);
  out.counter("iceblink_failed_builds_total", "Arena builds given up.", stats.failed_build_count);
  out.counter("iceblink_publishes_total", "Generations published.", stats.publish_count);
}

// relaxed, all of it: counters, for showing
void add_requests(Families& out, const Counters& counters) {
  const auto of = [](const std::atomic<std::uint64_t>& counter) {
    return counter.load(std::memory_order_relaxed);
  };
  out.counter("iceblink_replayed_answers_total", "Answers given again to an Idempotency-Key.",
              of(counters.replayed_answers));
  out.counter("iceblink_scan_reports_total", "Scan reports taken.", of(counters.scan_reports));
  out.counter("iceblink_commit_reports_total", "Commit reports taken.",
              of(counters.commit_reports));
  out.counter("iceblink_http_connections_accepted_total", "Connections accepted.",
              of(counters.connections_accepted));
  out.counter("iceblink_http_connections_refused_total", "Connections over the limit.",
              of(counters.connections_refused));
  out.gauge("iceblink_http_connections_open", "Connections open now.",
            of(counters.connections_open));
  out.gauge("iceblink_http_answer_bytes", "Bodies being written.", of(counters.answer_bytes));
  out.gauge("iceblink_http_request_bytes", "Large bodies being read or handled.",
            of(counters.request_bytes));
  out.begin("iceblink_http_answers_total", "Answers sent, by class of status.",
            MetricType::Counter);
  for (std::size_t i = 2; i < counters.answers_by_class.size(); ++i) {
    out.add({{"class", std::to_string(i) + "xx"}},
            static_cast<double>(of(counters.answers_by_class[i])));
  }
}

void add_request_times(Families& out, const RequestTimes& times) {
  out.begin("iceblink_http_request_duration_seconds",
            "Requests, from their last byte to their answer's first, by what they are for.",
            MetricType::Histogram);
  for (std::size_t i = 0; i < kRouteClassCount; ++i) {
    const auto route = static_cast<RouteClass>(i);
    const RequestTimes::Numbers numbers = times.numbers(route);
    ClientMetric metric;
    metric.label = {{"route", std::string(to_string(route))}};
    std::uint64_t cumulative = 0;
    for (std::size_t bucket = 0; bucket < RequestTimes::kBucketsUs.size(); ++bucket) {
      cumulative += numbers.counts[bucket];
      metric.histogram.bucket.push_back(
          {cumulative, static_cast<double>(RequestTimes::kBucketsUs[bucket]) / 1e6});
    }
    metric.histogram.sample_count = cumulative + numbers.counts.back();
    metric.histogram.sample_sum = numbers.sum_s;
    out.add(std::move(metric));
  }
}

void add_store(Families& out, const Store::Extent& extent) {
  out.gauge("iceblink_store_map_bytes", "Address space of the store; it grows.", extent.map_bytes);
  out.gauge("iceblink_store_used_bytes", "The store's file, up to its last page.",
            extent.used_bytes);
  out.gauge("iceblink_idempotency_keys", "Keys whose answers are kept.", extent.answer_count);
}

void add_disks(Families& out, const Services& services) {
  const std::pair<const char*, DiskSpace> disks[] = {
      {"data", disk_space_of(services.data_dir)}, {"runtime", disk_space_of(services.runtime_dir)}};
  out.begin("iceblink_disk_free_bytes", "Room left for the daemon, by directory.",
            MetricType::Gauge);
  for (const auto& [dir, space] : disks) {
    out.add({{"dir", dir}}, static_cast<double>(space.free_bytes));
  }
  out.begin("iceblink_disk_size_bytes", "Size of the file system, by directory.",
            MetricType::Gauge);
  for (const auto& [dir, space] : disks) {
    out.add({{"dir", dir}}, static_cast<double>(space.total_bytes));
  }
}

void add_process(Families& out) {
  const ProcessNumbers numbers = process_numbers();
  out.gauge("process_resident_memory_bytes", "Resident memory of the daemon.",
            numbers.resident_bytes);
  out.gauge("process_open_fds", "Descriptors open.", numbers.open_fd_count);
  out.gauge("process_max_fds", "Descriptors that may be open.", numbers.fd_count_max);
  out.counter("process_cpu_seconds_total", "Processor time, user and system.", numbers.cpu_s);
  out.gauge("process_start_time_seconds", "When the daemon started, since the epoch.",
            numbers.start_time_s);
  out.begin("iceblink_build_info", "1; the version is the label.", MetricType::Gauge);
  out.add({{"version", ICEBLINK_VERSION}}, 1);
}

enum class Disks : std::uint8_t { kAsked, kLeftOut };

void answer_numbers(Exchange& exchange, Disks disks) {
  const Services& services = exchange.services();
  Families out(services.metrics.collect());
  add_committer(out, services);
  add_metadata_commits(out, services.metadata_commits);
  add_threads(out, services);
  add_publisher(out, services.publisher.stats());
  add_requests(out, services.counters);
  add_request_times(out, services.request_times);
  if (disks == Disks::kAsked) {
    add_store(out, services.store.extent());
    add_disks(out, services);
  }
  add_process(out);
  Response response = json_response(prometheus::TextSerializer().Serialize(out.all()));
  response.content_type = kPlainText;
  exchange.answer(std::move(response));
}

}  // namespace

// A disk that hangs costs its own numbers, and those of the two that ask first.
void metrics(const ExchangePtr& exchange) {
  const bool is_taken = exchange->services().metrics_thread.run(
      [exchange] { exchange->guard([&] { answer_numbers(*exchange, Disks::kAsked); }); });
  if (!is_taken) answer_numbers(*exchange, Disks::kLeftOut);
}

}  // namespace iceblink::daemon::http
