// New tables and views from JSON (Iceberg REST specification, "CreateTableRequest",
// "CreateViewRequest").
#include "iceberg/commit/commit_request.h"
#include "iceberg/commit/request_reader.h"
#include "iceberg/member_set.h"
#include "iceberg/partitioning_reader.h"
#include "iceberg/property_reader.h"
#include "iceberg/schema_reader.h"
#include "iceberg/view_reader.h"

namespace iceblink::iceberg {
namespace {

void read_table_creation(JsonReader& reader, TableCreationRequest& request) {
  enum class Member {
    kName,
    kLocation,
    kSchema,
    kPartitionSpec,
    kWriteOrder,
    kStageCreate,
    kProperties
  };
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "name")) {
      if (members.add(reader, Member::kName)) request.name = read_name(reader);
    } else if (is(key, "location")) {
      if (!members.add(reader, Member::kLocation) || reader.take_null()) return;
      request.location = reader.read_string();
    } else if (is(key, "schema")) {
      if (members.add(reader, Member::kSchema)) request.schema = read_schema(reader, 0);
    } else if (is(key, "partition-spec")) {
      if (!members.add(reader, Member::kPartitionSpec) || reader.take_null()) return;
      request.partition_spec = read_requested_partition_spec(reader);
    } else if (is(key, "write-order")) {
      if (!members.add(reader, Member::kWriteOrder) || reader.take_null()) return;
      request.write_order = read_sort_order(reader, OrderId::kMadeUp);
    } else if (is(key, "stage-create")) {
      if (!members.add(reader, Member::kStageCreate) || reader.take_null()) return;
      request.stage_create = reader.read_bool();
    } else if (is(key, "properties")) {
      if (!members.add(reader, Member::kProperties)) return;
      request.properties = read_properties(reader, PropertyValues::kStrings);
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kName, "name"}, {Member::kSchema, "schema"}});
}

void read_view_creation(JsonReader& reader, ViewCreationRequest& request) {
  enum class Member { kName, kLocation, kSchema, kViewVersion, kProperties };
  MemberSet<Member> members;
  reader.read_object([&](std::string_view key) {
    if (is(key, "name")) {
      if (members.add(reader, Member::kName)) request.name = read_name(reader);
    } else if (is(key, "location")) {
      if (!members.add(reader, Member::kLocation) || reader.take_null()) return;
      request.location = reader.read_string();
    } else if (is(key, "schema")) {
      if (members.add(reader, Member::kSchema)) request.schema = read_schema(reader, 0);
    } else if (is(key, "view-version")) {
      if (members.add(reader, Member::kViewVersion)) {
        request.view_version = read_view_version(reader);
      }
    } else if (is(key, "properties")) {
      if (!members.add(reader, Member::kProperties)) return;
      request.properties = read_properties(reader, PropertyValues::kStrings);
    } else {
      reader.skip();
    }
  });
  members.require(reader, {{Member::kName, "name"},
                           {Member::kSchema, "schema"},
                           {Member::kViewVersion, "view-version"}});
}

}  // namespace

Result<std::shared_ptr<const TableCreationRequest>> parse_table_creation(
    std::string_view body) noexcept {
  return read_request<TableCreationRequest>(body, read_table_creation);
}

Result<std::shared_ptr<const ViewCreationRequest>> parse_view_creation(
    std::string_view body) noexcept {
  return read_request<ViewCreationRequest>(body, read_view_creation);
}

}  // namespace iceblink::iceberg
