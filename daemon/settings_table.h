// Every setting once: its name, what it takes, and how text becomes its value. Flags and the
// TOML file are both read by this table.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "daemon/settings.h"

namespace iceblink::daemon {

struct Setting {
  enum class Type : std::uint8_t { kText, kNumber, kFlag, kList };

  std::string_view name;  // without dashes
  std::string_view placeholder;
  std::string_view help;
  Type type;
  /// The error's message continues the setting's name: "'x' is not a number ...". A list gets one
  /// more element.
  Status (*set)(Settings& settings, const std::string& text);
  /// Of a list: before its first element, so that a flag's list replaces the file's.
  void (*clear)(Settings& settings) = nullptr;
};

[[nodiscard]] std::span<const Setting> settings_table() noexcept;
/// nullptr when there is none of that name.
[[nodiscard]] const Setting* find_setting(std::string_view name) noexcept;
/// The name with the fewest edits to `name`.
[[nodiscard]] std::string_view nearest_setting(std::string_view name);

}  // namespace iceblink::daemon
