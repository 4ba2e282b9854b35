// verify: segment, store and files against each other.
#include <atomic>
#include <filesystem>
#include <thread>

#include "tests/client/cache/metadata_files.h"
#include "tests/client/cli_fixture.h"
#include "tests/client/fake_daemon.h"

namespace iceblink::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class VerifyCommand : public CommandLineWithDaemon {
 protected:
  std::string path(const std::string& file) const { return data_.path() + "/files-" + file; }
  /// Tables a.t0 to a.t2 over files of their own.
  void make_tables() {
    ASSERT_EQ(code({"create-namespace", "a"}), 0);
    for (int i = 0; i < 3; ++i) {
      const std::string name = "t" + std::to_string(i);
      put_file(path(name), numbered_metadata(static_cast<std::uint64_t>(i)));
      ASSERT_EQ(code({"register", "a." + name, path(name)}), 0);
    }
  }
  boost::json::object report(std::vector<std::string> more = {}) {
    more.insert(more.begin(), {"verify", "--json"});
    return json_of(in_dir(more));
  }
};

TEST_F(VerifyCommand, FindsNoDifferenceWhereThereIsNone) {
  make_tables();
  ASSERT_EQ(code({"register", "a.far", "s3://b/x", "--unverified"}), 0);
  const Finished text = in_dir({"verify"});
  EXPECT_EQ(text.exit_code, 0) << text.out << text.err;
  EXPECT_THAT(text.out, HasSubstr("store    5 objects compared\n"));
  EXPECT_THAT(text.out, HasSubstr("files    3 read, 1 registered unverified, 0 of other schemes"));
  EXPECT_EQ(text.err, "");
  const auto document = report();
  EXPECT_EQ(document.at("sound"), true);
  EXPECT_EQ(document.at("store").at("compared"), true);
  EXPECT_EQ(document.at("store").at("objects"), 5);
  EXPECT_EQ(document.at("files").at("read"), 3);
  EXPECT_TRUE(document.at("problems").as_array().empty());
}

TEST_F(VerifyCommand, NamesFilesThatAreGoneOrOtherThanRegistered) {
  make_tables();
  std::filesystem::remove(path("t0"));
  put_file(path("t1"), numbered_metadata(7));
  const Finished found = in_dir({"verify"});
  EXPECT_EQ(found.exit_code, 5);
  EXPECT_THAT(found.out, HasSubstr("a.t0: " + path("t0") + ": is not there\n"));
  EXPECT_THAT(found.out, HasSubstr("a.t1: " + path("t1") + ": is not what was registered"));
  EXPECT_THAT(found.out, Not(HasSubstr("a.t2")));
  EXPECT_THAT(found.out, HasSubstr("differences: 2\n"));
  EXPECT_EQ(report().at("problem-count"), 2);
  EXPECT_EQ(code({"verify", "--no-files"}), 0);
  EXPECT_FALSE(report({"--no-files"}).contains("files"));
}

TEST_F(VerifyCommand, WithoutADaemonComparesTheRestAndSaysSo) {
  make_tables();
  stop();
  const Finished partly = in_dir({"verify"});
  EXPECT_EQ(partly.exit_code, 3);
  EXPECT_THAT(partly.out, HasSubstr("store    0 objects compared; not all: "));
  EXPECT_THAT(partly.out, HasSubstr("files    3 read"));
  EXPECT_EQ(report().at("store").at("compared"), false);
  EXPECT_EQ(code({"verify", "--segment-only"}), 0);
  EXPECT_FALSE(report({"--segment-only"}).contains("store"));
  std::filesystem::remove(path("t0"));
  EXPECT_EQ(code({"verify"}), 5) << "a difference says more";
}

TEST_F(VerifyCommand, CommitsThatGoOnAreNoDifference) {
  make_tables();
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    auto catalog = Catalog::open(runtime_.path());
    ASSERT_OK(catalog);
    for (int i = 0; !is_over; ++i) {
      const auto name = ident({"a"}, "w" + std::to_string(i % 7));
      const auto moved = ident({"a"}, "m" + std::to_string(i % 7));
      const RegisterOptions overwrite{.if_exists = RegisterOptions::IfExists::kOverwrite};
      static_cast<void>(
          catalog->register_table(name, path("t" + std::to_string(i % 3)), overwrite));
      if (i % 3 == 0) static_cast<void>(catalog->rename_table(name, moved));
      if (i % 5 == 0) static_cast<void>(catalog->drop_table(moved));
    }
  });
  for (int i = 0; i < 10; ++i) {
    const Finished found = in_dir({"verify"});
    EXPECT_EQ(found.exit_code, 0) << found.out << found.err;
  }
  is_over = true;
  writer.join();
}

/// A segment from memory, and a daemon that tells other rows than it has.
class VerifyAgainstRows : public CommandLine {
 protected:
  /// What verify finds when the store tells these objects, and its exit code.
  Finished verify(const std::string& objects, const std::string& next = "null") {
    const FakeDaemon daemon(dir_.path() + "/catalog.sock", [&](FakePeer& peer) {
      while (!peer.receive().empty()) {
        peer.answer(200, R"({"generation":)" + std::to_string(store_.generation()) +
                             R"(,"incarnation":"0000000000000001","objects":[)" + objects +
                             R"(],"next":)" + next + "}");
      }
    });
    return in_dir({"verify"});
  }
  static std::string space() { return R"({"kind":"namespace","namespace":["a"],"generation":2})"; }
  static std::string table(const std::string& name, const std::string& more) {
    return R"(,{"kind":"table","namespace":["a"],"name":")" + name + "\"," + more + "}";
  }
};

TEST_F(VerifyAgainstRows, EachDifferenceIsNamed) {
  commit_tables(2);
  const std::string t0 = table("t0", R"("metadata-location":"s3://t0","generation":2)");
  const std::string t1 = table("t1", R"("metadata-location":"s3://t1","generation":2)");
  const Finished same = verify(space() + t0 + t1);
  EXPECT_EQ(same.exit_code, 0) << same.out;
  const std::vector<std::pair<std::string, std::string>> differences = {
      {space() + t0, "a.t1: is in the segment and not in the store\n"},
      {space() + t0 + t1 + table("t2", R"("metadata-location":"s3://t2","generation":2)"),
       "a.t2: is in the store and not in the segment\n"},
      {space() + t0 + table("t1", R"("metadata-location":"s3://other","generation":2)"),
       "a.t1: metadata location: the store has s3://other, the segment s3://t1\n"},
      {space() + t0 + table("t1", R"("metadata-location":"s3://t1","generation":1)"),
       "a.t1: generation of the last change: the store has 1, the segment 2\n"},
      {space() + t0 +
           table("t1", R"("metadata-location":"s3://t1","generation":2,"format-version":2)"),
       "a.t1: format version: the store has 2, the segment 0\n"},
      {space() + t0 +
           table("t1", R"("metadata-location":"s3://t1","generation":2,)"
                       R"("table-uuid":"00000000-0000-4000-8000-000000000001")"),
       "a.t1: table uuid: the store has 00000000-0000-4000-8000-000000000001"},
      {space() + t0 +
           table("t1", R"("metadata-location":"s3://t1","generation":2,)"
                       R"("metadata-fingerprint":"00000000000000000000000000000001")"),
       "a.t1: metadata fingerprint: the store has"},
      {space() + t0 + R"(,{"kind":"view","namespace":["a"],"name":"t1","generation":2})",
       "a.t1: kind: the store has a view, the segment a table\n"},
      {t0.substr(1) + t1, "a: is in the segment and not in the store\n"},
  };
  for (const auto& [objects, line] : differences) {
    const Finished found = verify(objects);
    EXPECT_EQ(found.exit_code, 5) << line << found.out;
    EXPECT_THAT(found.out, HasSubstr(line));
    EXPECT_THAT(found.out, HasSubstr("differences: 1\n"));
  }
}

TEST_F(VerifyAgainstRows, PagesThatDoNotGoOnEnd) {
  commit_tables(1);
  for (const auto& objects : {std::string(), space()}) {
    const Finished found = verify(objects, R"("n61")");
    EXPECT_EQ(found.exit_code, 70);
    EXPECT_THAT(found.out, HasSubstr("not all: the daemon's pages do not go on"));
  }
}

TEST_F(VerifyAgainstRows, WhatIsNoPageIsAnErrorOfTheStoreAlone) {
  commit_tables(1);
  const Finished found = verify(R"({"kind":1})");
  EXPECT_EQ(found.exit_code, 70);
  EXPECT_THAT(found.out, HasSubstr("not all: GET /iceblink/v1/objects: "));
}

}  // namespace
}  // namespace iceblink::testing
