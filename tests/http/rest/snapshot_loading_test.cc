// snapshots=refs: the snapshots that refs name, and no others, where histories have diverged.
#include <algorithm>

#include "tests/http/rest/rest_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

class SnapshotLoading : public RestTest {
 protected:
  std::vector<std::int64_t> snapshots(const std::string& query) {
    auto ids = ids_of(metadata_at(table("tbl") + query).at("snapshots"), "snapshot-id");
    std::sort(ids.begin(), ids.end());
    return ids;
  }
  /// main: 1, 2, 3; branch b, from 2 on: 4, 5; tag t: 2.
  void create_diverged() {
    auto base = create_table("tbl");
    base = commit_to("tbl", append(base, 1));
    base = commit_to("tbl", append(base, 2));
    base = commit_to("tbl", {{assert_ref("b", nullptr), assert_ref("t", nullptr)},
                             {set_branch("b", 2), set_tag("t", 2)}});
    base = commit_to("tbl", append(base, 3));
    base = commit_to("tbl", append(base, 4, "b"));
    commit_to("tbl", append(base, 5, "b"));
  }
};

TEST_F(SnapshotLoading, GivesAllByDefault) {
  create_diverged();
  EXPECT_THAT(snapshots(""), ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(snapshots("?snapshots=all"), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(SnapshotLoading, GivesThoseOfAllBranchesAndTags) {
  create_diverged();
  EXPECT_THAT(snapshots("?snapshots=refs"), ElementsAre(2, 3, 5));
}

TEST_F(SnapshotLoading, GivesTheRestOfTheMetadataAsItIs) {
  create_diverged();
  auto all = load("tbl").as_object();
  auto refs = metadata_at(table("tbl") + "?snapshots=refs").as_object();
  for (const auto& snapshot : refs.at("snapshots").as_array()) {
    EXPECT_EQ(snapshot,
              with_id(all.at("snapshots"), "snapshot-id", snapshot.at("snapshot-id").as_int64()));
  }
  for (const char* member : {"snapshots", "snapshot-log"}) {
    all.erase(member);
    refs.erase(member);
  }
  EXPECT_EQ(refs, all);
}

TEST_F(SnapshotLoading, HasNoneWhereThereIsNoRef) {
  create_table("tbl");
  EXPECT_THAT(snapshots("?snapshots=refs"), IsEmpty());
}

TEST_F(SnapshotLoading, FollowsTheRefs) {
  create_diverged();
  commit_to("tbl", {{}, {remove_ref("b")}});
  EXPECT_THAT(snapshots("?snapshots=refs"), ElementsAre(2, 3));
  EXPECT_THAT(snapshots(""), ElementsAre(1, 2, 3, 4, 5));
}

TEST_F(SnapshotLoading, IsNotANewBaseForCommits) {
  create_diverged();
  const auto refs = metadata_at(table("tbl") + "?snapshots=refs");
  commit_to("tbl", append(refs, 6));
  EXPECT_THAT(snapshots(""), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST_F(SnapshotLoading, RefusesOtherWords) {
  create_table("tbl");
  EXPECT_THAT(get(table("tbl") + "?snapshots=some"),
              IsError(400, "IllegalArgumentException", Not(IsEmpty())));
}

}  // namespace
}  // namespace iceblink::test
