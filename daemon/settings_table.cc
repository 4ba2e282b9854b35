#include "daemon/settings_table.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "iceberg/location_map.h"

namespace iceblink::daemon {
namespace {

constexpr std::string_view kLogLevels[] = {"trace", "debug", "info", "warning", "error", "off"};

template <auto Member>
Status set_text(Settings& settings, const std::string& text) {
  settings.*Member = text;
  return Ok{};
}

Result<std::uint64_t> number_of(const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= min && value <= max) {
    return value;
  }
  return {ErrorKind::kInvalidArgument, "'" + text + "' is not a number from " +
                                           std::to_string(min) + " to " + std::to_string(max)};
}

template <auto Member, std::uint64_t Min, std::uint64_t Max>
Status set_number(Settings& settings, const std::string& text) {
  ICEBLINK_ASSIGN_OR_RETURN(const std::uint64_t value, number_of(text, Min, Max));
  auto& member = settings.*Member;
  member = std::remove_reference_t<decltype(member)>(value);
  return Ok{};
}

template <auto Member>
Status set_flag(Settings& settings, const std::string& text) {
  if (text != "true" && text != "false") {
    return {ErrorKind::kInvalidArgument, "'" + text + "' is not true or false"};
  }
  settings.*Member = text == "true";
  return Ok{};
}

Status set_log_level(Settings& settings, const std::string& text) {
  if (std::find(std::begin(kLogLevels), std::end(kLogLevels), text) == std::end(kLogLevels)) {
    return {ErrorKind::kInvalidArgument,
            "'" + text + "' is not trace, debug, info, warning, error or off"};
  }
  settings.log_level = text;
  return Ok{};
}

Status add_location_prefix(Settings& settings, const std::string& text) {
  ICEBLINK_ASSIGN_OR_RETURN(auto prefix, iceberg::parse_location_prefix(text));
  settings.location_prefixes.push_back(std::move(prefix));
  return Ok{};
}
void clear_location_prefixes(Settings& settings) {
  settings.location_prefixes.clear();
}

Status add_write_root(Settings& settings, const std::string& text) {
  if (text.empty()) return {ErrorKind::kInvalidArgument, "a write root is a location"};
  settings.write_roots.push_back(text);
  return Ok{};
}
void clear_write_roots(Settings& settings) {
  settings.write_roots.clear();
}

// One byte of ASCII, percent-encoded: names in URLs are split at its encoded form.
Status set_namespace_separator(Settings& settings, const std::string& text) {
  const bool is_escape = text.size() == 3 && text[0] == '%' &&
                         text.find_first_not_of("0123456789ABCDEF", 1) == std::string::npos &&
                         text[1] < '8' && text != "%00" && text != "%2F";
  if (!is_escape) {
    return {ErrorKind::kInvalidArgument,
            "'" + text + "' is not a percent-encoded byte such as %1F or %2E"};
  }
  settings.namespace_separator = text;
  return Ok{};
}

using enum Setting::Type;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kTiB = std::uint64_t{1} << 40;
constexpr std::uint64_t kDayMs = 24ull * 3600 * 1000;

constexpr Setting kSettings[] = {
    {"runtime-dir", "DIR", "Where the segment and the socket are; best on a tmpfs", kText,
     set_text<&Settings::runtime_dir>},
    {"data-dir", "DIR", "Where the durable catalog is", kText, set_text<&Settings::data_dir>},
    {"warehouse", "URI", "Where tables go that name no location (default: DATA_DIR/warehouse)",
     kText, set_text<&Settings::warehouse>},
    {"warehouse-group", "GROUP",
     "Who shares the directories of the warehouse (default: iceblink-writers, if there is one)",
     kText, set_text<&Settings::warehouse_group>},
    {"write-root", "URI", "Write and purge files below this only; repeatable (default: warehouse)",
     kList, add_write_root, clear_write_roots},
    {"namespace-separator", "ESCAPE", "Between a namespace's levels in URLs, beside %1F", kText,
     set_namespace_separator},
    {"listen", "HOST:PORT", "Serve TCP too, on a loopback address", kText,
     set_text<&Settings::listen>},
    {"log-level", "LEVEL", "trace, debug, info, warning, error or off", kText, set_log_level},
    {"instance", "NAME", "This catalog's name (default: the runtime directory's)", kText,
     set_text<&Settings::instance>},
    {"location-prefix", "FROM=TO", "Read locations below FROM below TO instead; repeatable", kList,
     add_location_prefix, clear_location_prefixes},
    {"replace-control", "", "Replace a control page that cannot be adopted", kFlag,
     set_flag<&Settings::replace_control>},
    {"http-threads", "N", "Threads that serve requests", kNumber,
     set_number<&Settings::http_threads, 1, 256>},
    {"file-threads", "N", "Threads that read metadata files", kNumber,
     set_number<&Settings::file_threads, 1, 256>},
    {"commit-threads", "N", "Threads that write metadata files", kNumber,
     set_number<&Settings::commit_threads, 1, 1024>},
    {"idempotency-lifetime-ms", "MS", "How long the answer to an Idempotency-Key is kept", kNumber,
     set_number<&Settings::idempotency_lifetime, 1000, 30 * kDayMs>},
    {"idempotency-keys-max", "N", "Keys whose answers are kept; above, new ones are refused",
     kNumber, set_number<&Settings::idempotency_keys_max, 1, 1'000'000'000>},
    {"commit-bytes-max", "BYTES", "Metadata in hand for commits, above which others are refused",
     kNumber, set_number<&Settings::commit_bytes_max, kMiB, kTiB>},
    {"body-bytes-max", "BYTES", "Largest request body", kNumber,
     set_number<&Settings::body_bytes_max, 1024, 1024 * kMiB>},
    {"answer-bytes-max", "BYTES", "Answers being sent, above which no more large ones are made",
     kNumber, set_number<&Settings::answer_bytes_max, 1024, kTiB>},
    {"request-bytes-max", "BYTES", "Large request bodies in hand, above which others are refused",
     kNumber, set_number<&Settings::request_bytes_max, 1024, kTiB>},
    {"metadata-bytes-max", "BYTES", "Largest metadata file, as stored and inflated", kNumber,
     set_number<&Settings::metadata_bytes_max, 1024, 4096 * kMiB>},
    {"connections-max", "N", "Connections at a time", kNumber,
     set_number<&Settings::connections_max, 1, 1'000'000>},
    {"log-entries-max", "N", "Generations kept in the change log", kNumber,
     set_number<&Settings::log_entries_max, 1, 1'000'000'000>},
    {"log-bytes-max", "BYTES", "Size of the change log", kNumber,
     set_number<&Settings::log_bytes_max, kMiB, kTiB>},
    {"map-bytes", "BYTES", "Size of the store's map at first; it grows", kNumber,
     set_number<&Settings::map_bytes, kMiB, 64 * kTiB>},
    {"headroom-bytes", "BYTES", "Least free room of a new arena", kNumber,
     set_number<&Settings::headroom_bytes, 4096, 16 * 1024 * kMiB>},
    {"idle-timeout-ms", "MS", "A connection without a request is closed after this", kNumber,
     set_number<&Settings::idle_timeout, 1, kDayMs>},
    {"request-timeout-ms", "MS", "A request must have arrived whole after this", kNumber,
     set_number<&Settings::request_timeout, 1, kDayMs>},
    {"write-timeout-ms", "MS", "An answer must have been taken after this", kNumber,
     set_number<&Settings::write_timeout, 1, kDayMs>},
    {"drain-timeout-ms", "MS", "What a stop gives to requests in hand", kNumber,
     set_number<&Settings::drain_timeout, 1, kDayMs>},
};

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::span<const Setting> settings_table() noexcept {
  return kSettings;
}

const Setting* find_setting(std::string_view name) noexcept {
  const auto* const found = std::find_if(std::begin(kSettings), std::end(kSettings),
                                         [&](const Setting& s) { return s.name == name; });
  return found == std::end(kSettings) ? nullptr : found;
}

std::string_view nearest_setting(std::string_view name) {
  name = name.substr(0, name.find('=')).substr(0, 100);
  const auto* const nearest = std::min_element(
      std::begin(kSettings), std::end(kSettings), [&](const auto& a, const auto& b) {
        return edit_distance(name, a.name) < edit_distance(name, b.name);
      });
  return nearest->name;
}

}  // namespace iceblink::daemon
