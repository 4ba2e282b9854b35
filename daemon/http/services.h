// What the handlers work with: the parts of the daemon, and what they count.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "daemon/backups.h"
#include "daemon/committer.h"
#include "daemon/document_cache.h"
#include "daemon/file_pool.h"
#include "daemon/http/access_policy.h"
#include "daemon/http/idempotent_requests.h"
#include "daemon/http/request_times.h"
#include "daemon/log_rate.h"
#include "daemon/metadata_commits.h"
#include "daemon/metadata_file.h"
#include "daemon/metrics.h"
#include "daemon/reloadable.h"
#include "daemon/store.h"
#include "daemon/write_roots.h"
#include "shm/publisher.h"

namespace iceblink::daemon::http {

/// Counters since start, for showing: every access is relaxed, none orders anything.
struct Counters {
  std::array<std::atomic<std::uint64_t>, 6> answers_by_class{};  // index: status / 100
  std::atomic<std::uint64_t> connections_accepted{0};
  std::atomic<std::uint64_t> connections_refused{0};
  std::atomic<std::uint64_t> connections_open{0};
  std::atomic<std::uint64_t> answer_bytes{0};   // of bodies being written
  std::atomic<std::uint64_t> request_bytes{0};  // of large bodies being read or handled
  std::atomic<std::uint64_t> scan_reports{0};   // metrics reports that were accepted
  std::atomic<std::uint64_t> commit_reports{0};
  std::atomic<std::uint64_t> replayed_answers{0};  // of idempotency keys
};

/// References to parts that outlive every request. Constant after construction, but for the
/// counters, `is_ready` and `access`.
struct Services {
  Store& store;
  shm::Publisher& publisher;
  Committer& committer;
  FilePool& files;
  std::string instance_name;
  std::string warehouse;  // URI; empty when none was given
  /// While bodies of more bytes are being written, no file is read and no large one is sent.
  std::uint64_t answer_bytes_max = std::uint64_t{1} << 30;
  /// Above this, no other large body is taken.
  std::uint64_t request_bytes_max = std::uint64_t{256} << 20;
  MetadataFileRules metadata_rules{};
  DocumentCache documents{};
  MetadataCommits& metadata_commits;
  const WriteRoots& write_roots;
  Backups& backups;
  /// Asks the disks for /metrics, which would hold up whoever waits for one that hangs.
  FilePool metrics_thread{{.threads = 1, .queue_length_max = 1, .name = "metrics"}};
  FilePool& purges;                      // apart: one takes as long as its table is large
  std::atomic<bool> is_stopping{false};  // relaxed: a sign for what takes long
  IdempotentRequests idempotent_requests{};
  std::chrono::milliseconds idempotency_lifetime{30 * 60 * 1000};
  std::string namespace_separator = "%1F";  // url-encoded; 0x1F is understood beside it
  Metrics& metrics;
  /// For what the disks say when they are asked.
  std::string data_dir;
  std::string runtime_dir;
  /// A writer that got nowhere for longer is not ready.
  std::chrono::milliseconds writer_silence_max{10'000};
  RequestTimes request_times{};
  LogRate refusal_lines{};
  Counters counters{};
  Reloadable<AccessPolicy> access{};  // never nothing
  std::atomic<bool> is_ready{false};  // relaxed: a sign for showing
};

}  // namespace iceblink::daemon::http
