// Log lines of one shape: what happened, then what it was about.
//
//   log_event(level::info, "table committed", {{"table", name}, {"generation", generation}});
//   -> table committed table=a.b.t generation=12
//
// Keys are lower case words joined by '_'. A value that is not plain is quoted, its quotes and
// backslashes escaped. Secrets are never values. Thread safety: from any thread.
#pragma once

#include <spdlog/common.h>

#include <array>
#include <charconv>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace iceblink::daemon {

namespace level = spdlog::level;

/// Views of what it is made of, for one call of log_event: making one takes no memory.
class LogField {
 public:
  LogField(std::string_view key, std::string_view text) noexcept : key_(key), text_(text) {}
  LogField(std::string_view key, const char* text) noexcept : key_(key), text_(text) {}
  LogField(std::string_view key, const std::string& text) noexcept : key_(key), text_(text) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) LogField(std::string_view key, T number)
  noexcept : key_(key) {
    text_ = {digits_.data(),
             std::to_chars(digits_.data(), digits_.data() + digits_.size(), number).ptr};
  }
  LogField(const LogField&) = delete;
  LogField& operator=(const LogField&) = delete;

  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }

 private:
  std::string_view key_;
  std::string_view text_;  // of digits_, where it is a number
  std::array<char, 24> digits_{};
};

/// Of a value that a client chose, what is worth showing: its beginning, cut between characters.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t bytes_max = 200);

/// The line without what the logger puts before it.
[[nodiscard]] std::string event_text(std::string_view event,
                                     std::initializer_list<LogField> fields);

/// Nothing is formatted when the level is off. Without memory for it the line is lost, and no more.
void log_event(level::level_enum at, std::string_view event,
               std::initializer_list<LogField> fields) noexcept;

}  // namespace iceblink::daemon
