#include "daemon/instance.h"

#include <linux/magic.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include "daemon/committer.h"
#include "daemon/data_dir.h"
#include "daemon/http/server.h"
#include "daemon/store.h"
#include "daemon/warehouse_group.h"
#include "shm/fault_point.h"
#include "shm/layout.h"
#include "shm/publisher.h"

namespace iceblink::daemon {
namespace {

constexpr ::mode_t kRuntimeDirMode = 0750;

// What is wrong with the directories as given, before anything is made.
Status check_directory(const std::string& path, std::string_view role) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0 ? S_ISDIR(found.st_mode) : errno != ENOTDIR) return Ok{};
  return {ErrorKind::kInvalidArgument, path + ": " + std::string(role) + ": Not a directory"};
}

Status check_directories(const std::string& runtime_dir, const std::string& data_dir) {
  ICEBLINK_RETURN_IF_ERROR(check_directory(runtime_dir, "runtime directory"));
  ICEBLINK_RETURN_IF_ERROR(check_directory(data_dir, "data directory"));
  std::error_code error;
  const auto resolved = [&](const std::string& path) {
    auto out =
        std::filesystem::weakly_canonical(std::filesystem::absolute(path + "/.", error), error);
    return out.has_filename() ? out : out.parent_path();
  };
  if (resolved(runtime_dir) != resolved(data_dir) || error) return Ok{};
  return {ErrorKind::kInvalidArgument,
          runtime_dir + ": is the runtime directory and the data directory, it cannot be both"};
}

Status make_runtime_dir(const std::string& path) {
  std::error_code error;
  const auto parent = std::filesystem::absolute(path, error).parent_path();
  std::filesystem::create_directories(parent, error);
  if (::mkdir(path.c_str(), kRuntimeDirMode) == 0) return Ok{};
  const int code = errno;
  if (code == EEXIST && std::filesystem::is_directory(path, error)) return Ok{};
  return {code == EACCES || code == EPERM ? ErrorKind::kNotAllowed : ErrorKind::kIo,
          path + ": runtime directory: " + std::system_category().message(code)};
}

void warn_unless_tmpfs(const std::string& path) {
  struct statfs found {};
  if (::statfs(path.c_str(), &found) != 0) return;
  if (found.f_type == TMPFS_MAGIC || found.f_type == RAMFS_MAGIC) return;
  spdlog::warn("runtime directory {} is not on a tmpfs: the segment will be written to a disk",
               path);
}

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
  spdlog::warn("the store is at generation {}, readers have seen {}: it was restored from a backup",
               stored, *adopted);
  ICEBLINK_FAULT_POINT("start.before-restore");
  ICEBLINK_RETURN_IF_ERROR(store.advance_past(*adopted));
  ICEBLINK_FAULT_POINT("start.after-restore");
  return Ok{};
}

// The default warehouse is a directory of our own.
std::string default_warehouse_of(const Settings& settings) {
  return std::filesystem::absolute(settings.data_dir).lexically_normal() / "warehouse";
}

Settings with_warehouse(Settings settings) {
  if (settings.warehouse.empty() && !settings.data_dir.empty()) {
    settings.warehouse = default_warehouse_of(settings);
  }
  return settings;
}

// Engines find it there. Others than the default one may be mounted later.
void make_default_warehouse(const Settings& settings, const WriteRoots& roots) {
  if (!settings.write_roots.empty() || settings.warehouse != default_warehouse_of(settings)) return;
  if (const Status status = roots.make_roots(); !status) {
    spdlog::warn("the warehouse cannot be made: {}", status.error().message());
  }
}

std::vector<FileIdentity> own_files_of(const std::string& store_dir) {
  std::vector<FileIdentity> files;
  for (const char* const name : {"data.mdb", "lock.mdb"}) {
    struct stat status {};
    if (::stat((store_dir + "/" + name).c_str(), &status) == 0) {
      files.push_back(FileIdentity::of(status));
    }
  }
  return files;
}

// A warehouse of another scheme is one that this daemon cannot write to, which is no reason not to
// serve what is registered.
Result<WriteRoots> write_roots_of(const Settings& settings, const iceberg::LocationMap& map) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto group, warehouse_group(settings.warehouse_group));
  if (!settings.write_roots.empty()) return WriteRoots::of(settings.write_roots, map, group);
  auto roots = WriteRoots::of({settings.warehouse}, map, group);
  if (roots) return roots;
  spdlog::warn("nothing can be written to the warehouse: {}", roots.error().message());
  return WriteRoots::of({}, map);
}

}  // namespace

class Instance::State {
 public:
  explicit State(const Settings& settings) : settings_(with_warehouse(settings)) {}
  ~State() { stop(); }

  Status start() {
    ICEBLINK_RETURN_IF_ERROR(check_directories(settings_.runtime_dir, settings_.data_dir));
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
    committer_ = std::make_unique<Committer>(*store_, *publisher_, CommitterOptions{});
    return start_server(std::move(listeners));
  }

  void stop() noexcept {
    if (is_stopped_) return;
    is_stopped_ = true;
    // relaxed: a sign, after which less is done
    if (services_) services_->is_stopping.store(true, std::memory_order_relaxed);
    if (server_) server_->stop();
    if (files_) files_->stop();
    if (purges_) purges_->stop();
    if (backups_) backups_->stop();
    if (metadata_commits_) metadata_commits_->stop();
    committer_.reset();
    if (server_) {
      ICEBLINK_FAULT_POINT("stop.before-say-stopped");
      publisher_->say_stopped();
      ICEBLINK_FAULT_POINT("stop.after-say-stopped");
    }
  }

  const Settings& settings() const noexcept { return settings_; }
  const shm::Publisher& publisher() const noexcept { return *publisher_; }
  std::uint16_t tcp_port() const noexcept { return tcp_port_; }
  std::string socket_path() const { return settings_.runtime_dir + "/" + shm::kSocketName; }

 private:
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
    ICEBLINK_ASSIGN_OR_RETURN(publisher_, shm::Publisher::open(std::move(options)));
    return Ok{};
  }

  Status start_publisher() {
    ICEBLINK_RETURN_IF_ERROR(catch_up_with_readers(*store_, *publisher_));
    if (!publisher_->adopts_control()) ICEBLINK_RETURN_IF_ERROR(store_->renew_incarnation());
    ICEBLINK_ASSIGN_OR_RETURN(const auto reading, store_->read());
    return publisher_->start(*reading, store_->incarnation());
  }

  // Under both locks: so a socket that lies in the way is nobody's.
  Status open_listeners(std::vector<http::Listener>& listeners) {
    if (listeners.empty()) {
      ICEBLINK_ASSIGN_OR_RETURN(auto listener, http::Listener::open_unix(socket_path()));
      listeners.push_back(std::move(listener));
    }
    if (settings_.listen.empty()) return Ok{};
    ICEBLINK_ASSIGN_OR_RETURN(auto listener, http::Listener::open_tcp(settings_.listen));
    tcp_port_ = listener.port();
    listeners.push_back(std::move(listener));
    return Ok{};
  }

  Status start_server(std::vector<http::Listener> listeners) {
    ICEBLINK_ASSIGN_OR_RETURN(auto map, iceberg::LocationMap::of(settings_.location_prefixes));
    ICEBLINK_ASSIGN_OR_RETURN(write_roots_, write_roots_of(settings_, map));
    make_default_warehouse(settings_, write_roots_);
    MetadataFileRules rules{settings_.metadata_bytes_max, settings_.metadata_bytes_max,
                            std::move(map), own_files_of(store_dir_of(settings_.data_dir))};
    MetadataCommitsOptions commits;
    commits.warehouse = settings_.warehouse;
    commits.threads = settings_.commit_threads;
    commits.bytes_max = settings_.commit_bytes_max;
    metadata_commits_ = std::make_unique<MetadataCommits>(*store_, *committer_, rules, write_roots_,
                                                          std::move(commits));
    files_ = std::make_unique<FilePool>(FilePoolOptions{.threads = settings_.file_threads});
    purges_ = std::make_unique<FilePool>(FilePoolOptions{.threads = 1, .queue_length_max = 64});
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
                                       .namespace_separator = settings_.namespace_separator});
    http::ServerOptions options;
    options.threads = settings_.http_threads;
    options.connections_max = settings_.connections_max;
    options.limits.body_bytes_max = settings_.body_bytes_max;
    options.limits.idle_timeout = settings_.idle_timeout;
    options.limits.request_timeout = settings_.request_timeout;
    options.limits.write_timeout = settings_.write_timeout;
    options.drain_timeout = settings_.drain_timeout;
    options.heartbeat = [publisher = publisher_.get()] { publisher->beat(); };
    ICEBLINK_ASSIGN_OR_RETURN(
        server_, http::Server::start(*services_, std::move(options), std::move(listeners)));
    return Ok{};
  }

  // Each uses those above it, and is destroyed before them.
  const Settings settings_;
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
  bool is_stopped_ = false;
};

Result<std::unique_ptr<Instance>> Instance::start(const Settings& settings) {
  auto state = std::make_unique<State>(settings);
  ICEBLINK_RETURN_IF_ERROR(state->start());
  return std::unique_ptr<Instance>(new Instance(std::move(state)));
}

Instance::Instance(std::unique_ptr<State> state) : state_(std::move(state)) {}
Instance::~Instance() = default;
void Instance::stop() noexcept {
  state_->stop();
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
std::uint16_t Instance::tcp_port() const noexcept {
  return state_->tcp_port();
}

}  // namespace iceblink::daemon
