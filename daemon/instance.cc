#include "daemon/instance.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <optional>

#include "daemon/arena_builds.h"
#include "daemon/committer.h"
#include "daemon/data_dir.h"
#include "daemon/from_settings.h"
#include "daemon/http/server.h"
#include "daemon/log_event.h"
#include "daemon/metrics.h"
#include "daemon/open_beneath.h"
#include "daemon/runtime_dir.h"
#include "daemon/settings_table.h"
#include "daemon/store.h"
#include "daemon/warehouse_group.h"
#include "daemon/watchdog.h"
#include "shm/fault_point.h"
#include "shm/layout.h"
#include "shm/publisher.h"

namespace iceblink::daemon {
namespace {

using Clock = std::chrono::steady_clock;
/// After hurry(), for the answers to what is cut off.
constexpr Clock::duration kHurriedAnswers = std::chrono::milliseconds(50);
/// How soon it ends the wait for threads.
constexpr Clock::duration kHurryNoticed = std::chrono::milliseconds(20);

// The reading ends here: nothing may be written while one is held.
Result<std::uint64_t> generation_of(const Store& store) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, store.read());
  return reading->generation();
}

// Rule 17: a store restored from a backup goes above what readers have already seen.
Status catch_up_with_readers(Store& store, const shm::Publisher& publisher) {
  const auto adopted = publisher.adopted_generation();
  if (!adopted) return Ok{};
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t stored, generation_of(store));
  if (*adopted <= stored) return Ok{};
  log_event(level::warn, "store restored from a backup",
            {{"generation", stored}, {"seen_generation", *adopted}});
  ICEBLINK_FAULT_POINT("start.before-restore");
  ICEBLINK_RETURN_IF_ERROR(store.advance_past(*adopted));
  ICEBLINK_FAULT_POINT("start.after-restore");
  return Ok{};
}

std::int64_t ms_since(Clock::time_point begun_at) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begun_at).count();
}

}  // namespace

class Instance::State {
 public:
  explicit State(const Settings& settings)
      : given_(settings),
        settings_(with_warehouse(settings)),
        watchdog_(watchdog_period(), [this] { return status_text(); }) {}
  ~State() {
    stop();
    if (services_) services_->metrics_thread.stop();
    if (files_) files_->stop();
    if (purges_) purges_->stop();
    if (backups_) backups_->stop();
    if (metadata_commits_) metadata_commits_->stop();
  }

  Status start() {
    const auto begun_at = Clock::now();
    ICEBLINK_RETURN_IF_ERROR(check_together(settings_));
    ICEBLINK_RETURN_IF_ERROR(check_directories(settings_.runtime_dir, settings_.data_dir));
    ICEBLINK_RETURN_IF_ERROR(check_write_roots(settings_));
    ICEBLINK_RETURN_IF_ERROR(check_open_beneath());
    ICEBLINK_ASSIGN_OR_RETURN(access_, access_of(settings_));
    ICEBLINK_ASSIGN_OR_RETURN(tls_, tls_of(settings_));
    ICEBLINK_ASSIGN_OR_RETURN(auto listeners, http::Listener::inherited());
    if (listeners.empty()) ICEBLINK_RETURN_IF_ERROR(http::check_socket_path(socket_path()));
    ICEBLINK_RETURN_IF_ERROR(make_runtime_dir(settings_.runtime_dir));
    warn_unless_tmpfs(settings_.runtime_dir);
    ICEBLINK_ASSIGN_OR_RETURN(store_, Store::open({.data_dir = settings_.data_dir,
                                                   .map_bytes = settings_.map_bytes,
                                                   .log_entries_max = settings_.log_entries_max,
                                                   .log_bytes_max = settings_.log_bytes_max,
                                                   .answers_max = settings_.idempotency_keys_max}));
    ICEBLINK_RETURN_IF_ERROR(open_publisher());
    // Before anything of ours is made for readers to see; nobody is served before all is there.
    ICEBLINK_RETURN_IF_ERROR(open_listeners(listeners));
    ICEBLINK_RETURN_IF_ERROR(start_publisher());
    start_committer();
    ICEBLINK_RETURN_IF_ERROR(start_server(std::move(listeners)));
    const shm::PublisherStats stats = publisher_->stats();
    log_event(level::info, "started",
              {{"version", ICEBLINK_VERSION},
               {"runtime_dir", settings_.runtime_dir},
               {"data_dir", settings_.data_dir},
               {"warehouse", settings_.warehouse},
               {"generation", stats.generation},
               {"tables", stats.table_count},
               {"duration_ms", ms_since(begun_at)}});
    return Ok{};
  }

  Result<std::vector<std::string_view>> reload(const Settings& given) {
    Settings next = settings_;
    std::vector<std::string_view> kept;
    for (const Setting& setting : settings_table()) {
      if (setting.change == Setting::Change::kReloads) {
        setting.value.copy(given, next);
      } else if (setting.value.get(given) != setting.value.get(given_)) {
        kept.push_back(setting.name);
      }
    }
    ICEBLINK_RETURN_IF_ERROR(check_together(next));
    ICEBLINK_ASSIGN_OR_RETURN(auto access, access_of(next));
    ICEBLINK_ASSIGN_OR_RETURN(auto tls, tls_of(next));
    if (services_->access.get()->token) warn_unless_guarded(next, *access);
    services_->access.set(std::move(access));
    server_->change(next.connections_max, connection_limits_of(next), std::move(tls));
    spdlog::set_level(spdlog::level::from_str(next.log_level));
    settings_ = std::move(next);
    return kept;
  }

  void stop() noexcept {
    if (std::exchange(is_stopped_, true)) return;
    const auto begun_at = Clock::now();
    stop_until_ = begun_at + settings_.drain_timeout;
    watchdog_.say_stopping();
    // relaxed: a sign, after which less is done
    if (services_) services_->is_stopping.store(true, std::memory_order_relaxed);
    if (!server_) {
      if (committer_) committer_->stop();
      return;
    }
    // The end of the time is for the answers to what is cut off.
    const auto last_answers =
        std::min<Clock::duration>(settings_.drain_timeout / 4, std::chrono::milliseconds(500));
    server_->begin_stop();
    const bool is_drained = server_->wait_answered(stop_until_ - last_answers);
    std::size_t refused_count = 0;
    if (!is_drained) {
      refused_count = metadata_commits_->cut_off();
      committer_->hurry();
    }
    committer_->stop();
    if (!is_drained) {
      const auto time = is_hurried() ? std::min(last_answers, kHurriedAnswers) : last_answers;
      static_cast<void>(server_->wait_answered(Clock::now() + time));
    }
    const std::size_t cut_count = server_->connection_count();
    server_->stop();
    ICEBLINK_FAULT_POINT("stop.before-say-stopped");
    publisher_->say_stopped();
    ICEBLINK_FAULT_POINT("stop.after-say-stopped");
    log_event(is_drained ? level::info : level::warn, "stopped",
              {{"generation", publisher_->published_generation()},
               {"commits", committer_->stats().commit_count},
               {"commits_cut_off", refused_count},
               {"connections_cut_off", cut_count},
               {"duration_ms", ms_since(begun_at)}});
  }

  void hurry() noexcept {
    // relaxed: a sign, after which less is waited for
    is_hurried_.store(true, std::memory_order_relaxed);
    if (server_) server_->hurry();
    if (committer_) committer_->hurry();
  }

  [[nodiscard]] bool wait_workers() noexcept {
    if (!server_) return true;
    services_->metrics_thread.close();
    files_->close();
    purges_->close();
    backups_->close();
    for (;;) {
      const auto now = Clock::now();
      const bool is_last = is_hurried() || now >= stop_until_;
      const auto until = is_last ? now : std::min(stop_until_, now + kHurryNoticed);
      if (metadata_commits_->end_until(until) && files_->wait_idle(until) &&
          purges_->wait_idle(until) && backups_->wait_idle(until) &&
          services_->metrics_thread.wait_idle(until)) {
        return true;
      }
      if (is_last) return false;
    }
  }

  const shm::Publisher& publisher() const noexcept { return *publisher_; }
  std::uint16_t tcp_port() const noexcept { return tcp_port_; }
  const std::string& tcp_url() const noexcept { return tcp_url_; }
  std::string socket_path() const { return given_.runtime_dir + "/" + shm::kSocketName; }

 private:
  [[nodiscard]] bool is_hurried() const noexcept {
    return is_hurried_.load(std::memory_order_relaxed);  // relaxed: as where it is set
  }

  // Takes the lock of the runtime directory.
  Status open_publisher() {
    using enum shm::PublisherOptions::OnForeignControl;
    shm::PublisherOptions options;
    options.runtime_dir = settings_.runtime_dir;
    options.store_uuid = store_->store_uuid();
    options.incarnation = store_->incarnation();
    options.hash_seed = store_->hash_seed();
    options.daemon_version = ICEBLINK_VERSION;
    options.on_foreign_control = settings_.replace_control ? kReplace : kRefuse;
    options.headroom_bytes_min = settings_.headroom_bytes;
    options.on_build = [this](const shm::BuildReport& report) { report_build(metrics_, report); };
    ICEBLINK_ASSIGN_OR_RETURN(publisher_, shm::Publisher::open(std::move(options)));
    return Ok{};
  }

  Status start_publisher() {
    ICEBLINK_RETURN_IF_ERROR(catch_up_with_readers(*store_, *publisher_));
    if (!publisher_->adopts_control()) ICEBLINK_RETURN_IF_ERROR(store_->renew_incarnation());
    ICEBLINK_ASSIGN_OR_RETURN(const auto reading, store_->read());
    return publisher_->start(*reading, store_->incarnation());
  }

  void start_committer() {
    CommitterOptions options;
    options.progress_period = watchdog_.idle_period();
    options.on_progress = [this] {
      metrics_.note_progress();
      watchdog_.on_progress();
    };
    options.metrics = &metrics_;
    committer_ = std::make_unique<Committer>(*store_, *publisher_, std::move(options));
  }

  [[nodiscard]] std::string status_text() const {
    return "generation " + std::to_string(publisher_->published_generation()) + ", " +
           std::to_string(publisher_->stats().table_count) + " tables";
  }

  // Under both locks: so a socket that lies in the way is nobody's.
  Status open_listeners(std::vector<http::Listener>& listeners) {
    if (listeners.empty()) {
      ICEBLINK_ASSIGN_OR_RETURN(auto listener, http::Listener::open_unix(socket_path()));
      listeners.push_back(std::move(listener));
    }
    if (settings_.listen.empty()) return Ok{};
    const bool is_guarded = tls_ != nullptr && access_->token;
    ICEBLINK_ASSIGN_OR_RETURN(
        auto listener,
        http::Listener::open_tcp(settings_.listen, is_guarded ? http::TcpReach::kBeyondLoopback
                                                              : http::TcpReach::kLoopback));
    warn_unless_guarded(settings_, *access_);
    tcp_port_ = listener.port();
    tcp_url_ = (tls_ ? "https://" : "http://") + listener.tcp_address();
    listeners.push_back(std::move(listener));
    return Ok{};
  }

  Status start_server(std::vector<http::Listener> listeners) {
    ICEBLINK_ASSIGN_OR_RETURN(auto map, iceberg::LocationMap::of(settings_.location_prefixes));
    ICEBLINK_ASSIGN_OR_RETURN(write_roots_, write_roots_of(settings_, map));
    ICEBLINK_ASSIGN_OR_RETURN(auto read_roots, read_roots_of(settings_, map));
    make_default_warehouse(settings_, write_roots_);
    MetadataFileRules rules{settings_.metadata_bytes_max, settings_.metadata_bytes_max,
                            std::move(map), own_files_of(settings_), std::move(read_roots)};
    MetadataCommitsOptions commits;
    commits.warehouse = settings_.warehouse;
    commits.threads = settings_.commit_threads;
    commits.bytes_max = settings_.commit_bytes_max;
    commits.metrics = &metrics_;
    metadata_commits_ = std::make_unique<MetadataCommits>(*store_, *committer_, rules, write_roots_,
                                                          std::move(commits));
    files_ = std::make_unique<FilePool>(
        FilePoolOptions{.threads = settings_.file_threads, .name = "files"});
    purges_ = std::make_unique<FilePool>(
        FilePoolOptions{.threads = 1, .queue_length_max = 64, .name = "purge"});
    backups_ = std::make_unique<Backups>(*store_, settings_.data_dir);
    services_.reset(new http::Services{.store = *store_,
                                       .publisher = *publisher_,
                                       .committer = *committer_,
                                       .files = *files_,
                                       .instance_name = settings_.instance,
                                       .warehouse = settings_.warehouse,
                                       .answer_bytes_max = settings_.answer_bytes_max,
                                       .request_bytes_max = settings_.request_bytes_max,
                                       .metadata_rules = std::move(rules),
                                       .metadata_commits = *metadata_commits_,
                                       .write_roots = write_roots_,
                                       .backups = *backups_,
                                       .purges = *purges_,
                                       .idempotency_lifetime = settings_.idempotency_lifetime,
                                       .namespace_separator = settings_.namespace_separator,
                                       .metrics = metrics_,
                                       .data_dir = settings_.data_dir,
                                       .runtime_dir = settings_.runtime_dir,
                                       .writer_silence_max = watchdog_.silence_max()});
    services_->access.set(access_);
    http::ServerOptions options;
    options.threads = settings_.http_threads;
    options.connections_max = settings_.connections_max;
    options.limits = connection_limits_of(settings_);
    options.tls = tls_;
    options.heartbeat = [publisher = publisher_.get()] { publisher->beat(); };
    ICEBLINK_ASSIGN_OR_RETURN(
        server_, http::Server::start(*services_, std::move(options), std::move(listeners)));
    return Ok{};
  }

  // Each uses those above it, and is destroyed before them.
  const Settings given_;
  Settings settings_;  // what reloads changes; whoever else needs that has a copy
  std::shared_ptr<const http::AccessPolicy> access_;  // at the start
  std::shared_ptr<const http::TlsContext> tls_;       // at the start
  Metrics metrics_;
  Watchdog watchdog_;
  std::unique_ptr<Store> store_;
  std::unique_ptr<shm::Publisher> publisher_;
  std::unique_ptr<http::Services> services_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<FilePool> files_;
  std::unique_ptr<FilePool> purges_;
  std::unique_ptr<Backups> backups_;
  std::unique_ptr<Committer> committer_;
  WriteRoots write_roots_;
  std::unique_ptr<MetadataCommits> metadata_commits_;
  std::uint16_t tcp_port_ = 0;
  std::string tcp_url_;
  bool is_stopped_ = false;
  std::atomic<bool> is_hurried_{false};  // relaxed: a sign, after which less is waited for
  Clock::time_point stop_until_{};
};

Result<std::unique_ptr<Instance>> Instance::start(const Settings& settings) {
  auto state = std::make_unique<State>(settings);
  ICEBLINK_RETURN_IF_ERROR(state->start());
  return std::unique_ptr<Instance>(new Instance(std::move(state)));
}

Instance::Instance(std::unique_ptr<State> state) : state_(std::move(state)) {}
Instance::~Instance() = default;
std::vector<Error> Instance::problems_of(const Settings& given) {
  const Settings settings = with_warehouse(given);
  std::vector<Error> problems;
  const auto note = [&](const auto& result) {
    if (!result) problems.push_back(result.error());
  };
  note(check_together(settings));
  note(check_directories(settings.runtime_dir, settings.data_dir));
  note(http::check_socket_path(settings.runtime_dir + "/" + shm::kSocketName));
  note(http::AccessRules::of(settings.readers, settings.writers));
  if (!settings.token_file.empty()) note(http::BearerToken::from_file(settings.token_file));
  note(tls_of(settings));
  const auto map = iceberg::LocationMap::of(settings.location_prefixes);
  note(map);
  if (!map) return problems;
  note(warehouse_group(settings.warehouse_group));
  note(check_write_roots(settings));
  note(read_roots_of(settings, *map));
  return problems;
}
Result<std::vector<std::string_view>> Instance::reload(const Settings& settings) {
  return state_->reload(settings);
}
void Instance::stop() noexcept {
  state_->stop();
}
void Instance::hurry() noexcept {
  state_->hurry();
}
bool Instance::wait_workers() noexcept {
  return state_->wait_workers();
}
std::uint64_t Instance::generation() const {
  return state_->publisher().published_generation();
}
std::uint64_t Instance::table_count() const {
  return state_->publisher().stats().table_count;
}
std::string Instance::socket_path() const {
  return state_->socket_path();
}
std::string Instance::tcp_url() const {
  return state_->tcp_url();
}
std::uint16_t Instance::tcp_port() const noexcept {
  return state_->tcp_port();
}

}  // namespace iceblink::daemon
