#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/commit/new_metadata.h"
#include "iceberg/metadata_parser.h"
#include "tests/iceberg/commit/named_member.h"
#include "tests/iceberg/metadata_equality.h"
#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;
using View = std::shared_ptr<const ViewMetadata>;

constexpr std::int64_t kNow = 1'800'000'000'000;
constexpr std::int64_t kVersionTime = 1'750'000'000'000;

Field field(std::int32_t id, std::string_view name, TypeKind kind) {
  Field field;
  field.id = id;
  field.name = name;
  field.type.kind = kind;
  return field;
}
Schema schema(std::int32_t id, std::span<const Field> fields) {
  Schema schema;
  schema.schema_id = id;
  schema.fields = fields;
  return schema;
}
const std::array kFields = {field(1, "x", TypeKind::kLong), field(2, "y", TypeKind::kString)};
/// The one of the base, and another one.
const Schema kOldSchema = schema(0, std::span(kFields).first(1));
const Schema kNewSchema = schema(17, kFields);

constexpr std::array<std::string_view, 1> kNamespace = {"n"};

ViewRepresentation sql(std::string_view text, std::string_view dialect = "spark") {
  return {.type = "sql", .sql = text, .dialect = dialect, .json = {}};
}

/// Borrows the representations.
ViewVersion version(std::span<const ViewRepresentation> representations,
                    std::int32_t schema_id = 0) {
  ViewVersion version;
  version.version_id = 1;
  version.schema_id = schema_id;
  version.timestamp_ms = kVersionTime;
  version.representations = representations;
  version.default_namespace = kNamespace;
  return version;
}

View parsed(std::string_view json) {
  const auto view = parse_view_metadata(ByteBuffer(json));
  if (view) return *view;
  ADD_FAILURE() << view.error().message() << " in " << json;
  return nullptr;
}
View base_view() {
  return parsed(testing::view().text());
}

Result<NewMetadata> commit(const View& base, std::vector<ViewUpdate> updates,
                           std::vector<Requirement> requirements = {}) {
  ViewCommit commit;
  commit.requirements = std::move(requirements);
  commit.updates = std::move(updates);
  CommitContext context;
  context.now_ms = kNow;
  context.base_location = "s3://b/v/metadata/v1.metadata.json";
  return commit_view(*base, commit, context);
}

/// The view that follows. Null, and a failure, where there is an error or no change.
View committed(const View& base, std::vector<ViewUpdate> updates) {
  const auto next = commit(base, std::move(updates));
  if (!next) ADD_FAILURE() << next.error().message();
  return next ? parsed(next->json) : nullptr;
}

/// A version whose SQL is `text` becomes the current one.
View replaced(const View& base, std::string_view text) {
  const std::array sqls = {sql(text)};
  return committed(base, {AddViewVersion{version(sqls)}, SetCurrentViewVersion{kLastAdded}});
}

MATCHER_P2(FailsWith, kind, message, "") {
  if (arg.ok()) {
    *result_listener << "it succeeds";
    return false;
  }
  *result_listener << to_string(arg.error().kind()) << ": " << arg.error().message();
  return arg.error().kind() == kind &&
         testing::split_member(arg.error().message()).sentence == message;
}
auto is_invalid(const std::string& message) {
  return FailsWith(ErrorKind::kInvalidArgument, message);
}
MATCHER(IsUnchanged, "") {
  if (!arg.ok()) *result_listener << arg.error().message();
  return arg.ok() && arg->is_unchanged();
}

std::vector<std::int32_t> ids_of(const auto& elements) {
  std::vector<std::int32_t> ids;
  for (const auto& element : elements) ids.push_back(element.version_id);
  return ids;
}
std::vector<std::int32_t> version_ids(const View& view) {
  return ids_of(view->versions);
}
std::vector<std::int32_t> logged_ids(const View& view) {
  return ids_of(view->version_log);
}

// ---- Creation

class ViewCreation : public ::testing::Test {
 protected:
  ViewCreation() {
    request_.name = "v";
    request_.schema = kNewSchema;
    request_.view_version = version(sqls_, 99);
    request_.view_version.version_id = 42;
    context_.now_ms = kNow;
    context_.fresh_uuid.fill(0xab);
    context_.default_location = "file:/w/n/v/";
  }
  [[nodiscard]] Result<NewMetadata> create() const { return create_view(request_, context_); }

  std::array<ViewRepresentation, 2> sqls_ = {sql("SELECT 1"), sql("SELECT 2", "Trino")};
  ViewCreationRequest request_;
  CommitContext context_;
};

TEST_F(ViewCreation, NumbersTheSchemaAndTheVersionAnew) {
  const std::array<Property, 1> properties = {Property{"owner", "me"}};
  const std::array<Property, 1> summary = {Property{"engine-name", "e"}};
  request_.properties = properties;
  request_.view_version.summary = summary;
  request_.view_version.default_catalog = "c";
  const auto created = create();
  ASSERT_TRUE(created) << created.error().message();
  const View view = parsed(created->json);
  EXPECT_EQ(view->view_uuid, context_.fresh_uuid);
  EXPECT_EQ(view->location, "file:/w/n/v");
  EXPECT_EQ(view->current_version_id, 1);
  EXPECT_EQ(view->current_version().schema_id, 0);
  EXPECT_EQ(view->current_schema().fields[1].name, "y");
  EXPECT_EQ(view->current_version().timestamp_ms, kVersionTime);
  EXPECT_EQ(view->current_version().default_catalog, "c");
  EXPECT_THAT(view->current_version().default_namespace, ElementsAre("n"));
  EXPECT_EQ(find_property(view->current_version().summary, "engine-name"), "e");
  EXPECT_EQ(view->current_version().find_sql("trino")->sql, "SELECT 2");
  EXPECT_EQ(find_property(view->properties, "owner"), "me");
  ASSERT_THAT(logged_ids(view), ElementsAre(1));
  EXPECT_EQ(view->version_log[0].timestamp_ms, kVersionTime);
}

TEST_F(ViewCreation, SaysWhatTheWriterOfTheFileMustKnow) {
  const std::array<Property, 2> properties = {Property{"write.metadata.path", "s3://meta/v/"},
                                              Property{"write.metadata.compression-codec", "GZIP"}};
  const auto plain = create();
  request_.properties = properties;
  request_.location = "s3://b/own///";
  const auto created = create();
  ASSERT_TRUE(plain && created);
  EXPECT_EQ(created->format_version, 1);
  EXPECT_EQ(created->uuid, context_.fresh_uuid);
  EXPECT_EQ(created->location, "s3://b/own");
  EXPECT_EQ(created->metadata_path, "s3://meta/v");
  EXPECT_TRUE(created->is_gzip);
  EXPECT_EQ(plain->metadata_path, std::nullopt);
  EXPECT_FALSE(plain->is_gzip);
}

TEST_F(ViewCreation, NeedsALocation) {
  context_.default_location = "";
  EXPECT_THAT(create(), is_invalid("Invalid location: the view 'v' has none"));
  request_.location = "//";
  EXPECT_THAT(create(), is_invalid("Invalid location: the view 'v' has none"));
}

TEST_F(ViewCreation, RefusesTwoQueriesOfOneDialectInAnyCase) {
  sqls_ = {sql("SELECT 1", "Trino"), sql("SELECT 2", "tRINO")};
  EXPECT_THAT(create(),
              is_invalid("Invalid view version: Cannot add multiple queries for dialect trino"));
}

TEST_F(ViewCreation, NeedsARepresentation) {
  request_.view_version.representations = {};
  EXPECT_THAT(create(), is_invalid("Invalid view version: it has no representations"));
}

TEST_F(ViewCreation, RefusesAHistoryOfNoVersions) {
  for (const std::string_view size : {"0", "-3", "many", "", "99999999999999999999"}) {
    const std::array<Property, 1> properties = {Property{"version.history.num-entries", size}};
    request_.properties = properties;
    EXPECT_THAT(create(), is_invalid("version.history.num-entries must be a positive integer, and "
                                     "is '" +
                                     std::string(size) + "'"));
  }
}

// ---- Requirements

TEST(ViewCommit, AssertsTheUuidInAnyCaseBeforeAnythingElse) {
  EXPECT_THAT(commit(base_view(), {}, {AssertViewUuid{"9C12D441-03FE-4693-9A96-A0705DDF69C1"}}),
              IsUnchanged());
  for (const std::string other : {"9c12d441-03fe-4693-9a96-a0705ddf69c2", "none"}) {
    EXPECT_THAT(
        commit(base_view(), {SetCurrentViewVersion{9}}, {AssertViewUuid{other}}),
        FailsWith(ErrorKind::kConflict, "Requirement failed: view UUID does not match: expected " +
                                            testing::kUuid + " != " + other));
  }
}

TEST(ViewCommit, RefusesTheRequirementsOfTables) {
  const std::pair<Requirement, std::string> requirements[] = {
      {AssertCreate{}, "assert-create"},
      {AssertTableUuid{testing::kUuid}, "assert-table-uuid"},
      {AssertRefSnapshotId{"main", {}}, "assert-ref-snapshot-id"},
      {AssertLastAssignedFieldId{}, "assert-last-assigned-field-id"},
      {AssertCurrentSchemaId{}, "assert-current-schema-id"},
      {AssertLastAssignedPartitionId{}, "assert-last-assigned-partition-id"},
      {AssertDefaultSpecId{}, "assert-default-spec-id"},
      {AssertDefaultSortOrderId{}, "assert-default-sort-order-id"}};
  for (const auto& [requirement, name] : requirements) {
    EXPECT_THAT(commit(base_view(), {}, {requirement}),
                is_invalid("Invalid requirement of a view: " + name));
  }
}

// ---- Identity, location, properties

TEST(ViewCommit, KeepsItsUuid) {
  EXPECT_THAT(commit(base_view(), {AssignUuid{"9C12D441-03FE-4693-9A96-A0705DDF69C1"}}),
              IsUnchanged());
  const std::string other = "9c12d441-03fe-4693-9a96-a0705ddf69c2";
  EXPECT_THAT(
      commit(base_view(), {AssignUuid{other}}),
      is_invalid("Cannot reassign uuid: the view's is " + testing::kUuid + ", not " + other));
  EXPECT_THAT(commit(base_view(), {AssignUuid{"x"}}), is_invalid("'x' is not a UUID"));
}

TEST(ViewCommit, KnowsFormatOneAlone) {
  EXPECT_THAT(commit(base_view(), {UpgradeFormatVersion{1}}), IsUnchanged());
  EXPECT_THAT(commit(base_view(), {UpgradeFormatVersion{0}}),
              is_invalid("Cannot downgrade v1 view to v0"));
  EXPECT_THAT(commit(base_view(), {UpgradeFormatVersion{2}}),
              is_invalid("Unsupported format version: 2"));
}

TEST(ViewCommit, MovesTheView) {
  const auto next = commit(base_view(), {SetLocation{"s3://b/w"}});
  ASSERT_TRUE(next);
  EXPECT_EQ(next->location, "s3://b/w");
  EXPECT_EQ(parsed(next->json)->location, "s3://b/w");
  EXPECT_THAT(commit(base_view(), {SetLocation{"s3://b/v"}}), IsUnchanged());
  EXPECT_THAT(commit(base_view(), {SetLocation{""}}), is_invalid("Invalid location: it is empty"));
}

TEST(ViewCommit, SetsAndRemovesPropertiesInOrder) {
  const std::array<Property, 3> first = {Property{"a", "1"}, Property{"b", "2"},
                                         Property{"c", "3"}};
  const std::array<Property, 1> second = {Property{"a", "9"}};
  const std::array<std::string_view, 2> removals = {"b", "none"};
  const View view = committed(
      base_view(), {SetProperties{first}, SetProperties{second}, RemoveProperties{removals}});
  ASSERT_THAT(view->properties, SizeIs(2));
  EXPECT_EQ(find_property(view->properties, "a"), "9");
  EXPECT_EQ(find_property(view->properties, "c"), "3");
  EXPECT_THAT(commit(view, {SetProperties{second}, RemoveProperties{removals}}), IsUnchanged());
}

TEST(ViewCommit, LeavesAloneWhatNoUpdateNames) {
  const View base = replaced(base_view(), "SELECT 2");
  const std::array<Property, 1> properties = {Property{"a", "1"}};
  const std::array<std::string_view, 1> removals = {"a"};
  const View there = committed(base, {SetProperties{properties}});
  const View back = committed(there, {RemoveProperties{removals}});
  EXPECT_EQ(testing::difference(*base, *back), "");
  EXPECT_NE(testing::difference(*base, *there), "");
}

// ---- Schemas

TEST(ViewCommit, GivesAnEqualSchemaNoNewId) {
  Schema same = kOldSchema;
  same.schema_id = 5;
  EXPECT_THAT(commit(base_view(), {AddSchema{same}}), IsUnchanged());
  const View view = committed(base_view(), {AddSchema{kNewSchema}, AddSchema{kNewSchema}});
  ASSERT_THAT(view->schemas, SizeIs(2));
  EXPECT_EQ(view->schemas[1].schema_id, 1);
  EXPECT_EQ(view->schemas[1].fields[1].name, "y");
}

TEST(ViewCommit, TellsSchemasApartByAllTheySay) {
  auto fields = kFields;
  fields[1].required = true;
  auto documented = fields;
  documented[1].doc = "why";
  const std::array<std::int32_t, 1> identifiers = {2};
  Schema identified = schema(0, fields);
  identified.identifier_field_ids = identifiers;
  const View view =
      committed(base_view(), {AddSchema{kNewSchema}, AddSchema{identified},
                              AddSchema{schema(0, documented)}, AddSchema{schema(0, fields)}});
  EXPECT_THAT(view->schemas, SizeIs(5));
}

// ---- Versions

TEST(ViewCommit, ReplacesTheCurrentVersion) {
  const std::array sqls = {sql("SELECT x, y")};
  const View view =
      committed(base_view(), {AddSchema{kNewSchema}, AddViewVersion{version(sqls, kLastAdded)},
                              SetCurrentViewVersion{kLastAdded}});
  EXPECT_EQ(view->current_version_id, 2);
  EXPECT_EQ(view->current_version().schema_id, 1);
  EXPECT_EQ(view->current_version().find_sql("spark")->sql, "SELECT x, y");
  ASSERT_THAT(logged_ids(view), ElementsAre(1, 2));
  EXPECT_EQ(view->version_log[1].timestamp_ms, kVersionTime);
}

TEST(ViewCommit, TakesAReusedSchemaForTheLastAddedOne) {
  const std::array sqls = {sql("SELECT 2")};
  const View view =
      committed(base_view(), {AddSchema{kOldSchema}, AddViewVersion{version(sqls, kLastAdded)}});
  ASSERT_THAT(view->versions, SizeIs(2));
  EXPECT_EQ(view->versions[1].schema_id, 0);
  EXPECT_EQ(view->current_version_id, 1) << "it was added, not set";
  EXPECT_THAT(logged_ids(view), ElementsAre(1));
}

TEST(ViewCommit, RefusesAVersionWithoutItsSchema) {
  const std::array sqls = {sql("SELECT 2")};
  EXPECT_THAT(commit(base_view(), {AddViewVersion{version(sqls, 1)}}),
              is_invalid("Cannot add version with unknown schema: 1"));
  EXPECT_THAT(commit(base_view(), {AddViewVersion{version(sqls, kLastAdded)}}),
              is_invalid("Cannot set last added schema: no schema has been added"));
}

TEST(ViewCommit, RefusesTwoQueriesOfOneDialectAndNone) {
  const std::array sqls = {sql("SELECT 1", "trino"), sql("SELECT 2", "TRINO")};
  EXPECT_THAT(commit(base_view(), {AddViewVersion{version(sqls)}}),
              is_invalid("Invalid view version: Cannot add multiple queries for dialect trino"));
  EXPECT_THAT(commit(base_view(), {AddViewVersion{version({})}}),
              is_invalid("Invalid view version: it has no representations"));
}

TEST(ViewCommit, GivesAnEqualVersionNoNewId) {
  const std::array old_sqls = {sql("SELECT 1 x")};
  const View base = replaced(base_view(), "SELECT 2");
  const View view =
      committed(base, {AddViewVersion{version(old_sqls)}, SetCurrentViewVersion{kLastAdded}});
  EXPECT_THAT(version_ids(view), ElementsAre(1, 2));
  EXPECT_EQ(view->current_version_id, 1);
  EXPECT_EQ(view->versions[0].timestamp_ms, 1'700'000'000'000) << "it is the old one";
  ASSERT_THAT(logged_ids(view), ElementsAre(1, 2, 1));
  EXPECT_EQ(view->version_log[2].timestamp_ms, kNow) << "that is when it came back";
}

TEST(ViewCommit, TellsVersionsApartByAllTheySay) {
  const std::array sqls = {sql("SELECT 1 x")};
  const std::array<Property, 1> summary = {Property{"a", "1"}};
  const std::array<std::string_view, 2> levels = {"n", "m"};
  const std::array others = {sql("SELECT 1 x", "Spark")};
  const std::array unknown = {sqls[0], ViewRepresentation{"ir", {}, {}, R"({"type":"ir"})"}};
  ViewVersion summarised = version(sqls);
  summarised.summary = summary;
  ViewVersion nested = version(sqls);
  nested.default_namespace = levels;
  ViewVersion of_catalog = version(sqls);
  of_catalog.default_catalog = "c";
  const View view = committed(
      base_view(), {AddViewVersion{summarised}, AddViewVersion{nested}, AddViewVersion{of_catalog},
                    AddViewVersion{version(others)}, AddViewVersion{version(unknown)},
                    AddViewVersion{version(unknown)}, AddViewVersion{summarised}});
  EXPECT_THAT(version_ids(view), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(ViewCommit, KeepsAVersionsOwnIdWhereItIsAboveAllOthers) {
  const std::array sqls = {sql("SELECT 2")};
  ViewVersion high = version(sqls);
  high.version_id = 7;
  EXPECT_THAT(version_ids(committed(base_view(), {AddViewVersion{high}, SetCurrentViewVersion{7}})),
              ElementsAre(1, 7));
  high.version_id = std::numeric_limits<std::int32_t>::max();
  const std::array more = {sql("SELECT 3")};
  EXPECT_THAT(commit(base_view(), {AddViewVersion{high}, AddViewVersion{version(more)}}),
              is_invalid("Cannot add a version: no ids are left"));
}

TEST(ViewCommit, RefusesACurrentVersionThatIsNotThere) {
  EXPECT_THAT(commit(base_view(), {SetCurrentViewVersion{2}}),
              is_invalid("Cannot set current version to unknown version: 2"));
  EXPECT_THAT(commit(base_view(), {SetCurrentViewVersion{kLastAdded}}),
              is_invalid("Cannot set last version id: no view version has been added"));
  EXPECT_THAT(commit(base_view(), {SetCurrentViewVersion{1}}), IsUnchanged());
}

TEST(ViewCommit, KeepsARepresentationThatItDoesNotKnow) {
  const std::array both = {sql("SELECT 2"),
                           ViewRepresentation{"ir", {}, {}, R"({"type":"ir","n":[1, 2]})"}};
  const View view = committed(base_view(), {AddViewVersion{version(both)}});
  EXPECT_EQ(view->versions[1].representations[1].json, R"({"type":"ir","n":[1,2]})");
}

// ---- Dialects

TEST(ViewCommit, RefusesToLoseADialect) {
  const std::array two = {sql("SELECT 1", "Spark"), sql("SELECT 2", "trino")};
  const std::array one = {sql("SELECT 3", "flink")};
  const View base =
      committed(base_view(), {AddViewVersion{version(two)}, SetCurrentViewVersion{kLastAdded}});
  const std::vector<ViewUpdate> replacement = {AddViewVersion{version(one)},
                                               SetCurrentViewVersion{kLastAdded}};
  EXPECT_THAT(commit(base, replacement),
              is_invalid("Cannot replace view due to loss of view dialects "
                         "(replace.drop-dialect.allowed=false):\nPrevious dialects: "
                         "[spark, trino]\nNew dialects: [flink]"));
  EXPECT_TRUE(commit(base, {replacement[0]})) << "it is not the current one";
}

TEST(ViewCommit, LosesADialectWhereThePropertiesAllowIt) {
  const std::array one = {sql("SELECT 3", "flink")};
  const std::array<Property, 1> allowed = {Property{"replace.drop-dialect.allowed", "TRUE"}};
  const View view = committed(
      base_view(),
      {AddViewVersion{version(one)}, SetCurrentViewVersion{kLastAdded}, SetProperties{allowed}});
  EXPECT_EQ(view->current_version_id, 2);
}

// ---- History

/// A view of versions 1 to `count`, the last one current, and a property of how many are kept.
View with_history(int count, std::string_view kept) {
  const std::array<Property, 1> properties = {Property{"version.history.num-entries", kept}};
  View view = committed(base_view(), {SetProperties{properties}});
  for (int i = 2; i <= count; ++i) view = replaced(view, "SELECT " + std::to_string(i));
  return view;
}

TEST(ViewHistory, KeepsTenVersionsUnlessToldOtherwise) {
  View view = base_view();
  for (int i = 2; i <= 12; ++i) view = replaced(view, "SELECT " + std::to_string(i));
  EXPECT_THAT(version_ids(view), ElementsAre(3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
  EXPECT_EQ(logged_ids(view), version_ids(view));
}

TEST(ViewHistory, KeepsAsManyAsThePropertySays) {
  EXPECT_THAT(version_ids(with_history(5, "3")), ElementsAre(3, 4, 5));
  EXPECT_THAT(version_ids(with_history(5, "1")), ElementsAre(5));
}

TEST(ViewHistory, KeepsTheCurrentVersionHoweverOldItIs) {
  View view = committed(with_history(3, "3"), {SetCurrentViewVersion{1}});
  const std::array sqls = {sql("SELECT 9")};
  view = committed(view, {AddViewVersion{version(sqls)}});
  EXPECT_THAT(version_ids(view), ElementsAre(1, 3, 4));
  EXPECT_THAT(logged_ids(view), ElementsAre(3, 1)) << "what was before the hole is gone";
}

TEST(ViewHistory, KeepsAllThatACommitAdds) {
  const std::array first = {sql("SELECT 8")};
  const std::array second = {sql("SELECT 9")};
  const View view = committed(with_history(1, "1"),
                              {AddViewVersion{version(first)}, AddViewVersion{version(second)}});
  EXPECT_THAT(version_ids(view), ElementsAre(1, 2, 3));
}

TEST(ViewHistory, IsNotCutByACommitThatChangesNothing) {
  const View full = with_history(5, "5");
  const std::array<Property, 1> fewer = {Property{"version.history.num-entries", "2"}};
  const std::array<Property, 1> same = {Property{"version.history.num-entries", "5"}};
  EXPECT_THAT(commit(full, {SetProperties{fewer}, SetProperties{same}}), IsUnchanged());
  EXPECT_THAT(version_ids(committed(full, {SetProperties{fewer}})), ElementsAre(4, 5));
}

TEST(ViewHistory, LogsWhatACommitEndsWith) {
  const View base = with_history(3, "9");
  EXPECT_THAT(commit(base, {SetCurrentViewVersion{1}, SetCurrentViewVersion{3}}), IsUnchanged());
  EXPECT_THAT(logged_ids(committed(base, {SetCurrentViewVersion{1}, SetCurrentViewVersion{2}})),
              ElementsAre(1, 2, 3, 2));
}

}  // namespace
}  // namespace iceblink::iceberg
