// What a daemon is told: by flags, by a TOML file, by the service manager's environment.
//
// A key of a file is a flag's name without its dashes; within it '-' and '_' are the same. A flag
// wins over the files, a later file over an earlier one, a file over the environment.
#pragma once

#include <iceblink/location_prefix.h>
#include <iceblink/result.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/restore.h"

namespace iceblink::daemon {

/// Who connects to the Unix socket: users by name or number, groups with an '@' before theirs.
struct PeerList {
  std::vector<std::string> names;
  bool is_configured = false;  // names that nobody asked for need not exist

  friend bool operator==(const PeerList&, const PeerList&) = default;
};

struct Settings {
  std::string runtime_dir;
  std::string data_dir;
  std::string warehouse;                 // URI; default: the directory "warehouse" in data_dir
  std::string warehouse_group;           // default: iceblink-writers, if there is one
  std::vector<std::string> write_roots;  // locations; default: the warehouse
  std::vector<std::string> read_roots;   // locations; empty: anywhere
  PeerList readers{.names = {"@iceblink-readers"}};
  PeerList writers{.names = {"@iceblink-writers"}};
  std::string listen;  // HOST:PORT; empty: the Unix socket only
  std::string token_file;
  bool require_token = false;
  std::string tls_certificate_file;
  std::string tls_key_file;
  std::string log_level = "info";
  std::string instance;  // default: the last part of runtime_dir
  bool replace_control = false;
  std::vector<LocationPrefix> location_prefixes;  // together a LocationMap

  std::size_t http_threads = 2;
  std::size_t file_threads = 2;
  std::size_t commit_threads = 64;
  std::uint64_t body_bytes_max = std::uint64_t{16} << 20;
  std::uint64_t answer_bytes_max = std::uint64_t{1} << 30;
  std::uint64_t request_bytes_max = std::uint64_t{256} << 20;
  std::uint64_t commit_bytes_max = std::uint64_t{2} << 30;
  std::uint64_t metadata_bytes_max = std::uint64_t{256} << 20;
  std::size_t connections_max = 1024;
  std::uint64_t log_entries_max = 100'000;
  std::uint64_t log_bytes_max = std::uint64_t{256} << 20;
  std::uint64_t map_bytes = std::uint64_t{64} << 30;
  std::uint64_t headroom_bytes = std::uint64_t{1} << 20;
  std::chrono::milliseconds idle_timeout{60'000};
  std::chrono::milliseconds request_timeout{30'000};
  std::chrono::milliseconds write_timeout{30'000};
  std::chrono::milliseconds drain_timeout{5'000};
  std::chrono::milliseconds idempotency_lifetime{30 * 60'000};
  std::uint64_t idempotency_keys_max = 1'000'000;
  std::string namespace_separator = "%1F";  // url-encoded

  std::string fault_point;  // NAME[:N], in builds that have them
};

struct CommandLine {
  enum class Action : std::uint8_t {
    kRun,
    kRestore,
    kHelp,
    kVersion,
    kCheckConfig,
    kListFaultPoints
  };
  Action action = Action::kRun;
  Settings settings;         // complete when action is kRun or kCheckConfig
  std::string help;          // when action is kHelp
  RestoreOptions restore{};  // when action is kRestore
};

/// Looks a variable up; std::nullopt when it is not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
[[nodiscard]] Environment process_environment();

/// `arguments` without the program's name. kInvalidArgument: an unknown flag or key (with the
/// nearest right one), a bad value, a missing directory. kIo, kNotAllowed: the file.
[[nodiscard]] Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments,
                                                     const Environment& environment);

/// What a set of settings must have together: the directories, TLS and a token for addresses beyond
/// loopback, a token where one is required. kInvalidArgument, naming the settings.
[[nodiscard]] Status check_together(const Settings& settings);

/// Applies a TOML document to `settings`. `path` is for messages.
[[nodiscard]] Status apply_toml(Settings& settings, std::string_view text, const std::string& path);

}  // namespace iceblink::daemon
