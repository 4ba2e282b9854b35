#include "client/cli/import/newest_metadata.h"

#include <fcntl.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <tuple>
#include <vector>

#include "client/cli/metadata_file.h"
#include "iceberg/metadata_parser.h"
#include "shm/file_mapping.h"

namespace iceblink::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHintName = "version-hint.text";
constexpr std::size_t kHintBytesMax = 256;

std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
  std::uint64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc{} || parsed.ptr == text.data()) return std::nullopt;
  return number;
}

struct Candidate {
  std::string name;
  std::optional<std::uint64_t> version;
};

/// What the file says of its own age, and what the file system does.
std::pair<std::int64_t, std::int64_t> age_of(const std::string& path) {
  std::int64_t updated_ms = -1;
  auto bytes = read_metadata_file(path, MetadataLimits{});
  if (bytes) {
    const auto document = iceberg::parse_metadata(std::move(*bytes), MetadataLimits{});
    if (document && (*document)->kind() == MetadataDocument::Kind::kTable) {
      updated_ms = static_cast<const TableMetadata&>(**document).last_updated_ms;
    } else if (document) {
      for (const auto& version : static_cast<const ViewMetadata&>(**document).versions) {
        updated_ms = std::max(updated_ms, version.timestamp_ms);
      }
    }
  }
  std::error_code failed;
  const auto changed = fs::last_write_time(path, failed);
  return {updated_ms, failed ? 0 : changed.time_since_epoch().count()};
}

/// The first word of the hint; nothing where it is none, or no regular file.
std::optional<std::string> read_hint(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::nullopt;
  std::array<char, kHintBytesMax + 1> text{};
  struct stat status {};
  const bool is_file = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  const auto count = is_file ? ::read(file, text.data(), text.size()) : -1;
  ::close(file);
  if (count <= 0 || static_cast<std::size_t>(count) > kHintBytesMax) return std::nullopt;
  constexpr std::string_view kSpace = " \t\r\n";
  const std::string_view read(text.data(), static_cast<std::size_t>(count));
  const auto begin = std::min(read.find_first_not_of(kSpace), read.size());
  const std::string_view word = read.substr(begin);
  return std::string(word.substr(0, word.find_first_of(kSpace)));
}

std::optional<std::string> hinted(const std::string& directory,
                                  const std::vector<Candidate>& candidates) {
  const auto read = read_hint(directory + "/" + std::string(kHintName));
  if (!read || read->empty()) return std::nullopt;
  const std::string& hint = *read;
  const auto version = number_of(hint);
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](const auto& candidate) {
    return candidate.name == hint ||
           (version && candidate.version == version && candidate.name.starts_with('v'));
  });
  if (found == candidates.end()) return std::nullopt;
  return directory + "/" + found->name;
}

}  // namespace

bool is_metadata_file_name(std::string_view name) noexcept {
  for (const std::string_view ending :
       {".metadata.json", ".gz.metadata.json", ".metadata.json.gz"}) {
    if (name.size() > ending.size() && name.ends_with(ending) && !name.starts_with('.'))
      return true;
  }
  return false;
}

std::optional<std::uint64_t> version_of(std::string_view name) noexcept {
  if (name.starts_with('v')) name.remove_prefix(1);
  const auto end = name.find_first_not_of("0123456789");
  if (end == 0 || end == std::string_view::npos || (name[end] != '-' && name[end] != '.')) {
    return std::nullopt;
  }
  return number_of(name.substr(0, end));
}

Result<std::optional<std::string>> newest_metadata(const std::string& directory) {
  std::error_code failed;
  std::vector<Candidate> candidates;
  for (fs::directory_iterator entry(directory, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    std::string name = entry->path().filename().string();
    std::error_code ignored;
    if (!is_metadata_file_name(name) || !entry->is_regular_file(ignored)) continue;
    const auto version = version_of(name);
    candidates.push_back({std::move(name), version});
  }
  if (failed) return shm::system_error(directory, failed.value());
  if (candidates.empty()) return std::optional<std::string>();
  if (auto named = hinted(directory, candidates)) return named;
  const auto version_before = [](const Candidate& a, const Candidate& b) {
    return a.version < b.version;  // none is the oldest
  };
  const auto highest =
      std::max_element(candidates.begin(), candidates.end(), version_before)->version;
  std::erase_if(candidates,
                [&](const Candidate& candidate) { return candidate.version != highest; });
  const auto path_of = [&](const Candidate& candidate) { return directory + "/" + candidate.name; };
  if (candidates.size() == 1) return std::optional(path_of(candidates.front()));
  std::string newest;
  std::tuple<std::int64_t, std::int64_t, std::string> newest_age;
  for (const Candidate& candidate : candidates) {
    const auto [updated_ms, changed] = age_of(path_of(candidate));
    auto age = std::tuple(updated_ms, changed, candidate.name);
    if (!newest.empty() && age <= newest_age) continue;
    newest = path_of(candidate);
    newest_age = std::move(age);
  }
  return std::optional(std::move(newest));
}

}  // namespace iceblink::cli
