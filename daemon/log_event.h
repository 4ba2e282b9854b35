// Log lines of one shape: what happened, then what it was about.
//
//   log_event(level::info, "table committed", {{"table", name}, {"generation", generation}});
//   -> table committed table=a.b.t generation=12
//
// Keys are lower case words joined by '_'. A value that is not plain is quoted, its quotes and
// backslashes escaped. Secrets are never values. Thread safety: from any thread.
#pragma once

#include <spdlog/common.h>

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace iceblink::daemon {

namespace level = spdlog::level;

struct LogField {
  LogField(std::string_view field_key, std::string_view text) : key(field_key), value(text) {}
  LogField(std::string_view field_key, const char* text) : key(field_key), value(text) {}
  LogField(std::string_view field_key, const std::string& text) : key(field_key), value(text) {}
  template <std::integral T>
  LogField(std::string_view field_key, T number) : key(field_key), value(std::to_string(number)) {}

  std::string_view key;
  std::string value;
};

/// Of a value that a client chose, what is worth showing: its beginning, cut between characters.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t bytes_max = 200);

/// The line without what the logger puts before it.
[[nodiscard]] std::string event_text(std::string_view event,
                                     std::initializer_list<LogField> fields);

/// Nothing is formatted when the level is off.
void log_event(level::level_enum at, std::string_view event,
               std::initializer_list<LogField> fields);

}  // namespace iceblink::daemon
