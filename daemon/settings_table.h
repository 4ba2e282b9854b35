// Every setting once: its name, what it takes, and how text becomes its value and its value text.
// Flags, the TOML file and reloading all read this table.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/settings.h"

namespace iceblink::daemon {

/// What a setting's name stands for in Settings.
struct SettingValue {
  /// The error's message continues the setting's name: "'x' is not a number ...". A list gets one
  /// more element.
  Status (*set)(Settings& settings, const std::string& text);
  /// As set() takes it; a list's elements one by one, of other types one text. A text that is not
  /// set is empty.
  std::vector<std::string> (*get)(const Settings& settings);
  void (*copy)(const Settings& from, Settings& to);
  /// Of a list: before its first element, so that a flag's list replaces the file's.
  void (*clear)(Settings& settings) = nullptr;
};

struct Setting {
  enum class Type : std::uint8_t { kText, kNumber, kFlag, kList };
  enum class Change : std::uint8_t { kNeedsRestart, kReloads };

  std::string_view name;  // without dashes
  std::string_view placeholder;
  std::string_view help;
  Type type;
  SettingValue value;
  Change change = Change::kNeedsRestart;
};

[[nodiscard]] std::span<const Setting> settings_table() noexcept;
/// nullptr when there is none of that name.
[[nodiscard]] const Setting* find_setting(std::string_view name) noexcept;
/// The name with the fewest edits to `name`.
[[nodiscard]] std::string_view nearest_setting(std::string_view name);

/// As a line of the TOML file: `http-threads = 2`.
[[nodiscard]] std::string toml_line(const Setting& setting, const Settings& settings);

}  // namespace iceblink::daemon
