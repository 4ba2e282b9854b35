#include "daemon/settings_table.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

#include "daemon/setting_values.h"
#include "iceberg/location_map.h"
#include "iceberg/utf8.h"

namespace iceblink::daemon {
namespace {

constexpr std::string_view kLogLevels[] = {"trace", "debug", "info", "warning", "error", "off"};

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
std::vector<std::string> location_prefix_texts(const Settings& settings) {
  std::vector<std::string> texts;
  for (const LocationPrefix& prefix : settings.location_prefixes) {
    texts.push_back(prefix.from + "=" + prefix.to);
  }
  return texts;
}
constexpr SettingValue kLocationPrefixes{add_location_prefix, location_prefix_texts,
                                         copy_member<&Settings::location_prefixes>,
                                         clear_list<&Settings::location_prefixes>};

template <auto Member>
Status add_peer(Settings& settings, const std::string& text) {
  if (text.empty() || text == "@") {
    return {ErrorKind::kInvalidArgument, "'" + text + "' is no user and no @group"};
  }
  PeerList& list = settings.*Member;
  list.names.push_back(text);
  list.is_configured = true;
  return Ok{};
}
template <auto Member>
std::vector<std::string> peer_names(const Settings& settings) {
  return (settings.*Member).names;
}
template <auto Member>
void clear_peers(Settings& settings) {
  settings.*Member = {.names = {}, .is_configured = true};
}
template <auto Member>
constexpr SettingValue kPeersOf{add_peer<Member>, peer_names<Member>, copy_member<Member>,
                                clear_peers<Member>};

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
using enum Setting::Change;
constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kTiB = std::uint64_t{1} << 40;
constexpr std::uint64_t kDayMs = 24ull * 3600 * 1000;

constexpr Setting kSettings[] = {
    {"runtime-dir", "DIR", "Where the segment and the socket are; best on a tmpfs", kText,
     kTextOf<&Settings::runtime_dir>},
    {"data-dir", "DIR", "Where the durable catalog is", kText, kTextOf<&Settings::data_dir>},
    {"warehouse", "URI", "Where tables go that name no location (default: DATA_DIR/warehouse)",
     kText, kTextOf<&Settings::warehouse>},
    {"warehouse-group", "GROUP",
     "Who shares the directories of the warehouse (default: iceblink-writers, if there is one)",
     kText, kTextOf<&Settings::warehouse_group>},
    {"write-roots", "URI", "Write and purge files below this only; repeatable (default: warehouse)",
     kList, kListOf<&Settings::write_roots>},
    {"read-roots", "URI",
     "Read metadata below this and the write roots only; repeatable (default: anywhere)", kList,
     kListOf<&Settings::read_roots>},
    {"namespace-separator", "ESCAPE", "Between a namespace's levels in URLs, beside %1F", kText,
     kTextOf<&Settings::namespace_separator, set_namespace_separator>},
    {"readers", "WHO",
     "Users and @groups that may read over the socket; repeatable (default: @iceblink-readers)",
     kList, kPeersOf<&Settings::readers>, kReloads},
    {"writers", "WHO",
     "Users and @groups that may read and write; repeatable (default: @iceblink-writers)", kList,
     kPeersOf<&Settings::writers>, kReloads},
    {"listen", "HOST:PORT", "Serve TCP too; beyond loopback with TLS and a token only", kText,
     kTextOf<&Settings::listen>},
    {"token-file", "FILE", "Who connects over TCP must bring the token in this file", kText,
     kTextOf<&Settings::token_file>, kReloads},
    {"require-token", "", "Serve no TCP without a token, not even on loopback", kFlag,
     kFlagOf<&Settings::require_token>, kReloads},
    {"tls-certificate-file", "FILE", "TLS on TCP: the certificate and its chain, PEM", kText,
     kTextOf<&Settings::tls_certificate_file>, kReloads},
    {"tls-key-file", "FILE", "The certificate's private key, PEM", kText,
     kTextOf<&Settings::tls_key_file>, kReloads},
    {"log-level", "LEVEL", "trace, debug, info, warning, error or off", kText,
     kTextOf<&Settings::log_level, set_log_level>, kReloads},
    {"instance", "NAME", "This catalog's name (default: the runtime directory's)", kText,
     kTextOf<&Settings::instance>},
    {"location-prefix", "FROM=TO", "Read locations below FROM below TO instead; repeatable", kList,
     kLocationPrefixes},
    {"replace-control", "", "Replace a control page that cannot be adopted", kFlag,
     kFlagOf<&Settings::replace_control>},
    {"http-threads", "N", "Threads that serve requests", kNumber,
     kNumberOf<&Settings::http_threads, 1, 256>},
    {"file-threads", "N", "Threads that read metadata files", kNumber,
     kNumberOf<&Settings::file_threads, 1, 256>},
    {"commit-threads", "N", "Threads that write metadata files", kNumber,
     kNumberOf<&Settings::commit_threads, 1, 1024>},
    {"idempotency-lifetime-ms", "MS", "How long the answer to an Idempotency-Key is kept", kNumber,
     kNumberOf<&Settings::idempotency_lifetime, 1000, 30 * kDayMs>},
    {"idempotency-keys-max", "N", "Keys whose answers are kept; above, new ones are refused",
     kNumber, kNumberOf<&Settings::idempotency_keys_max, 1, 1'000'000'000>},
    {"commit-bytes-max", "BYTES", "Metadata in hand for commits, above which others are refused",
     kNumber, kNumberOf<&Settings::commit_bytes_max, kMiB, kTiB>},
    {"body-bytes-max", "BYTES", "Largest request body", kNumber,
     kNumberOf<&Settings::body_bytes_max, 1024, 1024 * kMiB>, kReloads},
    {"answer-bytes-max", "BYTES", "Answers being sent, above which no more large ones are made",
     kNumber, kNumberOf<&Settings::answer_bytes_max, 1024, kTiB>},
    {"request-bytes-max", "BYTES", "Large request bodies in hand, above which others are refused",
     kNumber, kNumberOf<&Settings::request_bytes_max, 1024, kTiB>},
    {"metadata-bytes-max", "BYTES", "Largest metadata file, as stored and inflated", kNumber,
     kNumberOf<&Settings::metadata_bytes_max, 1024, 4096 * kMiB>},
    {"connections-max", "N", "Connections at a time", kNumber,
     kNumberOf<&Settings::connections_max, 1, 1'000'000>, kReloads},
    {"log-entries-max", "N", "Generations kept in the change log", kNumber,
     kNumberOf<&Settings::log_entries_max, 1, 1'000'000'000>},
    {"log-bytes-max", "BYTES", "Size of the change log", kNumber,
     kNumberOf<&Settings::log_bytes_max, kMiB, kTiB>},
    {"map-bytes", "BYTES", "Size of the store's map at first; it grows", kNumber,
     kNumberOf<&Settings::map_bytes, kMiB, 64 * kTiB>},
    {"headroom-bytes", "BYTES", "Least free room of a new arena", kNumber,
     kNumberOf<&Settings::headroom_bytes, 4096, 16 * 1024 * kMiB>},
    {"idle-timeout-ms", "MS", "A connection without a request is closed after this", kNumber,
     kNumberOf<&Settings::idle_timeout, 1, kDayMs>, kReloads},
    {"request-timeout-ms", "MS", "A request must have arrived whole after this", kNumber,
     kNumberOf<&Settings::request_timeout, 1, kDayMs>, kReloads},
    {"write-timeout-ms", "MS", "An answer must have been taken after this", kNumber,
     kNumberOf<&Settings::write_timeout, 1, kDayMs>, kReloads},
    {"drain-timeout-ms", "MS", "What a stop gives to requests in hand", kNumber,
     kNumberOf<&Settings::drain_timeout, 1, kDayMs>},
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

/// A basic string of TOML.
std::string toml_string(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (is_control(c)) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace

Result<std::uint64_t> number_of(const std::string& text, std::uint64_t min, std::uint64_t max) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= min && value <= max) {
    return value;
  }
  return {ErrorKind::kInvalidArgument, "'" + text + "' is not a number from " +
                                           std::to_string(min) + " to " + std::to_string(max)};
}

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

std::string toml_line(const Setting& setting, const Settings& settings) {
  const auto texts = setting.value.get(settings);
  std::string line = std::string(setting.name) + " = ";
  if (setting.type == Setting::Type::kText) return line + toml_string(texts.front());
  if (setting.type != Setting::Type::kList) return line + texts.front();
  line += '[';
  for (const std::string& text : texts) {
    if (line.back() != '[') line += ", ";
    line += toml_string(text);
  }
  return line + ']';
}

}  // namespace iceblink::daemon
