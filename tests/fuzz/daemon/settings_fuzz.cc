// Settings: a TOML file, flags, and a file with a token, all of any bytes.
//
// The input's first byte says whether a daemon is started with what was read; then come the TOML
// file, the flags, one a line, and the token, each after a line "---". "@token@" stands for the
// path of the token's file.
#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/instance.h"
#include "daemon/settings.h"
#include "daemon/settings_table.h"
#include "iceberg/utf8.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kBytes;

namespace {

using daemon::CommandLine;
using daemon::Instance;
using daemon::Settings;

/// Begins each token that is long enough to be one. A part of the input alone would sooner or later
/// be a part of a message.
constexpr std::string_view kSecret = "no-message-holds-this-";
constexpr std::size_t kSecretBytesMin = 8;
constexpr std::string_view kToken = "@token@";

struct Input {
  bool starts = false;
  std::string toml;
  std::vector<std::string> flags;
  std::string token;
};

std::string without_nul(std::string text) {
  std::erase(text, '\0');
  return text;
}

/// What names the token's file does, and no other file of this host is read.
std::string confined(std::string text, const std::string& token_path) {
  for (auto at = text.find(kToken); at != std::string::npos; at = text.find(kToken)) {
    text.replace(at, kToken.size(), token_path);
  }
  return text;
}

Input input_of(std::string_view bytes, const std::string& token_path) {
  Input input;
  if (bytes.empty()) return input;
  input.starts = bytes.front() % 2 != 0;
  bytes.remove_prefix(1);
  constexpr std::string_view kBreak = "---\n";
  const auto first = std::min(bytes.find(kBreak), bytes.size());
  input.toml = confined(std::string(bytes.substr(0, first)), token_path);
  bytes.remove_prefix(std::min(first + kBreak.size(), bytes.size()));
  const auto second = std::min(bytes.find(kBreak), bytes.size());
  std::string_view flags = bytes.substr(0, second);
  bytes.remove_prefix(std::min(second + kBreak.size(), bytes.size()));
  input.token = std::string(bytes);
  if (bytes.size() >= kSecretBytesMin) input.token.insert(0, kSecret);
  while (!flags.empty()) {
    const auto end = std::min(flags.find('\n'), flags.size());
    std::string flag = without_nul(std::string(flags.substr(0, end)));
    flags.remove_prefix(std::min(end + 1, flags.size()));
    // Files and actions of their own are not what is asked here.
    if (flag.starts_with("--config") || flag.starts_with("--restore")) continue;
    input.flags.push_back(confined(std::move(flag), token_path));
  }
  return input;
}

/// Names each value of each setting.
std::vector<std::vector<std::string>> values_of(const Settings& settings) {
  std::vector<std::vector<std::string>> values;
  for (const auto& setting : daemon::settings_table()) {
    values.push_back(setting.value.get(settings));
  }
  return values;
}

void check_error(const Error& error, const Input& input) {
  const std::string message = error.message();
  fuzz_check(!message.empty(), "an error says something");
  fuzz_check(is_utf8(on_one_line(message)), "an error can be shown on a line", message);
  const bool is_asked = input.toml.find(kSecret) != std::string::npos ||
                        std::ranges::any_of(input.flags, [](const std::string& flag) {
                          return flag.find(kSecret) != std::string::npos;
                        });
  fuzz_check(is_asked || message.find(kSecret) == std::string::npos, "no error holds a token",
             message);
}

void check_toml(const Input& input) {
  Settings settings;
  const Status applied = daemon::apply_toml(settings, input.toml, "f.toml");
  if (!applied) {
    const Error error = applied.error();
    check_error(error, input);
    fuzz_check(error.kind() == ErrorKind::kInvalidArgument,
               "an error is of the kind that is promised", error.message());
    fuzz_check(error.message().starts_with("f.toml:"), "an error names the file and the line",
               error.message());
    const auto hint = error.message().find("is unknown; did you mean '");
    if (hint != std::string::npos) {
      const auto from = error.message().find('\'', hint) + 1;
      const auto name = error.message().substr(from, error.message().rfind('\'') - from);
      fuzz_check(daemon::find_setting(name) != nullptr, "what is meant is there", name);
    }
    return;
  }
  std::string printed;
  const Settings defaults;
  for (const auto& setting : daemon::settings_table()) {
    if (setting.value.get(settings) == setting.value.get(defaults)) continue;
    printed += daemon::toml_line(setting, settings) + "\n";
  }
  Settings again;
  const Status read = daemon::apply_toml(again, printed, "printed.toml");
  fuzz_check(read.ok(), "what is printed can be read", printed);
  fuzz_check(values_of(again) == values_of(settings), "and is the same", printed);
}

/// Without what would reach beyond this process's own directory.
Settings in_scratch(Settings settings, const std::string& directory) {
  settings.runtime_dir = directory + "/main";
  settings.data_dir = directory + "/data";
  settings.warehouse.clear();
  settings.write_roots.clear();
  settings.fault_point.clear();
  if (!settings.listen.empty()) settings.listen = "127.0.0.1:0";
  settings.http_threads = std::min<std::size_t>(settings.http_threads, 2);
  settings.file_threads = std::min<std::size_t>(settings.file_threads, 2);
  settings.commit_threads = std::min<std::size_t>(settings.commit_threads, 2);
  settings.map_bytes = std::min<std::uint64_t>(settings.map_bytes, 16 << 20);
  settings.headroom_bytes = std::min<std::uint64_t>(settings.headroom_bytes, 1 << 20);
  return settings;
}

void check_start(const Settings& settings, const Input& input) {
  const auto problems = Instance::problems_of(settings);
  for (const auto& problem : problems) check_error(problem, input);
  const auto started = Instance::start(settings);
  if (!started) check_error(started.error(), input);
  std::string why = started.ok() ? "" : started.error().message();
  for (const auto& problem : problems) why += "; " + problem.message();
  fuzz_check(started.ok() == problems.empty(), "a daemon starts with what --check-config accepts",
             why);
}

void check_flags(const Input& input, const std::string& directory) {
  const std::string config = directory + "/f.toml";
  std::ofstream(config, std::ios::binary | std::ios::trunc) << input.toml;
  const auto no_environment = [](const char*) -> std::optional<std::string> {
    return std::nullopt;
  };
  std::vector<std::string> arguments = {"--config", config};
  arguments.insert(arguments.end(), input.flags.begin(), input.flags.end());
  const auto line = daemon::parse_command_line(arguments, no_environment);
  arguments.emplace_back("--check-config");
  const auto checked = daemon::parse_command_line(arguments, no_environment);
  if (!line) {
    check_error(line.error(), input);
    fuzz_check(line.error().kind() == ErrorKind::kInvalidArgument,
               "an error is of the kind that is promised", line.error().message());
    return;
  }
  if (line->action != CommandLine::Action::kRun) return;
  // A flag that waits for its value takes the last one for it.
  if (!checked || checked->action != CommandLine::Action::kCheckConfig) return;
  fuzz_check(values_of(checked->settings) == values_of(line->settings),
             "--check-config sees the same settings");
  fuzz_check(daemon::check_together(line->settings).ok(), "what is accepted goes together");
  if (input.starts) check_start(in_scratch(line->settings, directory), input);
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iceblink::test;
  if (size > 4096) return 0;
  static const ScratchDirectory scratch;
  spdlog::set_level(spdlog::level::off);
  scratch.clear();
  const std::string token_path = scratch.path() + "/token";
  const Input input = input_of({reinterpret_cast<const char*>(data), size}, token_path);
  std::ofstream(token_path, std::ios::binary) << input.token;
  ::chmod(token_path.c_str(), 0600);
  check_toml(input);
  check_flags(input, scratch.path());
  return 0;
}
