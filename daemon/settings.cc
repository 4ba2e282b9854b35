#include "daemon/settings.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>

#include "daemon/http/listener.h"
#include "daemon/regular_file.h"
#include "daemon/settings_table.h"
#include "iceberg/location_map.h"
#include "shm/fault_point.h"

namespace iceblink::daemon {
namespace {

/// What CLI11 makes of the arguments, not yet understood.
struct RawFlags {
  std::map<std::string, std::vector<std::string>, std::less<>> values;  // by setting
  std::vector<std::string> configs;
  std::optional<std::string> restore;
  bool replaces_store = false;
  bool wants_help = false;
  bool wants_version = false;
  bool wants_check = false;
  bool wants_fault_points = false;
};

void declare_flags(CLI::App& app, RawFlags& raw) {
  app.set_help_flag();
  app.add_flag("-h,--help", raw.wants_help, "Print this and exit");
  app.add_flag("--version", raw.wants_version, "Print the version and exit");
  app.add_flag("--check-config", raw.wants_check, "Look at all settings, print them, and exit");
  app.add_option_function<std::vector<std::string>>(
         "--config", [&raw](const std::vector<std::string>& values) { raw.configs = values; },
         "Settings in a TOML file, whose keys are these names; repeatable, later files win; "
         "-FILE may be missing")
      ->type_name("FILE.toml")
      ->allow_extra_args(false);  // one each time
  app.add_option_function<std::string>(
         "--restore", [&raw](const std::string& value) { raw.restore = value; },
         "Put a backup into the data directory, and exit; no daemon may run there")
      ->type_name("FILE");
  app.add_flag("--replace-store", raw.replaces_store,
               "With --restore: keep a store that is there as DATA_DIR/lmdb.TIME, and go on");
  for (const Setting& setting : settings_table()) {
    const std::string name(setting.name);
    if (setting.type == Setting::Type::kFlag) {
      app.add_flag_callback(
          "--" + name, [&raw, name] { raw.values[name] = {"true"}; }, std::string(setting.help));
    } else if (setting.type == Setting::Type::kList) {
      app.add_option_function<std::vector<std::string>>(
             "--" + name,
             [&raw, name](const std::vector<std::string>& values) { raw.values[name] = values; },
             std::string(setting.help))
          ->type_name(std::string(setting.placeholder))
          ->allow_extra_args(false);  // one each time
    } else {
      app.add_option_function<std::string>(
             "--" + name, [&raw, name](const std::string& value) { raw.values[name] = {value}; },
             std::string(setting.help))
          ->type_name(std::string(setting.placeholder));
    }
  }
  if (shm::kHasFaultPoints) {
    app.add_flag("--list-fault-points", raw.wants_fault_points, "Print the fault points and exit");
    app.add_option_function<std::string>(
           "--fault-point",
           [&raw](const std::string& value) { raw.values["fault-point"] = {value}; },
           "Die at the Nth pass of a fault point")
        ->type_name("NAME[:N]");
  }
}

std::string first_of_list(const std::string& directories) {
  return directories.substr(0, directories.find(':'));
}

Result<std::string> read_text(const std::string& path) {
  constexpr std::size_t kBytesMax = std::size_t{1} << 20;
  return read_regular_file(path, "config file '" + path + "': ", kBytesMax);
}

Result<std::string> last_part(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  path = path.substr(path.rfind('/') + 1);
  if (!path.empty() && path != "." && path != "..") return path;
  return {ErrorKind::kInvalidArgument, "give --instance: the runtime directory has no name"};
}

Status complete(Settings& settings) {
  if (settings.runtime_dir.empty()) {
    return {ErrorKind::kInvalidArgument,
            "--runtime-dir is missing ($RUNTIME_DIRECTORY is not set)"};
  }
  if (settings.data_dir.empty()) {
    return {ErrorKind::kInvalidArgument, "--data-dir is missing ($STATE_DIRECTORY is not set)"};
  }
  ICEBLINK_RETURN_IF_ERROR(check_together(settings));
  if (auto map = iceberg::LocationMap::of(settings.location_prefixes); !map) {
    return {ErrorKind::kInvalidArgument, "--location-prefix: " + map.error().message()};
  }
  if (settings.instance.empty()) {
    ICEBLINK_ASSIGN_OR_RETURN(settings.instance, last_part(settings.runtime_dir));
  }
  return Ok{};
}

/// "a, b and c"
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

Result<Settings> settings_of(const RawFlags& raw, const Environment& environment) {
  Settings settings;
  settings.runtime_dir = first_of_list(environment("RUNTIME_DIRECTORY").value_or(""));
  settings.data_dir = first_of_list(environment("STATE_DIRECTORY").value_or(""));
  for (const std::string& config : raw.configs) {
    const bool may_be_missing = config.starts_with('-');
    const std::string path = config.substr(may_be_missing ? 1 : 0);
    if (may_be_missing && ::access(path.c_str(), F_OK) != 0 && errno == ENOENT) continue;
    ICEBLINK_ASSIGN_OR_RETURN(const std::string text, read_text(path));
    ICEBLINK_RETURN_IF_ERROR(apply_toml(settings, text, path));
  }
  for (const auto& [name, values] : raw.values) {
    if (name == "fault-point") {
      settings.fault_point = values.front();
      continue;
    }
    const Setting* const setting = find_setting(name);
    if (setting->value.clear != nullptr) setting->value.clear(settings);
    for (const std::string& value : values) {
      if (auto status = setting->value.set(settings, value); !status) {
        return {ErrorKind::kInvalidArgument, "--" + name + " " + status.error().message()};
      }
    }
  }
  return settings;
}

Status complete_restore(CommandLine& line, const RawFlags& raw) {
  if (!raw.restore) {
    return {ErrorKind::kInvalidArgument, "--replace-store goes with --restore FILE"};
  }
  if (line.settings.data_dir.empty()) {
    return {ErrorKind::kInvalidArgument, "--data-dir is missing ($STATE_DIRECTORY is not set)"};
  }
  using enum RestoreOptions::IfThere;
  line.action = CommandLine::Action::kRestore;
  line.restore = {*raw.restore, line.settings.data_dir, raw.replaces_store ? kReplace : kFail};
  return Ok{};
}

// CLI11 says which argument it does not know; we say which was meant.
Error unknown_argument(const std::vector<std::string>& extras) {
  std::string name = extras.front();
  std::string message = "unknown argument '" + name + "'";
  if (name.starts_with("--")) {
    message += "; did you mean --" + std::string(nearest_setting(name.substr(2)));
    message += "?";
  }
  return {ErrorKind::kInvalidArgument, message};
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return std::string(value);
  };
}

Status check_together(const Settings& settings) {
  if (settings.tls_certificate_file.empty() != settings.tls_key_file.empty()) {
    return {ErrorKind::kInvalidArgument, settings.tls_key_file.empty()
                                             ? "tls-certificate-file needs tls-key-file"
                                             : "tls-key-file needs tls-certificate-file"};
  }
  if (settings.listen.empty()) return Ok{};
  ICEBLINK_ASSIGN_OR_RETURN(const auto reach, http::tcp_reach_of(settings.listen));
  if (reach == http::TcpReach::kBeyondLoopback) {
    std::vector<std::string> missing;
    if (settings.tls_certificate_file.empty()) missing.emplace_back("tls-certificate-file");
    if (settings.tls_key_file.empty()) missing.emplace_back("tls-key-file");
    if (settings.token_file.empty()) missing.emplace_back("token-file");
    if (!missing.empty()) {
      return {ErrorKind::kInvalidArgument, "listen address '" + settings.listen +
                                               "' is refused: beyond loopback it needs " +
                                               joined(missing)};
    }
  }
  if (settings.require_token && settings.token_file.empty()) {
    return {ErrorKind::kInvalidArgument,
            "listen address '" + settings.listen +
                "' is refused: require-token is set, and there is no token-file"};
  }
  return Ok{};
}

Result<CommandLine> parse_command_line(const std::vector<std::string>& arguments,
                                       const Environment& environment) {
  CLI::App app("iceblinkd: serves one Iceberg catalog to every process of this host", "iceblinkd");
  app.allow_extras();
  RawFlags raw;
  declare_flags(app, raw);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::ParseError& error) {
    return {ErrorKind::kInvalidArgument, error.what()};
  }
  CommandLine line;
  if (raw.wants_help) {
    line.action = CommandLine::Action::kHelp;
    line.help = app.help();
    return line;
  }
  if (const auto extras = app.remaining(); !extras.empty()) return unknown_argument(extras);
  if (raw.wants_version) {
    line.action = CommandLine::Action::kVersion;
    return line;
  }
  if (raw.wants_fault_points) {
    line.action = CommandLine::Action::kListFaultPoints;
    return line;
  }
  if (raw.wants_check) line.action = CommandLine::Action::kCheckConfig;
  ICEBLINK_ASSIGN_OR_RETURN(line.settings, settings_of(raw, environment));
  if (raw.restore || raw.replaces_store) {
    ICEBLINK_RETURN_IF_ERROR(complete_restore(line, raw));
  } else {
    ICEBLINK_RETURN_IF_ERROR(complete(line.settings));
  }
  return line;
}

}  // namespace iceblink::daemon
