// Imports from a folder of tables.
#include <sys/stat.h>
#include <unistd.h>

#include "tests/moves/moves_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class FolderOfTables : public ::testing::Test {
 protected:
  Finished import(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"import", "folder", folder_.path()});
    return place_.run(arguments);
  }

  Folder folder_;
  Place place_;
};

TEST_F(FolderOfTables, TakesTheNewestMetadataOfEach) {
  folder_.put("a.db/by_number/metadata/00009-x.metadata.json", table_metadata());
  const auto ten = folder_.put("a.db/by_number/metadata/00010-x.metadata.json", table_metadata());
  folder_.put("a.db/by_number/metadata/snap-1.avro", "");
  folder_.put("a.db/hadoop/metadata/v9.metadata.json", table_metadata());
  folder_.put("a.db/hadoop/metadata/v10.gz.metadata.json", gzipped(table_metadata()));
  const auto hinted = folder_.put("a.db/hinted/metadata/v1.metadata.json", table_metadata());
  folder_.put("a.db/hinted/metadata/v2.metadata.json", table_metadata());
  folder_.put("a.db/hinted/metadata/version-hint.text", "1\n");
  const auto unhinted = folder_.put("a.db/bad_hint/metadata/v2.metadata.json", table_metadata());
  folder_.put("a.db/bad_hint/metadata/version-hint.text", "7");
  folder_.put("a.db/equal/metadata/00001-b.metadata.json", table_of_time("1700000000001"));
  const auto later =
      folder_.put("a.db/equal/metadata/00001-a.metadata.json", table_of_time("1700000000002"));
  const auto inner =
      folder_.put("a.db/c/t/metadata/00000-x.metadata.json.gz", gzipped(table_metadata()));
  const Finished finished = import();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(finished.out, StartsWith("6 read, 6 created"));
  EXPECT_EQ(place_.location_of("a.by_number"), ten);
  EXPECT_THAT(place_.location_of("a.hadoop"), HasSubstr("v10.gz.metadata.json"));
  EXPECT_EQ(place_.location_of("a.hinted"), hinted);
  EXPECT_EQ(place_.location_of("a.bad_hint"), unhinted);
  EXPECT_EQ(place_.location_of("a.equal"), later);
  EXPECT_EQ(place_.location_of("a.c.t"), inner);
}

TEST_F(FolderOfTables, TellsViewsFromTablesAndKeepsSuffixesWhereItIsTold) {
  folder_.put("n.db/v/metadata/00000-x.metadata.json", view_metadata());
  folder_.put("n.db/t/metadata/00000-x.metadata.json", table_metadata());
  EXPECT_EQ(import({"--keep-db-suffix"}).exit_code, 0);
  EXPECT_EQ(place_.tables(), "\"n.db\".t\n");
  EXPECT_THAT(place_.exported()[2], HasSubstr(R"("kind":"view")"));
}

TEST_F(FolderOfTables, TablesInTablesAreTakenAndDataIsNotWalked) {
  folder_.put("a/t/metadata/v1.metadata.json", table_metadata());
  folder_.put("a/t/u/metadata/v1.metadata.json", table_metadata());
  folder_.put("a/t/data/w/metadata/v1.metadata.json", table_metadata());
  folder_.put("a/t/day=1/w/metadata/v1.metadata.json", table_metadata());
  folder_.put("a/.trash/w/metadata/v1.metadata.json", table_metadata());
  EXPECT_EQ(import().exit_code, 0);
  EXPECT_EQ(place_.tables(), "a.t\na.t.u\n");
}

TEST_F(FolderOfTables, AHintThatIsNoFileIsNone) {
  for (const char* name : {"pipe", "endless", "long"}) {
    folder_.put("a/" + std::string(name) + "/metadata/v1.metadata.json", table_metadata());
  }
  ASSERT_EQ(::mkfifo((folder_ / "a/pipe/metadata/version-hint.text").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", folder_ / "a/endless/metadata/version-hint.text");
  folder_.put("a/long/metadata/version-hint.text", std::string(1 << 20, ' ') + "1");
  const Finished finished = import();
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(place_.tables(), "a.endless\na.long\na.pipe\n");
}

TEST_F(FolderOfTables, LinksThatLoopEnd) {
  folder_.put("a/t/metadata/v1.metadata.json", table_metadata());
  std::filesystem::create_directory_symlink(folder_.path(), folder_ / "a/up");
  std::filesystem::create_directory_symlink(folder_ / "a", folder_ / "b");
  EXPECT_EQ(import().exit_code, 0);
  EXPECT_EQ(place_.tables(), "a.t\n");
}

TEST_F(FolderOfTables, WhatCannotBeReadIsSaidAndPassedOver) {
  folder_.put("a/t/metadata/v1.metadata.json", table_metadata());
  folder_.put("a/broken/metadata/v1.metadata.json", "{}");
  const Finished finished = import();
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_THAT(finished.err, HasSubstr("a/broken/metadata/v1.metadata.json: "));
  EXPECT_EQ(place_.tables(), "a.t\n");
  const Finished itself = place_.run({"import", "folder", folder_ / "a/t"});
  EXPECT_EQ(itself.exit_code, 5);
  EXPECT_THAT(itself.err, HasSubstr("is a table itself"));
  EXPECT_EQ(place_.run({"import", "folder", folder_ / "nowhere"}).exit_code, 1);
}

}  // namespace
}  // namespace iceblink::test
