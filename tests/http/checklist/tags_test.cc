// ETag and If-None-Match (RFC 9110, 8.8.3 and 13.1.2; specification, "loadTable").
#include <filesystem>

#include "tests/http/checklist/checklist_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

class Tags : public ChecklistTest {
 protected:
  HttpResponse load_if_none(const std::string& target, const std::string& tags) {
    return send({.target = "/v1/namespaces" + target, .headers = {"If-None-Match: " + tags}});
  }
  std::string tag_of(const std::string& target) { return get(target).header("etag"); }
};

TEST_F(Tags, OfACreationACommitAndARegistrationAreThatOfTheNextLoad) {
  const auto created = create(named("t"));
  EXPECT_THAT(created.header("etag"), MatchesRegex("\"[^\"]+\""));
  EXPECT_EQ(created.header("etag"), tag_of(table("t")));
  const auto committed = update(table("t"), R"({"action":"set-properties","updates":{"a":"b"}})");
  EXPECT_EQ(committed.header("etag"), tag_of(table("t")));
  EXPECT_NE(committed.header("etag"), created.header("etag"));
  const auto location = metadata_location(table("t"));
  EXPECT_THAT(del(table("t")), HasStatus(204));
  const auto registered =
      post_text("/ns/register", R"({"name":"u","metadata-location":")" + location + "\"}");
  ASSERT_THAT(registered, HasStatus(200));
  EXPECT_EQ(registered.header("etag"), tag_of(table("u")));
}

TEST_F(Tags, OfACommitThatChangesNothingStay) {
  create_table("t");
  const auto before = tag_of(table("t"));
  EXPECT_EQ(update(table("t"), "").header("etag"), before);
  EXPECT_EQ(tag_of(table("t")), before);
}

TEST_F(Tags, AreNotOnWhatIsStaged) {
  Object staged = named("t");
  staged["stage-create"] = true;
  const auto answer = create(staged);
  EXPECT_FALSE(answer.has_header("etag"));
  EXPECT_FALSE(answer.json().as_object().contains("metadata-location"));
}

TEST_F(Tags, AreNotOnErrors) {
  EXPECT_FALSE(get(table("none")).has_header("etag"));
  create_table("t");
  EXPECT_FALSE(create(named("t")).has_header("etag"));
}

TEST_F(Tags, OfReferencedSnapshotsAreOthers) {
  create_rich_table("t");
  const auto all = tag_of(table("t"));
  const auto refs = tag_of(table("t") + "?snapshots=refs");
  EXPECT_NE(all, refs);
  EXPECT_THAT(load_if_none(table("t") + "?snapshots=refs", all), HasStatus(200));
  EXPECT_THAT(load_if_none(table("t"), refs), HasStatus(200));
  EXPECT_THAT(load_if_none(table("t") + "?snapshots=refs", refs), HasStatus(304));
}

TEST_F(Tags, AreComparedWithoutTheFile) {
  create_table("t");
  const auto tag = tag_of(table("t"));
  const auto path = metadata_location(table("t"));
  std::filesystem::rename(path, path + ".away");
  for (const std::string& sent :
       {tag, "W/" + tag, "\"x\", " + tag, "\"x\",W/" + tag + ",\"y\"", "  " + tag + "  ",
        tag.substr(1, tag.size() - 2), std::string("*")}) {
    const auto answer = load_if_none(table("t"), sent);
    EXPECT_THAT(answer, HasStatus(304)) << sent;
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.header("etag"), tag);
  }
  EXPECT_THAT(load_if_none(table("t"), "\"x\""),
              IsError(404, "NotFoundException", HasSubstr(path)));
  std::filesystem::rename(path + ".away", path);
}

TEST_F(Tags, ThatNobodyGaveAreNoMatch) {
  create_table("t");
  const auto tag = tag_of(table("t"));
  for (const std::string& sent :
       {std::string("\"\""), std::string("\"x\""), tag.substr(0, tag.size() - 2) + "\"",
        std::string("W/"), std::string(","), std::string("\"*\"")}) {
    EXPECT_THAT(load_if_none(table("t"), sent), HasStatus(200)) << sent;
  }
  EXPECT_THAT(get(table("t")), HasStatus(200));
}

TEST_F(Tags, AreNotEnoughForATableThatIsNotThere) {
  create_table("t");
  const auto tag = tag_of(table("t"));
  EXPECT_THAT(del(table("t")), HasStatus(204));
  EXPECT_THAT(load_if_none(table("t"), tag), HasStatus(404));
  EXPECT_THAT(load_if_none(table("t"), "*"), HasStatus(404));
}

TEST_F(Tags, AreOthersForAnotherTableOnTheSamePath) {
  const auto location = write_metadata("v1.metadata.json", table_metadata('1'));
  register_table("ns", "t", location);
  const auto first = tag_of(table("t"));
  EXPECT_THAT(del(table("t")), HasStatus(204));
  write_metadata("v1.metadata.json", table_metadata('2'));
  register_table("ns", "t", location);
  EXPECT_NE(tag_of(table("t")), first);
  EXPECT_THAT(load_if_none(table("t"), first), HasStatus(200));
  EXPECT_THAT(del(table("t")), HasStatus(204));
  write_metadata("v1.metadata.json", table_metadata('1'));
  register_table("ns", "t", location);
  EXPECT_THAT(load_if_none(table("t"), first), HasStatus(304));
}

TEST_F(Tags, AreForgottenWithTheNextCommit) {
  create_table("t");
  const auto tag = tag_of(table("t"));
  EXPECT_THAT(update(table("t"), R"({"action":"set-properties","updates":{"a":"b"}})"),
              HasStatus(200));
  EXPECT_THAT(load_if_none(table("t"), tag), HasStatus(200));
}

TEST_F(Tags, GoWithATableThatIsRenamed) {
  create_table("t");
  const auto tag = tag_of(table("t"));
  EXPECT_THAT(rename("tables", in_ns("t"), in_ns("u")), HasStatus(204));
  EXPECT_THAT(load_if_none(table("u"), tag), HasStatus(304));
}

}  // namespace
}  // namespace iceblink::test
