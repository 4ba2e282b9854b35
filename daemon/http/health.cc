#include "daemon/http/error_body.h"
#include "daemon/http/resources.h"

namespace iceblink::daemon::http {
namespace {

enum class MetricKind : std::uint8_t { kCounter, kGauge };

// Prometheus text exposition format, version 0.0.4.
class MetricText {
 public:
  void add(std::string_view name, MetricKind kind, std::string_view help, std::uint64_t value) {
    begin(name, kind, help);
    text_ += name;
    text_ += ' ' + std::to_string(value) + '\n';
  }

  void add_answers(const Counters& counters) {
    constexpr std::string_view kName = "iceblink_http_answers_total";
    begin(kName, MetricKind::kCounter, "Answers sent, by class of status.");
    for (std::size_t i = 2; i < counters.answers_by_class.size(); ++i) {
      text_ += kName;
      text_ += "{class=\"" + std::to_string(i) + "xx\"} ";
      // relaxed: a counter, for showing
      text_ += std::to_string(counters.answers_by_class[i].load(std::memory_order_relaxed)) + '\n';
    }
  }

  std::string take() { return std::move(text_); }

 private:
  void begin(std::string_view name, MetricKind kind, std::string_view help) {
    text_ += "# HELP ";
    text_ += name;
    text_ += ' ';
    text_ += help;
    text_ += "\n# TYPE ";
    text_ += name;
    text_ += kind == MetricKind::kCounter ? " counter\n" : " gauge\n";
  }

  std::string text_;
};

void add_committer(MetricText& text, const CommitterStats& stats) {
  using enum MetricKind;
  text.add("iceblink_commits_total", kCounter, "Operation lists committed.", stats.commit_count);
  text.add("iceblink_refused_total", kCounter, "Operation lists refused.", stats.refused_count);
  text.add("iceblink_commit_groups_total", kCounter, "Store transactions.", stats.group_count);
  text.add("iceblink_commit_queue_length", kGauge, "Operation lists waiting.", stats.queue_length);
}

void add_metadata_commits(MetricText& text, const MetadataCommits& commits) {
  using enum MetricKind;
  const MetadataCommitsStats stats = commits.stats();
  text.add("iceblink_metadata_retries_total", kCounter,
           "Commits begun anew because the pointer had moved.", stats.retry_count);
  text.add("iceblink_metadata_files_written_total", kCounter, "Metadata files written.",
           stats.files_written_count);
  text.add("iceblink_metadata_files_removed_total", kCounter,
           "Metadata files of commits that failed or began anew.", stats.files_removed_count);
  text.add("iceblink_metadata_queue_length", kGauge, "Commits waiting for a commit thread.",
           commits.queue_length());
}

// relaxed: counters, for showing
void add_requests(MetricText& text, const Counters& counters) {
  using enum MetricKind;
  text.add("iceblink_replayed_answers_total", kCounter,
           "Answers given again to an Idempotency-Key.",
           counters.replayed_answers.load(std::memory_order_relaxed));
  text.add("iceblink_scan_reports_total", kCounter, "Scan reports taken.",
           counters.scan_reports.load(std::memory_order_relaxed));
  text.add("iceblink_commit_reports_total", kCounter, "Commit reports taken.",
           counters.commit_reports.load(std::memory_order_relaxed));
}

void add_publisher(MetricText& text, const shm::PublisherStats& stats) {
  using enum MetricKind;
  text.add("iceblink_generation", kGauge, "Published generation.", stats.generation);
  text.add("iceblink_epoch", kGauge, "Epoch of the current arena.", stats.epoch);
  text.add("iceblink_tables", kGauge, "Live tables.", stats.table_count);
  text.add("iceblink_views", kGauge, "Live views.", stats.view_count);
  text.add("iceblink_namespaces", kGauge, "Live namespaces.", stats.namespace_count);
  text.add("iceblink_arena_bytes", kGauge, "Size of the current arena.", stats.arena_bytes);
  text.add("iceblink_arena_used_bytes", kGauge, "Header, index and records.",
           stats.arena_used_bytes);
  text.add("iceblink_arena_garbage_bytes", kGauge, "Superseded records and tombstones.",
           stats.arena_garbage_bytes);
  text.add("iceblink_arena_lingering_bytes", kGauge, "Replaced arenas still held open.",
           stats.lingering_bytes);
  text.add("iceblink_index_used_slots", kGauge, "Index slots in use.", stats.index_used_slots);
  text.add("iceblink_index_capacity", kGauge, "Index slots.", stats.index_capacity);
  text.add("iceblink_flips_total", kCounter, "Arenas replaced.", stats.flip_count);
  text.add("iceblink_failed_builds_total", kCounter, "Arena builds given up.",
           stats.failed_build_count);
  text.add("iceblink_publishes_total", kCounter, "Generations published.", stats.publish_count);
}

}  // namespace

void healthz(const ExchangePtr& exchange) {
  exchange->answer(json_response(R"({"status":"ok"})"));
}

void readyz(const ExchangePtr& exchange) {
  const Services& services = exchange->services();
  // relaxed: a sign for those who probe; orders nothing
  if (!services.is_ready.load(std::memory_order_relaxed)) {
    return exchange->answer(
        error_response({503, "ServiceUnavailableException"}, "the daemon is starting or stopping"));
  }
  exchange->answer(json_response(R"({"status":"ready","generation":)" +
                                 std::to_string(services.publisher.published_generation()) + "}"));
}

void metrics(const ExchangePtr& exchange) {
  using enum MetricKind;
  const Services& services = exchange->services();
  const Counters& counters = services.counters;
  MetricText text;
  add_committer(text, services.committer.stats());
  add_metadata_commits(text, services.metadata_commits);
  add_requests(text, counters);
  add_publisher(text, services.publisher.stats());
  text.add_answers(counters);
  // relaxed, here and below: counters, for showing
  text.add("iceblink_http_connections_accepted_total", kCounter, "Connections accepted.",
           counters.connections_accepted.load(std::memory_order_relaxed));
  text.add("iceblink_http_connections_refused_total", kCounter, "Connections over the limit.",
           counters.connections_refused.load(std::memory_order_relaxed));
  text.add("iceblink_http_connections_open", kGauge, "Connections open now.",
           counters.connections_open.load(std::memory_order_relaxed));
  text.add("iceblink_http_answer_bytes", kGauge, "Bodies being written.",
           counters.answer_bytes.load(std::memory_order_relaxed));
  text.add("iceblink_http_request_bytes", kGauge, "Large bodies being read or handled.",
           counters.request_bytes.load(std::memory_order_relaxed));
  text.add("iceblink_file_queue_length", kGauge, "Jobs waiting for a file thread.",
           services.files.queue_length());
  Response response = json_response(text.take());
  response.content_type = kPlainText;
  exchange->answer(std::move(response));
}

}  // namespace iceblink::daemon::http
