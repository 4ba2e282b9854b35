#include "daemon/log_event.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

namespace iceblink::daemon {
namespace {

bool is_plain(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
}

void add_value(std::string& line, std::string_view text) {
  if (is_plain(text)) {
    line += text;
    return;
  }
  line += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  line += '"';
}

}  // namespace

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t size = bytes_max;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) --size;
  return std::string(text.substr(0, size)) + "…";
}

std::string event_text(std::string_view event, std::initializer_list<LogField> fields) {
  std::string line(event);
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key();
    line += '=';
    add_value(line, field.text());
  }
  return line;
}

void log_event(level::level_enum at, std::string_view event,
               std::initializer_list<LogField> fields) noexcept {
  try {
    if (spdlog::should_log(at)) spdlog::log(at, event_text(event, fields));
  } catch (const std::exception&) {
    // Nothing that is done may depend on its line.
  }
}

}  // namespace iceblink::daemon
