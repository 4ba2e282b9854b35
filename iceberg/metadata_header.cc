#include "iceberg/metadata_header.h"

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "iceberg/json_scan.h"
#include "iceberg/metadata_text.h"

namespace iceblink::iceberg {
namespace {

/// The texts of the members that decide.
struct Members {
  std::optional<std::string_view> format_version;
  std::optional<std::string_view> table_uuid;
  std::optional<std::string_view> view_uuid;
  std::optional<std::string_view> location;
  std::optional<std::string_view> schema;
  std::optional<std::string_view> schemas;
  std::optional<std::string_view> versions;
};

Error invalid(std::string message) {
  return {ErrorKind::kInvalidArgument, std::move(message)};
}

Result<Members> read_members(std::string_view text) {
  Members members;
  const std::pair<std::string_view, std::optional<std::string_view>*> wanted[] = {
      {"format-version", &members.format_version},
      {"table-uuid", &members.table_uuid},
      {"view-uuid", &members.view_uuid},
      {"location", &members.location},
      {"schema", &members.schema},
      {"schemas", &members.schemas},
      {"versions", &members.versions}};
  ICEBLINK_RETURN_IF_ERROR(
      scan_json_object(text, [&](const std::string& name, std::string_view value) -> Status {
        for (const auto& [known, member] : wanted) {
          if (name != known) continue;
          if (*member) return invalid("member '" + name + "' occurs twice");
          *member = value;
        }
        return Ok{};
      }));
  return members;
}

bool begins_with(const std::optional<std::string_view>& value, char c) {
  return value && value->front() == c;
}

Result<std::uint8_t> read_format_version(const Members& members, std::uint8_t max) {
  const std::string_view text = *members.format_version;
  std::int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) {
    return invalid("format-version is not an integer: " + std::string(text.substr(0, 80)));
  }
  if (error != std::errc{} || version > max) {
    return invalid("format-version " + std::string(text.substr(0, 80)) +
                   " is not supported, the highest known is " + std::to_string(max));
  }
  if (version < 1) return invalid("format-version " + std::string(text) + " is below 1");
  return static_cast<std::uint8_t>(version);
}

Result<Uuid> read_uuid(std::string_view name, const std::optional<std::string_view>& value) {
  if (!value || *value == "null") return invalid(std::string(name) + " is missing");
  if (value->front() != '"') return invalid(std::string(name) + " is not a string");
  const std::string text = unescape_json_string(*value);
  const auto uuid = parse_uuid(text);
  if (!uuid) return invalid(std::string(name) + " is not a UUID: '" + text.substr(0, 80) + "'");
  if (*uuid == Uuid{}) return invalid(std::string(name) + " is all zero");
  return *uuid;
}

}  // namespace

Result<MetadataHeader> parse_metadata_header(std::span<const std::byte> file,
                                             std::size_t inflated_bytes_max) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto text, MetadataText::of(file, inflated_bytes_max));
  ICEBLINK_ASSIGN_OR_RETURN(const Members members, read_members(text.view()));
  if (!members.format_version) return invalid("format-version is missing");
  MetadataHeader header;
  header.is_view = members.view_uuid && begins_with(members.versions, '[');
  if (!header.is_view && !begins_with(members.schema, '{') && !begins_with(members.schemas, '[')) {
    return invalid("neither table nor view metadata: it has no schema, schemas or versions");
  }
  ICEBLINK_ASSIGN_OR_RETURN(header.format_version,
                            read_format_version(members, header.is_view ? kViewFormatVersionMax
                                                                        : kTableFormatVersionMax));
  if (!begins_with(members.location, '"')) return invalid("location is missing or not a string");
  if (header.is_view) {
    ICEBLINK_ASSIGN_OR_RETURN(header.table_uuid, read_uuid("view-uuid", members.view_uuid));
    return header;
  }
  const bool has_uuid = members.table_uuid && *members.table_uuid != "null";
  if (header.format_version == 1 && !has_uuid) return header;
  ICEBLINK_ASSIGN_OR_RETURN(header.table_uuid, read_uuid("table-uuid", members.table_uuid));
  return header;
}

}  // namespace iceblink::iceberg
