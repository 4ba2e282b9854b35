// What is made can be read again: requests and files nest the same things differently deep.
#include "tests/iceberg/commit/commit_samples.h"

namespace iceblink::iceberg::testing {
namespace {

/// Of one column, with so many lists within each other. In a file the innermost of them lies 5
/// levels deeper than the count, in the body of a creation 4, in that of a commit 6.
std::string schema_of_lists(int count) {
  std::string type = R"("long")";
  for (int i = count; i > 0; --i) {
    type = R"({"type":"list","element-id":)" + std::to_string(i + 1) +
           R"(,"element-required":false,"element":)" + type + "}";
  }
  return schema(field(1, "x", type).text()).text();
}
constexpr int kListsMax = 256 - 5;

Result<NewMetadata> created(int list_count) {
  const auto request = parse_table_creation(R"({"name":"t","location":"s3://b/t","schema":)" +
                                            schema_of_lists(list_count) + "}");
  if (!request) return request.error();
  return create_table(**request, context());
}

/// Another schema is added to the smallest table.
Result<NewMetadata> committed(int list_count) {
  const auto request =
      parse_table_commit(R"({"requirements":[],"updates":[{"action":"add-schema","schema":)" +
                         schema_of_lists(list_count) + "}]}");
  if (!request) return request.error();
  const auto base = load(v2());
  return commit_table(base->get(), (*request)->commit, context());
}

Result<NewMetadata> created_view(int array_count) {
  const auto count = static_cast<std::size_t>(array_count);
  const auto request = parse_view_creation(
      R"({"name":"v","location":"s3://b/v","schema":)" + schema(field(1, "x").text()).text() +
      R"(,"view-version":{"version-id":1,"schema-id":0,"timestamp-ms":1,"summary":{},)"
      R"("default-namespace":[],"representations":[{"type":"plan","x":)" +
      std::string(count, '[') + "\"[[\"" + std::string(count, ']') + R"(}]},"properties":{}})");
  if (!request) return request.error();
  return create_view(**request, context());
}

MATCHER_P(FailsWith, kind, "") {
  if (!arg) *result_listener << to_string(arg.error().kind()) << ": " << arg.error().message();
  return !arg && arg.error().kind() == kind;
}

TEST(MetadataDepth, ATableAtTheLimitIsMadeAndReadAgain) {
  const auto made = created(kListsMax);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(problems_of(made->json), ::testing::IsEmpty());
}

TEST(MetadataDepth, ATableThatCouldNotBeReadAgainIsRefused) {
  EXPECT_THAT(created(kListsMax + 1), FailsWith(ErrorKind::kInvalidArgument));
  EXPECT_THAT(created(kListsMax + 2), FailsWith(ErrorKind::kInvalidArgument));  // by the reader
}

TEST(MetadataDepth, WhatACommitCanSayCanBeReadAgain) {
  const auto made = committed(kListsMax - 1);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(problems_of(made->json), ::testing::IsEmpty());
  EXPECT_THAT(committed(kListsMax), FailsWith(ErrorKind::kInvalidArgument));  // by the reader
}

TEST(MetadataDepth, ACommitIsRefusedWhoseBaseWouldBecomeTooDeep) {
  // A first writer's table has its schema in no list yet.
  for (const int count : {kListsMax, kListsMax + 1}) {
    const auto base = load(v1().with("schema", schema_of_lists(count))
                               .with("last-column-id", std::to_string(count + 1)));
    ASSERT_TRUE(base) << base.error().message();
    TableCommit commit;
    commit.updates = {set_properties({{"a", "b"}})};
    const auto made = commit_table(base->get(), commit, context());
    EXPECT_EQ(made.ok(), count == kListsMax);
    if (!made) {
      EXPECT_EQ(made.error().message(),
                "metadata cannot be written: it would be nested deeper than 256 levels");
    }
  }
}

TEST(MetadataDepth, WhatIsKeptOfAViewAsItStoodCounts) {
  const auto made = created_view(kListsMax);
  ASSERT_TRUE(made) << made.error().message();
  EXPECT_THAT(problems_of(made->json), ::testing::IsEmpty());
  EXPECT_THAT(created_view(kListsMax + 1), FailsWith(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
