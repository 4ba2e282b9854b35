// The TOML half of the settings, apart because its parser is slow to compile.
#include <toml++/toml.h>

#include <algorithm>
#include <set>

#include "daemon/settings_table.h"

namespace iceblink::daemon {
namespace {

Error bad_key(const std::string& path, const toml::source_position& at, std::string_view key,
              const std::string& why) {
  return {ErrorKind::kInvalidArgument,
          path + ":" + std::to_string(at.line) + ": '" + std::string(key) + "' " + why};
}

// The value as the flag would have it; kInvalidArgument when it is of another type. A list's
// elements are texts.
Result<std::string> text_of(const toml::node& node, Setting::Type type) {
  if ((type == Setting::Type::kText || type == Setting::Type::kList) && node.is_string()) {
    const std::string& text = node.as_string()->get();
    // What is handed to the system would end there.
    if (text.find('\0') == std::string::npos) return text;
    return {ErrorKind::kInvalidArgument, "must not have a NUL character in it"};
  }
  if (type == Setting::Type::kNumber && node.is_integer()) {
    return std::to_string(node.as_integer()->get());
  }
  if (type == Setting::Type::kFlag && node.is_boolean()) {
    return std::string(node.as_boolean()->get() ? "true" : "false");
  }
  constexpr const char* kTypes[] = {"a string", "an integer", "true or false", "a list of strings"};
  return {ErrorKind::kInvalidArgument,
          std::string("must be ") + kTypes[static_cast<std::size_t>(type)]};
}

Status set_list(Settings& settings, const Setting& setting, const toml::node& node) {
  const toml::array* const list = node.as_array();
  if (list == nullptr) return {ErrorKind::kInvalidArgument, "must be a list of strings"};
  setting.value.clear(settings);
  for (const auto& element : *list) {
    ICEBLINK_ASSIGN_OR_RETURN(const std::string text, text_of(element, setting.type));
    ICEBLINK_RETURN_IF_ERROR(setting.value.set(settings, text));
  }
  return Ok{};
}

Status set(Settings& settings, const Setting& setting, const toml::node& node) {
  if (setting.type == Setting::Type::kList) return set_list(settings, setting, node);
  ICEBLINK_ASSIGN_OR_RETURN(const std::string text, text_of(node, setting.type));
  return setting.value.set(settings, text);
}

}  // namespace

Status apply_toml(Settings& settings, std::string_view text, const std::string& path) {
  toml::table table;
  try {
    table = toml::parse(text, path);
  } catch (const toml::parse_error& error) {
    return {ErrorKind::kInvalidArgument, path + ":" + std::to_string(error.source().begin.line) +
                                             ": " + std::string(error.description())};
  }
  std::set<std::string_view> given;
  for (const auto& [key, node] : table) {
    std::string name(key.str());
    std::ranges::replace(name, '_', '-');
    const Setting* const setting = find_setting(name);
    if (setting == nullptr) {
      return bad_key(path, key.source().begin, key.str(),
                     "is unknown; did you mean '" + std::string(nearest_setting(name)) + "'?");
    }
    if (!given.insert(setting->name).second) {
      return bad_key(path, key.source().begin, key.str(), "is given twice, with '-' and with '_'");
    }
    if (auto status = set(settings, *setting, node); !status) {
      return bad_key(path, key.source().begin, key.str(), status.error().message());
    }
  }
  return Ok{};
}

}  // namespace iceblink::daemon
