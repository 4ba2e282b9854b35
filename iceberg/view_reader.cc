#include "iceberg/view_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "iceberg/member_set.h"
#include "iceberg/metadata_header.h"
#include "iceberg/property_reader.h"
#include "iceberg/schema_reader.h"
#include "iceberg/uuid.h"

namespace iceblink::iceberg {
namespace {

void read_sql(JsonReader& reader, ViewRepresentation& representation) {
  enum class Member { kSql, kDialect };
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "sql")) {
      if (members.add(reader, Member::kSql)) representation.sql = reader.read_string();
    } else if (is(key, "dialect")) {
      if (members.add(reader, Member::kDialect)) representation.dialect = reader.read_string();
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kSql, "sql"}, {Member::kDialect, "dialect"}});
}

// Its type says what else is in it.
ViewRepresentation read_representation(JsonReader& reader) {
  enum class Member { kType };
  ViewRepresentation representation;
  MemberSet<Member> members;
  const JsonReader::Place begin = reader.place();
  const std::size_t problem_count = reader.problem_count();
  reader.read_object([&](std::string_view key) {
    if (is(key, "type")) {
      if (members.add(reader, Member::kType)) representation.type = reader.read_string();
    } else {
      reader.skip();
    }
  });
  if (reader.problem_count() != problem_count) return representation;
  members.require(reader, {{Member::kType, "type"}});
  if (!reader.goes_on()) return representation;
  reader.go_to(begin);
  if (representation.type == "sql") {
    read_sql(reader, representation);
  } else {
    representation.json = reader.read_raw();
  }
  return representation;
}

ViewHistoryEntry read_history_entry(JsonReader& reader) {
  enum class Member { kTimestamp, kVersionId };
  ViewHistoryEntry entry;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "timestamp-ms")) {
      if (members.add(reader, Member::kTimestamp)) entry.timestamp_ms = reader.read_int64();
    } else if (is(key, "version-id")) {
      if (members.add(reader, Member::kVersionId)) entry.version_id = reader.read_int32();
    } else {
      reader.skip();
    }
  });
  members.require(reader,
                  {{Member::kTimestamp, "timestamp-ms"}, {Member::kVersionId, "version-id"}});
  return entry;
}

std::uint8_t read_format_version(JsonReader& reader) {
  const std::size_t problem_count = reader.problem_count();
  const std::int64_t version = reader.read_int64();
  if (reader.problem_count() != problem_count) return 0;
  if (version > kViewFormatVersionMax) {
    reader.refuse(ErrorKind::kUnsupported, std::to_string(version) +
                                               " is not supported, the highest known is " +
                                               std::to_string(kViewFormatVersionMax));
  } else if (version < 1) {
    reader.report(std::to_string(version) + " is below 1");
  }
  return static_cast<std::uint8_t>(version);
}

std::array<std::uint8_t, 16> read_uuid(JsonReader& reader) {
  const std::size_t problem_count = reader.problem_count();
  const auto text = reader.read_string();
  if (reader.problem_count() != problem_count) return {};
  const auto uuid = parse_uuid(text);
  if (!uuid) reader.report("'" + std::string(text) + "' is not a UUID");
  if (uuid == Uuid{}) reader.report("is all zero");
  return uuid.value_or(Uuid{});
}

void check_rules(JsonReader& reader, const ViewValues& view) {
  std::vector<std::int32_t> schema_ids;
  for (const auto& schema : view.schemas) schema_ids.push_back(schema.schema_id);
  std::sort(schema_ids.begin(), schema_ids.end());
  if (std::adjacent_find(schema_ids.begin(), schema_ids.end()) != schema_ids.end()) {
    reader.report("two have the same schema-id", "schemas");
  }
  std::vector<std::int32_t> version_ids;
  for (std::size_t i = 0; i < view.versions.size(); ++i) {
    const auto& version = view.versions[i];
    version_ids.push_back(version.version_id);
    if (!std::binary_search(schema_ids.begin(), schema_ids.end(), version.schema_id)) {
      reader.report(std::to_string(version.schema_id) + " is the id of none of the schemas",
                    "versions[" + std::to_string(i) + "].schema-id");
    }
  }
  std::sort(version_ids.begin(), version_ids.end());
  if (std::adjacent_find(version_ids.begin(), version_ids.end()) != version_ids.end()) {
    reader.report("two have the same version-id", "versions");
  }
  if (!std::binary_search(version_ids.begin(), version_ids.end(), view.current_version_id)) {
    reader.report(std::to_string(view.current_version_id) + " is the id of none of the versions",
                  "current-version-id");
  }
}

}  // namespace

ViewVersion read_view_version(JsonReader& reader) {
  enum class Member {
    kVersionId,
    kSchemaId,
    kTimestamp,
    kSummary,
    kRepresentations,
    kDefaultCatalog,
    kDefaultNamespace
  };
  ViewVersion version;
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "version-id")) {
      if (members.add(reader, Member::kVersionId)) version.version_id = reader.read_int32();
    } else if (is(key, "schema-id")) {
      if (members.add(reader, Member::kSchemaId)) version.schema_id = reader.read_int32();
    } else if (is(key, "timestamp-ms")) {
      if (members.add(reader, Member::kTimestamp)) version.timestamp_ms = reader.read_int64();
    } else if (is(key, "summary")) {
      if (!members.add(reader, Member::kSummary)) return;
      if (reader.at_null()) reader.report("is null");
      version.summary = read_properties(reader, PropertyValues::kStrings);
    } else if (is(key, "representations")) {
      if (!members.add(reader, Member::kRepresentations)) return;
      std::vector<ViewRepresentation> representations;
      reader.read_array([&] { representations.push_back(read_representation(reader)); });
      version.representations = reader.arena().copy(representations);
    } else if (is(key, "default-catalog")) {
      if (!members.add(reader, Member::kDefaultCatalog) || reader.take_null()) return;
      version.default_catalog = reader.read_string();
    } else if (is(key, "default-namespace")) {
      if (!members.add(reader, Member::kDefaultNamespace)) return;
      std::vector<std::string_view> levels;
      reader.read_array([&] { levels.push_back(reader.read_string()); });
      version.default_namespace = reader.arena().copy(levels);
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kVersionId, "version-id"},
                           {Member::kSchemaId, "schema-id"},
                           {Member::kTimestamp, "timestamp-ms"},
                           {Member::kSummary, "summary"},
                           {Member::kRepresentations, "representations"},
                           {Member::kDefaultNamespace, "default-namespace"}});
  return version;
}

ViewValues read_view(JsonReader& reader) {
  enum class Member {
    kFormatVersion,
    kViewUuid,
    kLocation,
    kCurrentVersionId,
    kSchemas,
    kVersions,
    kVersionLog,
    kProperties
  };
  ViewValues view;
  MemberSet<Member> members;
  const std::size_t problem_count = reader.problem_count();
  reader.read_object([&](std::string_view key) {
    if (is(key, "format-version")) {
      if (!members.add(reader, Member::kFormatVersion)) return;
      view.format_version = read_format_version(reader);
    } else if (is(key, "view-uuid")) {
      if (members.add(reader, Member::kViewUuid)) view.view_uuid = read_uuid(reader);
    } else if (is(key, "location")) {
      if (members.add(reader, Member::kLocation)) view.location = reader.read_string();
    } else if (is(key, "current-version-id")) {
      if (!members.add(reader, Member::kCurrentVersionId)) return;
      view.current_version_id = reader.read_int32();
    } else if (is(key, "schemas")) {
      if (members.add(reader, Member::kSchemas)) view.schemas = read_schemas(reader);
    } else if (is(key, "versions")) {
      if (!members.add(reader, Member::kVersions)) return;
      std::vector<ViewVersion> versions;
      reader.read_array([&] { versions.push_back(read_view_version(reader)); });
      view.versions = reader.arena().copy(versions);
    } else if (is(key, "version-log")) {
      if (!members.add(reader, Member::kVersionLog)) return;
      std::vector<ViewHistoryEntry> log;
      reader.read_array([&] { log.push_back(read_history_entry(reader)); });
      view.version_log = reader.arena().copy(log);
    } else if (is(key, "properties")) {
      if (!members.add(reader, Member::kProperties)) return;
      view.properties = read_properties(reader, PropertyValues::kConverted);
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kFormatVersion, "format-version"},
                           {Member::kViewUuid, "view-uuid"},
                           {Member::kLocation, "location"},
                           {Member::kCurrentVersionId, "current-version-id"},
                           {Member::kSchemas, "schemas"},
                           {Member::kVersions, "versions"},
                           {Member::kVersionLog, "version-log"}});
  if (reader.problem_count() == problem_count) check_rules(reader, view);
  return view;
}

}  // namespace iceblink::iceberg
