// Imports from JSON lines, which show what all imports do; and exports.
#include <atomic>
#include <thread>

#include "tests/client/fake_daemon.h"
#include "tests/moves/moves_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class JsonLines : public ::testing::Test {
 protected:
  Finished import(const std::string& lines, std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"import", "jsonl", folder_.put("lines.jsonl", lines)});
    return place_.run(arguments);
  }

  Folder folder_;
  Place place_;
};

TEST_F(JsonLines, CreatesWhatIsMissingAndSkipsWhatIsThere) {
  const std::string lines = R"({"kind":"namespace","namespace":["a"],"properties":{"k":"v"}})"
                            "\n\n" +
                            table_line("t", "s3://t") +
                            R"({"namespace":["b","c"],"name":"u","metadata-location":"s3://u"})";
  const Finished first = import(lines, {"--unverified"});
  EXPECT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(first.out,
            "2 read, 2 created, 0 moved, 0 skipped, 0 conflicts, 0 failed; 3 namespaces created\n");
  EXPECT_EQ(place_.tables(), "a.t\nb.c.u\n");
  EXPECT_THAT(place_.exported()[0], HasSubstr(R"("properties":{"k":"v"})"));
  const auto generation = place_.world.open().generation();
  EXPECT_EQ(import(lines, {"--unverified"}).out,
            "2 read, 0 created, 0 moved, 2 skipped, 0 conflicts, 0 failed; 0 namespaces created\n");
  EXPECT_EQ(*place_.world.open().generation(), *generation) << "nothing was written";
}

TEST_F(JsonLines, ANamespaceThatComesAfterItsTableStillGetsItsProperties) {
  const std::string lines = "\xef\xbb\xbf" + table_line("t", "s3://t") + table_line("u", "s3://u") +
                            R"({"kind":"namespace","namespace":["a"],"properties":{"k":"v"}})";
  const Finished finished = import(lines, {"--unverified", "--batch", "1"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_THAT(place_.exported()[0], HasSubstr(R"("properties":{"k":"v"})"));
  const std::string other = R"({"kind":"namespace","namespace":["a"],"properties":{"k":"w"}})";
  EXPECT_EQ(import(other).exit_code, 0);
  EXPECT_THAT(place_.exported()[0], HasSubstr(R"("properties":{"k":"v"})")) << "it was there";
}

TEST_F(JsonLines, NamespacesAloneComeInBatchesToo) {
  std::string lines;
  for (int i = 0; i < 25; ++i) {
    lines += R"({"kind":"namespace","namespace":["n)" + std::to_string(i) + "\"]}\n";
  }
  const auto before = place_.world.open().generation();
  EXPECT_EQ(import(lines, {"--batch", "10"}).exit_code, 0);
  EXPECT_EQ(*place_.world.open().generation(), *before + 3);
}

// Standard input stays open: whoever reads it is not waited for.
TEST_F(JsonLines, EndsAtAnErrorWhileItsInputWaits) {
  Program importing(
      "iceblink", {"--dir", place_.world.runtime_dir(), "import", "jsonl", "-", "--stop-on-error"});
  importing.say("no JSON\n");
  while (!importing.error_line().empty()) {
  }
  EXPECT_EQ(importing.wait().exit_code, 5);
}

TEST_F(JsonLines, LeavesATableThatIsElsewhereUnlessItIsToldToMoveIt) {
  ASSERT_EQ(import(table_line("t", "s3://old"), {"--unverified"}).exit_code, 0);
  const Finished conflict =
      import(table_line("t", "s3://new") + table_line("u", "s3://u"), {"--unverified"});
  EXPECT_EQ(conflict.exit_code, 4);
  EXPECT_EQ(conflict.err, "iceblink: conflict: table a.t is at s3://old, and not at s3://new\n");
  EXPECT_THAT(conflict.out, StartsWith("2 read, 1 created, 0 moved, 0 skipped, 1 conflicts"));
  EXPECT_EQ(place_.location_of("a.t"), "s3://old");
  const Finished moved = import(table_line("t", "s3://new"), {"--unverified", "--overwrite"});
  EXPECT_EQ(moved.exit_code, 0) << moved.err;
  EXPECT_THAT(moved.out, StartsWith("1 read, 0 created, 1 moved"));
  EXPECT_EQ(place_.location_of("a.t"), "s3://new");
}

TEST_F(JsonLines, ADryRunSaysWhatWouldBeDoneAndChangesNothing) {
  ASSERT_EQ(import(table_line("t", "s3://t"), {"--unverified"}).exit_code, 0);
  const auto generation = place_.world.open().generation();
  const Finished dry = import(table_line("t", "s3://x") + table_line("u", "s3://u") +
                                  R"({"namespace":["n"],"name":"v","metadata-location":"s3://v"})",
                              {"--dry-run", "--overwrite"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_EQ(dry.out,
            "move table a.t s3://x\ncreate table a.u s3://u\ncreate namespace n\n"
            "create table n.v s3://v\n"
            "dry run: 3 read, 2 created, 1 moved, 0 skipped, 0 conflicts, 0 failed; "
            "1 namespaces created\n");
  EXPECT_EQ(*place_.world.open().generation(), *generation);
}

TEST_F(JsonLines, WhatFailsFailsAloneAndTheOthersAreThere) {
  const std::string good = folder_.put("good.metadata.json", table_metadata());
  std::string lines;
  for (int i = 0; i < 100; ++i) {
    const bool is_bad = i % 7 == 3;
    lines += table_line("t" + std::to_string(i), is_bad ? "/nowhere/" + std::to_string(i) : good);
  }
  lines += "{]\n" + table_line("", good) +
           R"({"kind":"thing"})"
           "\n" +
           table_line("v", folder_.put("v.metadata.json", view_metadata()));
  const Finished finished = import(lines);
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_THAT(finished.out, StartsWith("104 read, 86 created, 0 moved, 0 skipped, 0 conflicts, "
                                       "18 failed"));
  for (const char* expected :
       {"lines.jsonl: line 101: is not JSON", "lines.jsonl: line 103: 'kind' is 'thing'",
        "table a.t3: Failed to open input stream for file: /nowhere/3", "table a.v: "}) {
    EXPECT_THAT(finished.err, HasSubstr(expected));
  }
  EXPECT_EQ(std::count(finished.err.begin(), finished.err.end(), '\n'), 18);
  const std::string tables = place_.tables();
  EXPECT_EQ(std::count(tables.begin(), tables.end(), '\n'), 86);
  EXPECT_THAT(place_.exported()[1], HasSubstr("metadata-fingerprint"));
}

TEST_F(JsonLines, AWrongLineIsToldByItsNumberAndWhatIsWrong) {
  const std::pair<std::string, std::string> wrong[] = {
      {"[1]", "is not a JSON object"},
      {R"({"kind":1})", "'kind' is missing or not a string"},
      {R"({"namespace":"a","name":"t","metadata-location":"s3://t"})",
       "'namespace' is missing or not a list of strings"},
      {R"({"namespace":[1],"name":"t","metadata-location":"s3://t"})",
       "'namespace' is missing or not a list of strings"},
      {R"({"namespace":["a"],"metadata-location":"s3://t"})", "'name' is missing or not a string"},
      {R"({"namespace":["a"],"name":"t","metadata-location":null})",
       "'metadata-location' is missing or not a string"},
      {R"({"namespace":["a"],"name":"t","metadata-location":"s3://t","unverified":1})",
       "'unverified' is missing or not true or false"},
      {R"({"kind":"namespace"})", "'namespace' is missing or not a list of strings"},
      {R"({"kind":"namespace","namespace":["a"],"properties":[]})",
       "'properties' is missing or not an object of strings"},
      {R"({"kind":"namespace","namespace":["a"],"properties":{"k":1}})",
       "'properties' is missing or not an object of strings"},
      {R"({"x":")" + std::string(std::size_t{8} << 20, 'x') + R"("})", "longer than 8388608 bytes"},
      {R"({"kind":"namespace","namespace":["a",""]})", "namespace a."},
  };
  std::string lines;
  for (const auto& [line, message] : wrong) lines += line + "\n";
  lines += R"({"kind":"namespace","namespace":[]})"
           "\n" +
           table_line("t", "s3://t");
  const Finished finished = import(lines, {"--unverified"});
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_THAT(finished.out, HasSubstr("1 created"));
  EXPECT_THAT(finished.out, HasSubstr("12 failed"));
  int number = 0;
  for (const auto& [line, message] : wrong) {
    ++number;
    EXPECT_THAT(finished.err, HasSubstr(message));
    if (message.starts_with("namespace")) continue;  // a line that was understood
    EXPECT_THAT(finished.err, HasSubstr("line " + std::to_string(number) + ": " + message));
  }
  EXPECT_EQ(place_.tables(), "a.t\n");
}

TEST_F(JsonLines, ADryRunAndItsCountsAreJsonWhereThatIsAsked) {
  const std::string lines = table_line("t", "s3://t") +
                            R"({"kind":"view","namespace":["a"],"name":"v",)"
                            R"("metadata-location":"s3://v"})";
  const auto dry = [&] {
    return place_.run({"--json", "import", "jsonl", folder_.put("lines.jsonl", lines),
                       "--unverified", "--dry-run"});
  };
  const Finished planned = dry();
  EXPECT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(planned.out,
            R"({"op":"create","kind":"namespace","namespace":["a"]})"
            "\n"
            R"({"op":"create","kind":"table","namespace":["a"],"name":"t",)"
            R"("metadata-location":"s3://t"})"
            "\n"
            R"({"op":"create","kind":"view","namespace":["a"],"name":"v",)"
            R"("metadata-location":"s3://v"})"
            "\n"
            R"({"dry-run":true,"read":2,"created":2,"moved":0,"skipped":0,"conflicts":0,)"
            R"("failed":0,"namespaces-created":1})"
            "\n");
}

TEST_F(JsonLines, ATableAndAViewOfOneNameAreAConflict) {
  const std::string view = R"({"kind":"view","namespace":["a"],"name":"t",)"
                           R"("metadata-location":"s3://v"})";
  ASSERT_EQ(import(table_line("t", "s3://t") + view + "\n", {"--unverified"}).exit_code, 4);
  const Finished again = import(view, {"--unverified"});
  EXPECT_EQ(again.exit_code, 4);
  EXPECT_THAT(again.err, HasSubstr("a.t a table has that name"));
  EXPECT_EQ(place_.tables(), "a.t\n");
}

TEST_F(JsonLines, StopsAtTheFirstFailureWhereThatIsWanted) {
  const Finished finished =
      import(table_line("t", "/nowhere") + table_line("u", "s3://u", R"(,"unverified":true)"),
             {"--stop-on-error", "--batch", "1"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(place_.tables(), "");
}

TEST_F(JsonLines, GoesBelowANamespace) {
  const Finished finished =
      import(table_line("t", "s3://t"), {"--unverified", "--namespace", "x.y"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(place_.tables(), "x.y.a.t\n");
}

TEST_F(JsonLines, TheSameNameTwiceIsJudgedByWhatCameFirst) {
  const Finished finished =
      import(table_line("t", "s3://1") + table_line("t", "s3://1") + table_line("t", "s3://2"),
             {"--unverified"});
  EXPECT_EQ(finished.exit_code, 4);
  EXPECT_THAT(finished.out, StartsWith("3 read, 1 created, 0 moved, 1 skipped, 1 conflicts"));
  EXPECT_EQ(place_.location_of("a.t"), "s3://1");
  const Finished dry =
      import(table_line("u", "s3://1") + table_line("u", "s3://1") + table_line("u", "s3://2"),
             {"--unverified", "--dry-run"});
  EXPECT_THAT(dry.out, HasSubstr("3 read, 1 created, 0 moved, 1 skipped, 1 conflicts"));
}

TEST_F(JsonLines, WhatIsExportedAndImportedElsewhereIsExportedTheSame) {
  const std::string table = folder_.put("t.metadata.json", table_metadata());
  const std::string view = folder_.put("v.metadata.json", view_metadata());
  const Finished in =
      import(R"({"kind":"namespace","namespace":["a","b.c"],"properties":{"ü":"\"x\""}})"
             "\n" +
             table_line("t", table) + table_line("s3", "s3://far", R"(,"unverified":true)") +
             R"({"kind":"view","namespace":["a"],"name":"v","metadata-location":")" + view + "\"}");
  ASSERT_EQ(in.exit_code, 0) << in.err;
  const std::string file = folder_ / "export.jsonl";
  const Finished out = place_.run({"export", "--output", file});
  EXPECT_THAT(out.out, StartsWith("exported 3 tables and views of generation "));
  Place other;
  const Finished again = other.run({"import", "jsonl", file});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(other.exported(), place_.exported());
  EXPECT_EQ(place_.exported().size(), 5);
  EXPECT_EQ(place_.run({"export", "--namespace", "a.\"b.c\""}).exit_code, 0);
  EXPECT_EQ(place_.run({"export", "--namespace", "b"}).exit_code, 1);
}

TEST_F(JsonLines, AnExportNeedsTheDaemonForPropertiesOnly) {
  ASSERT_EQ(import(table_line("t", "s3://t"), {"--unverified"}).exit_code, 0);
  EXPECT_EQ(place_.world.stop_daemon(), 0);
  const std::string file = folder_ / "export.jsonl";
  EXPECT_EQ(place_.run({"export", "--output", file}).exit_code, 3);
  EXPECT_FALSE(std::filesystem::exists(file)) << "no half of it";
  EXPECT_EQ(place_.run({"export", "--output", file, "--without-properties"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(JsonLines, AnExportOfAnotherFormatIsRefused) {
  const Finished finished = import(R"({"iceblink-export":2})"
                                   "\n" +
                                   table_line("t", "s3://t"));
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_THAT(finished.err, HasSubstr("another format"));
}

TEST_F(JsonLines, WaitsForADaemonThatIsAwayAndThenGivesUp) {
  EXPECT_EQ(place_.world.stop_daemon(), 0);
  EXPECT_EQ(import(table_line("t", "s3://t"), {"--unverified", "--wait", "0"}).exit_code, 3);
  Program waiting("iceblink", {"--dir", place_.world.runtime_dir(), "import", "jsonl",
                               folder_.put("lines.jsonl", table_line("t", "s3://t")),
                               "--unverified", "--wait", "60"});
  ASSERT_TRUE(place_.world.start());
  EXPECT_EQ(waiting.wait().exit_code, 0);
  EXPECT_EQ(place_.location_of("a.t"), "s3://t");
}

// The first answer is lost after the batch was done; then the daemon is what it always was.
TEST_F(JsonLines, ALostAnswerIsMadeUpForByLooking) {
  const std::string socket = place_.world.runtime_dir() + "/catalog.sock";
  const std::string real = place_.world.runtime_dir() + "/real.sock";
  std::filesystem::rename(socket, real);
  std::atomic<int> batches{0};
  std::string out;
  {
    testing::FakeDaemon between(socket, [&](testing::FakePeer& peer) {
      while (true) {
        const std::string request = peer.receive();
        if (request.empty()) return;
        HttpClient daemon = HttpClient::to_unix(real);
        daemon.send(request);
        const auto answer = daemon.receive();
        if (batches++ == 0) return;  // closed without an answer
        peer.answer(answer->status, answer->body);
      }
    });
    const Finished finished =
        import(table_line("t", "s3://t") + table_line("u", "s3://u"), {"--unverified"});
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    out = finished.out;
  }
  std::filesystem::rename(real, socket);
  EXPECT_THAT(out, StartsWith("2 read, 2 created, 0 moved, 0 skipped, 0 conflicts, 0 failed"));
  EXPECT_EQ(batches, 1) << "all of it was found to be there";
  EXPECT_EQ(place_.tables(), "a.t\na.u\n");
}

}  // namespace
}  // namespace iceblink::test
