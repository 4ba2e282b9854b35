// Which part of a request an error is about.
#include "iceberg/commit/request_updates.h"

#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

std::string message_of(const Result<NewMetadata>& result) {
  return result ? "none" : result.error().message();
}

std::string error_of(std::vector<TableUpdate> updates) {
  const auto base = load(v2());
  TableCommit commit;
  commit.updates = std::move(updates);
  return message_of(commit_table(base->get(), commit, context()));
}

std::string error_of_new(std::vector<TableUpdate> updates) {
  TableCommit commit;
  commit.requirements = {AssertCreate{}};
  commit.updates = std::move(updates);
  return message_of(commit_table(nullptr, commit, context()));
}

struct Creation : TableCreationRequest {
  Creation() {
    name = "t";
    location = "s3://b/t";
    schema = schema_of({column(1, "id")});
  }
};

void creation_fails(const TableCreationRequest& request, const std::string& message) {
  EXPECT_EQ(message_of(create_table(request, context())), message);
}

std::string error_of_view(std::vector<ViewUpdate> updates) {
  const auto base = parse_view_metadata(ByteBuffer(view().text()));
  ViewCommit commit;
  commit.updates = std::move(updates);
  return message_of(commit_view(**base, commit, context()));
}

TEST(RequestUpdates, AnErrorEndsWithThePlaceOfItsUpdate) {
  EXPECT_EQ(error_of({SetLocation{""}}), "Cannot set location: it is empty (updates[0])");
  EXPECT_EQ(error_of({set_properties({{"a", "b"}}), SetLocation{"s3://b/u"}, SetLocation{""}}),
            "Cannot set location: it is empty (updates[2])");
}

TEST(RequestUpdates, ASnapshotThatIsTooOldIsAConflictThatNamesIt) {
  const auto base = load(v2().with("last-sequence-number", "10"));
  TableCommit commit;
  commit.updates = {set_properties({{"a", "b"}}), add_snapshot(1, 3, 2)};
  const auto result = commit_table(base->get(), commit, context());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::kConflict);
  EXPECT_THAT(result.error().message(), ::testing::EndsWith(" (updates[1])"));
}

TEST(RequestUpdates, RequirementsAreNoUpdates) {
  const auto base = load(v2());
  TableCommit commit;
  commit.requirements = {AssertCreate{}};
  commit.updates = {SetLocation{""}};
  EXPECT_EQ(split_member(message_of(commit_table(base->get(), commit, context()))).member, "");
}

TEST(RequestUpdates, WhatIsMissingAtTheEndIsNoUpdatesFault) {
  EXPECT_EQ(error_of_new({SetLocation{"s3://b/t"}}),
            "Cannot create table: it has no current schema");
}

TEST(RequestUpdates, AFormatThatIsNoNumberIsRefusedAtItsPlace) {
  EXPECT_EQ(error_of_new({SetLocation{"s3://b/t"}, set_properties({{"format-version", "two"}})}),
            "the property format-version is 'two', which is no integer (updates[1])");
}

TEST(RequestUpdates, UpdatesOfViewsAreNamed) {
  EXPECT_EQ(error_of_view({SetLocation{"s3://b/v"}, SetLocation{""}}),
            "Invalid location: it is empty (updates[1])");
}

TEST(RequestUpdates, OtherErrorsThanTheRequestsStayAsTheyAre) {
  EXPECT_EQ(about({ErrorKind::kCorrupt, "snapshots[3]: is no object"}, "updates[0]").message(),
            "snapshots[3]: is no object");
}

TEST(RequestUpdates, ACreationNamesItsMembers) {
  Creation by_location;
  by_location.location = "";
  creation_fails(by_location, "Cannot set location: it is empty (location)");

  Creation by_schema;
  by_schema.schema = schema_of({column(1, "a"), column(1, "b")});
  creation_fails(by_schema, "Invalid schema for v2: two fields have the id 1 (schema)");

  Creation by_spec;
  by_spec.partition_spec = add_spec({part("x", "identity", 7)}).spec;
  creation_fails(by_spec, "Cannot find source column for partition field 'x': 7 (partition-spec)");

  // What the builder finds, and not the numbering.
  Creation by_type;
  by_type.partition_spec = add_spec({part("x", "bucket[0]", 1)}).spec;
  EXPECT_EQ(split_member(message_of(create_table(by_type, context()))).member, "partition-spec");

  Creation by_order;
  by_order.write_order = add_order({sorted_by("identity", 7)}).sort_order;
  creation_fails(by_order, "Cannot find source column for sort field 0: 7 (write-order)");

  Creation by_property;
  const std::vector<Property> no_number = {{"write.metadata.previous-versions-max", "x"}};
  by_property.properties = no_number;
  creation_fails(by_property,
                 "the property write.metadata.previous-versions-max is 'x', which is no integer "
                 "(properties)");

  Creation by_format;
  const std::vector<Property> unknown = {{"format-version", "9"}};
  by_format.properties = unknown;
  creation_fails(by_format, "Unsupported format version: v9 (supported: v3) (properties)");
}

TEST(RequestUpdates, ACreationOfAViewNamesItsMembers) {
  ViewCreationRequest request;
  request.name = "v";
  request.location = "s3://b/v";
  request.schema = schema_of({column(1, "id")});
  EXPECT_EQ(message_of(create_view(request, context())),
            "Invalid view version: it has no representations (view-version)");
}

}  // namespace
}  // namespace iceblink::iceberg::testing
