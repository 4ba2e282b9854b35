#include "daemon/http/load_result.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/metadata_document.h"
#include "daemon/refusals.h"
#include "iceberg/commit/referenced_snapshots.h"
#include "iceberg/metadata_parser.h"

namespace iceblink::daemon::http {
namespace {

bool names_every_snapshot(const TableMetadata& metadata) {
  std::vector<std::int64_t> named;
  for (const SnapshotRef& ref : metadata.refs) named.push_back(ref.snapshot_id);
  std::ranges::sort(named);
  return std::ranges::all_of(metadata.snapshot_index(), [&](const SnapshotIndexEntry& entry) {
    return std::ranges::binary_search(named, entry.snapshot_id);
  });
}

// The stored text where refs name every snapshot: nothing is written anew without need.
Result<std::string> with_referenced_snapshots(std::string text, const MetadataFileRules& rules) {
  const MetadataLimits limits{rules.stored_bytes_max, rules.inflated_bytes_max};
  const auto metadata = iceberg::parse_table_metadata(iceberg::ByteBuffer(text), limits);
  if (metadata && names_every_snapshot(**metadata)) return text;
  if (metadata) {
    auto filtered = iceberg::write_with_referenced_snapshots(**metadata);
    if (filtered) return std::move(*filtered);
    if (filtered.error().kind() == ErrorKind::kOutOfMemory) return filtered.error();
  } else if (metadata.error().kind() == ErrorKind::kOutOfMemory) {
    return metadata.error();
  }
  return text;
}

}  // namespace

Response metadata_response(const TableRow& row, std::optional<BodyPart> metadata,
                           ResultConfig config) {
  std::string head = "{";
  if (!row.location.empty()) {
    head += R"("metadata-location":)";
    append_json_string(head, row.location);
    if (metadata) head += ',';
  }
  if (metadata) head += R"("metadata":)";
  Response response = json_response({});
  response.parts.clear();
  response.parts.reserve(3);
  response.parts.emplace_back(std::move(head));
  if (metadata) response.parts.push_back(std::move(*metadata));
  response.parts.emplace_back(
      std::string(config == ResultConfig::kEmpty ? R"(,"config":{}})" : "}"));
  return response;
}

Response tagged_response(const TableRow& row, std::optional<BodyPart> metadata, ResultConfig config,
                         SnapshotMode mode) {
  Response response = metadata_response(row, std::move(metadata), config);
  if (!row.location.empty()) response.etag = etag_of(row, mode);
  return response;
}

Result<std::string> read_representation(const TableRow& row, ObjectKind kind, SnapshotMode mode,
                                        const MetadataFileRules& rules) {
  ICEBLINK_ASSIGN_OR_RETURN(std::string text, read_document(row, rules, kind));
  if (mode == SnapshotMode::kAll || kind == ObjectKind::kView) return text;
  return with_referenced_snapshots(std::move(text), rules);
}

Response failed_load(ObjectKind kind, const TableIdent& ident, const Error& error) {
  // What is wrong with the file is not the client's doing, whatever its kind says elsewhere.
  switch (error.kind()) {
    case ErrorKind::kNotFound:
    case ErrorKind::kNotAllowed:
    case ErrorKind::kUnsupported:
    case ErrorKind::kBusy:
      return error_response(error);
    case ErrorKind::kOutOfMemory:
      return error_response({ErrorKind::kBusy, error.message()});
    default:
      return error_response(
          {500, "InternalServerError"},
          std::string(name_of(kind)) + " " + dotted(ident) + ": " + std::string(error.message()));
  }
}

}  // namespace iceblink::daemon::http
