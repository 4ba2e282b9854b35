#include "daemon/http/etag.h"

#include <xxhash.h>

#include <algorithm>

#include "daemon/http/field_text.h"

namespace iceblink::daemon::http {
namespace {

void append_bytes(std::string& out, const shm::Id& id) {
  for (const std::uint8_t byte : id) out += static_cast<char>(byte);
}

void append_hex(std::string& out, std::uint64_t value) {
  constexpr char kHex[] = "0123456789abcdef";
  for (int shift = 60; shift >= 0; shift -= 4) out += kHex[(value >> shift) & 15];
}

std::string_view without_marks(std::string_view tag) {
  tag = trimmed(tag);
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') {
    tag = tag.substr(1, tag.size() - 2);
  }
  return tag;
}

}  // namespace

std::string etag_of(const TableRow& row, SnapshotMode mode) {
  std::string input;
  input.reserve(row.location.size() + 48);
  append_bytes(input, row.table_uuid);
  append_bytes(input, row.metadata_fingerprint);
  const bool is_verified =
      std::any_of(row.metadata_fingerprint.begin(), row.metadata_fingerprint.end(),
                  [](auto b) { return b != 0; });
  input += std::to_string(is_verified ? 0 : row.generation);
  input += mode == SnapshotMode::kAll ? 'a' : 'r';
  input += row.location;
  const XXH128_hash_t hash = XXH3_128bits(input.data(), input.size());
  std::string tag = "\"";
  append_hex(tag, hash.high64);
  append_hex(tag, hash.low64);
  tag += '"';
  return tag;
}

bool etag_matches(std::string_view if_none_match, std::string_view etag) {
  if (trimmed(if_none_match) == "*") return true;
  const std::string_view ours = without_marks(etag);
  for (;;) {
    const auto comma = if_none_match.find(',');
    if (without_marks(if_none_match.substr(0, comma)) == ours) return true;
    if (comma == std::string_view::npos) return false;
    if_none_match.remove_prefix(comma + 1);
  }
}

}  // namespace iceblink::daemon::http
