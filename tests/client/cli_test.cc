// The program: exit codes and output, without a daemon and with one.
#include <cstdlib>
#include <fstream>

#include "tests/client/cli_fixture.h"

namespace iceblink::testing {
namespace {

using ::testing::HasSubstr;

/// One line, which begins with the program's name.
MATCHER(IsOneErrorLine, "") {
  return arg.starts_with("iceblink: ") && std::count(arg.begin(), arg.end(), '\n') == 1 &&
         arg.back() == '\n';
}

// ---- Without a daemon: the segment is made from memory.

TEST_F(CommandLine, ExistsAndResolveNeedNoDaemon) {
  commit_tables(1);
  store_.stop();
  EXPECT_EQ(in_dir({"exists", "a.t0"}).exit_code, 0);
  EXPECT_EQ(in_dir({"exists", "a.t1"}).exit_code, 1);
  EXPECT_EQ(in_dir({"resolve", "a.t0"}).out, "s3://t0\n");
  const Finished missing = in_dir({"resolve", "a.t1"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(missing.err, "iceblink: Table does not exist: a.t1\n");
  EXPECT_EQ(missing.out, "");
}

TEST_F(CommandLine, OptionsStandBeforeOrAfterTheCommand) {
  commit_tables(1);
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--dir", dir_.path(), "--json", "exists", "a.t0"},
                                             {"exists", "a.t0", "--dir", dir_.path(), "--json"},
                                             {"--json", "exists", "--dir", dir_.path(), "a.t0"}}) {
    const Finished finished = run(arguments);
    EXPECT_EQ(finished.exit_code, 0);
    EXPECT_EQ(finished.out, "{\"exists\":true}\n");
  }
}

TEST_F(CommandLine, TakesLocationPrefixesAndRefusesWhatIsNone) {
  commit_tables(1);
  const Finished finished = in_dir({"--location-prefix", "s3://t0=/mnt", "resolve",
                                    "--location-prefix", "s3://b/day=1=/mnt/b", "a.t0"});
  EXPECT_EQ(finished.out, "s3://t0\n") << "what is stored stays as it is";
  for (const std::string bad : {"s3://t0", "s3://t0=", "=/mnt", "/a=b"}) {
    const Finished refused = in_dir({"--location-prefix=" + bad, "exists", "a.t0"});
    EXPECT_EQ(refused.exit_code, 2) << bad;
    EXPECT_THAT(refused.err, IsOneErrorLine());
    EXPECT_THAT(refused.err, HasSubstr("--location-prefix"));
  }
  const Finished twice =
      in_dir({"--location-prefix", "/a=/b", "--location-prefix", "/a/=/c", "exists", "a.t0"});
  EXPECT_NE(twice.exit_code, 0);
  EXPECT_THAT(twice.err, HasSubstr("one of two"));
}

TEST_F(CommandLine, TheDirectoryComesFromTheEnvironment) {
  commit_tables(1);
  ::setenv("ICEBLINK_DIR", dir_.path().c_str(), 1);
  EXPECT_EQ(run({"exists", "a.t0"}).exit_code, 0);
  EXPECT_EQ(run({"exists", "a.t0", "--dir", "/nonexistent"}).exit_code, 3);
  ::unsetenv("ICEBLINK_DIR");
}

TEST_F(CommandLine, WithoutASegmentSaysSo) {
  store_.stop();
  std::filesystem::remove(dir_.path() + "/control");
  for (const char* command : {"exists", "resolve", "drop"}) {
    const Finished finished = in_dir({command, "a.t"});
    EXPECT_EQ(finished.exit_code, 3) << command;
    EXPECT_THAT(finished.err, IsOneErrorLine());
    EXPECT_THAT(finished.err, HasSubstr(dir_.path()));
  }
  EXPECT_EQ(in_dir({"verify"}).exit_code, 3);
}

TEST_F(CommandLine, ADirectoryThatIsNoneIsNotTakenForDamage) {
  commit_tables(1);
  const std::string file = dir_.path() + "/control";
  for (const char* command : {"tables", "verify"}) {
    EXPECT_EQ(run({"--dir", file, command}).exit_code, 3) << command;
    EXPECT_EQ(run({"--dir", "", command}).exit_code, 2) << command;
  }
}

TEST_F(CommandLine, NamesWithControlCharactersStayOnOneLine) {
  store_.put_namespace({"a"});
  store_.put_table({{"a"}, "x\ngold"}, "s3://x");
  ASSERT_TRUE(store_.commit().ok());
  const Finished text = in_dir({"tables", "a"});
  EXPECT_THAT(text.out, HasSubstr("x\\x0agold\n"));
  EXPECT_EQ(std::count(text.out.begin(), text.out.end(), '\n'), 1);
  const Finished json = in_dir({"--json", "tables", "a"});
  EXPECT_EQ(std::count(json.out.begin(), json.out.end(), '\n'), 1);
  EXPECT_FALSE(json_of(json).empty());
}

TEST_F(CommandLine, ALocationThatIsDamagedIsAnErrorAndNoBrokenJson) {
  store_.put_namespace({"a"});
  store_.put_table({{"a"}, "t"}, "\xff://bucket/x");
  ASSERT_TRUE(store_.commit().ok());
  const Finished resolved = in_dir({"--json", "resolve", "a.t"});
  EXPECT_EQ(resolved.exit_code, 5);
  EXPECT_EQ(resolved.out, "");
}

TEST_F(CommandLine, StatusAlwaysPrints) {
  commit_tables(3);
  const Finished dead = in_dir({"status", "--json"});
  EXPECT_EQ(dead.exit_code, 3);
  const auto document = json_of(dead);
  EXPECT_EQ(document.at("generation").to_number<std::uint64_t>(), store_.generation());
  EXPECT_EQ(document.at("epoch"), 1);
  EXPECT_EQ(document.at("tables"), 3);
  EXPECT_EQ(document.at("daemon").at("alive"), false);
  const auto first = dead.out.find("\"generation\"");
  EXPECT_EQ(dead.out.find("\"generation\"", first + 1), std::string::npos);
  const Finished nowhere = run({"status", "--json", "--dir", "/nonexistent"});
  EXPECT_EQ(nowhere.exit_code, 3);
  EXPECT_EQ(json_of(nowhere).at("daemon").at("alive"), false);
  EXPECT_NE(in_dir({"status"}).out, "");
}

TEST_F(CommandLine, UsageIsTwo) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"frobnicate"},
                                             {"exists"},
                                             {"exists", "a"},
                                             {"exists", "a.\"b"},
                                             {"exists", "a..b"},
                                             {"exists", "a.b", "c.d"},
                                             {"exists", "a.b", "--nix"},
                                             {"changes"},
                                             {"changes", "--since", "x"},
                                             {"watch", "--count", "-1"},
                                             {"register", "a.b"},
                                             {"register", "a.b", "s3://x", "--expect", "s3://y"},
                                             {"create-namespace", "a", "--property", "k"}}) {
    const Finished finished = in_dir(arguments);
    EXPECT_EQ(finished.exit_code, 2) << ::testing::PrintToString(arguments);
    EXPECT_THAT(finished.err, IsOneErrorLine()) << finished.err;
  }
}

TEST_F(CommandLine, HelpAndVersionAreFine) {
  EXPECT_EQ(run({"--version"}).out, "iceblink " ICEBLINK_VERSION "\n");
  EXPECT_THAT(run({"--help"}).out, HasSubstr("register"));
  EXPECT_EQ(run({"register", "--help"}).exit_code, 0);
}

TEST_F(CommandLine, ListsInBothForms) {
  store_.put_namespace({"a.b"});
  store_.put_namespace({"a.b", "status"});
  store_.put_table(ident({"a.b"}, "say \"hi\""), "s3://x");
  store_.put_table(ident({"a.b", "status"}, "t"), "s3://x");
  commit();
  EXPECT_EQ(in_dir({"namespaces"}).out, "\"a.b\"\n");
  EXPECT_EQ(in_dir({"namespaces", "\"a.b\""}).out, "\"a.b\".status\n");
  EXPECT_EQ(in_dir({"tables"}).out, "\"a.b\".\"say \"\"hi\"\"\"\n\"a.b\".status.t\n");
  EXPECT_EQ(in_dir({"tables", "\"a.b\".status"}).out, "\"a.b\".status.t\n");
  EXPECT_EQ(in_dir({"exists", "\"a.b\".\"say \"\"hi\"\"\""}).exit_code, 0);
  EXPECT_EQ(in_dir({"tables", "\"a.b\"", "--json"}).out,
            "{\"identifiers\":[{\"namespace\":[\"a.b\"],\"name\":\"say \\\"hi\\\"\"}]}\n");
  EXPECT_EQ(in_dir({"namespaces", "--json"}).out, "{\"namespaces\":[[\"a.b\"]]}\n");
  EXPECT_EQ(in_dir({"tables", "status"}).exit_code, 1);
}

TEST_F(CommandLine, VerifyFindsDamage) {
  commit_tables(5);
  EXPECT_EQ(in_dir({"verify", "--segment-only"}).exit_code, 0);
  std::fstream arena(dir_.path() + "/arena.1");
  std::string bytes{std::istreambuf_iterator<char>(arena), {}};
  const auto at = bytes.find("s3://t3");
  ASSERT_NE(at, std::string::npos);
  arena.seekp(static_cast<std::streamoff>(at)).put('X').flush();
  const Finished damaged = in_dir({"verify"});
  EXPECT_EQ(damaged.exit_code, 5);
  EXPECT_THAT(damaged.out, HasSubstr("arena.1"));
}

TEST_F(CommandLine, WatchPrintsChangesAsTheyCome) {
  commit_tables(1);
  Program watch("iceblink", {"watch", "--since", "1", "--count", "3", "--dir", dir_.path()});
  EXPECT_EQ(watch.line(), "2 put namespace a");
  EXPECT_EQ(watch.line(), "2 put table a.t0 s3://t0");
  store_.drop_table(ident({"a"}, "t0"));
  commit();
  const Finished finished = watch.wait();
  EXPECT_EQ(finished.out, "3 drop table a.t0\n");
  EXPECT_EQ(finished.exit_code, 0);
}

// ---- With the daemon.

TEST_F(CommandLineWithDaemon, StatusIsZeroWhileTheDaemonAnswers) {
  const Finished alive = in_dir({"status", "--json"});
  EXPECT_EQ(alive.exit_code, 0);
  const auto daemon = json_of(alive).at("daemon").get_object();
  EXPECT_EQ(daemon.at("alive"), true);
  EXPECT_EQ(daemon.at("pid"), daemon_->pid());
  EXPECT_TRUE(daemon.at("version").is_string());
  EXPECT_TRUE(daemon.at("since").is_string());
  stop();
  EXPECT_EQ(code({"status"}), 3);
}

TEST_F(CommandLineWithDaemon, EveryOutcomeHasItsExitCode) {
  EXPECT_EQ(code({"create-namespace", "a", "--property", "owner=me"}), 0);
  EXPECT_EQ(code({"create-namespace", "a"}), 4);
  EXPECT_EQ(code({"create-namespace", "x.y"}), 1);
  EXPECT_EQ(code({"register", "a.t", "s3://1", "--unverified"}), 0);
  EXPECT_EQ(code({"register", "a.t", "s3://2", "--unverified"}), 4);
  EXPECT_EQ(code({"register", "a.t", "s3://2", "--unverified", "--overwrite"}), 0);
  EXPECT_EQ(
      code({"register", "a.t", "s3://3", "--unverified", "--overwrite", "--expect", "s3://1"}), 4);
  EXPECT_EQ(
      code({"register", "a.t", "s3://3", "--unverified", "--overwrite", "--expect", "s3://2"}), 0);
  EXPECT_EQ(in_dir({"resolve", "a.t"}).out, "s3://3\n");
  EXPECT_EQ(code({"register", "a.u", "/nonexistent/v1.metadata.json"}), 1);
  EXPECT_EQ(code({"drop-namespace", "a"}), 4);
  EXPECT_EQ(code({"rename", "a.t", "a.\"t.2\""}), 0);
  EXPECT_EQ(code({"rename", "a.t", "a.u"}), 1);
  EXPECT_EQ(code({"exists", "a.\"t.2\""}), 0);
  EXPECT_EQ(code({"drop", "a.\"t.2\""}), 0);
  EXPECT_EQ(code({"drop", "a.\"t.2\""}), 1);
  EXPECT_EQ(code({"drop-namespace", "a"}), 0);
  EXPECT_EQ(code({"verify"}), 0);
  stop();
  const Finished refused = in_dir({"create-namespace", "b"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, IsOneErrorLine());
}

TEST_F(CommandLineWithDaemon, ApplyIsAllOrNothing) {
  const std::string good =
      R"({"op":"create-namespace","namespace":["ü x"]})"
      "\n"
      R"({"op":"register","namespace":["ü x"],"name":"+","metadata-location":"s3://q",)"
      R"("unverified":true})"
      "\n";
  Program apply("iceblink", {"apply", "-", "--dir", runtime_.path(), "--json"});
  apply.feed(good);
  const Finished applied = apply.wait();
  EXPECT_EQ(applied.exit_code, 0);
  EXPECT_EQ(json_of(applied).at("generation"), 2);
  EXPECT_EQ(in_dir({"resolve", "ü x.+"}).out, "s3://q\n");

  const std::string file = data_.path() + "/bad.jsonl";
  std::ofstream(file) << R"({"op":"create-namespace","namespace":["b"]})"
                      << "\n"
                      << R"({"op":"drop","namespace":["b"],"name":"nix"})";
  const Finished refused = in_dir({"apply", file});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_EQ(refused.err, "iceblink: line 2: Table does not exist: b.nix\n");
  EXPECT_EQ(in_dir({"namespaces"}).out, "ü x\n");
  EXPECT_EQ(code({"apply", "/nonexistent"}), 1);
}

TEST_F(CommandLineWithDaemon, ChangesComeFromTheLogAfterARestart) {
  EXPECT_EQ(code({"create-namespace", "a"}), 0);
  EXPECT_EQ(code({"register", "a.t", "s3://1", "--unverified"}), 0);
  stop();
  start();
  EXPECT_EQ(code({"register", "a.t", "s3://2", "--unverified", "--overwrite"}), 0);
  EXPECT_EQ(in_dir({"changes", "--since", "1"}).out,
            "2 put namespace a\n3 put table a.t s3://1\n4 put table a.t s3://2\n");
  EXPECT_EQ(in_dir({"changes", "--since", "3"}).out, "4 put table a.t s3://2\n");
  const auto document = json_of(in_dir({"changes", "--since", "4", "--json"}));
  EXPECT_EQ(document.at("generation"), 4);
  EXPECT_TRUE(document.at("changes").as_array().empty());
  EXPECT_EQ(code({"changes", "--since", "5"}), 1);
}

TEST_F(CommandLineWithDaemon, TheLibraryReadsItsOwnWritesAndSurvivesARestart) {
  auto catalog = Catalog::open(runtime_.path());
  ASSERT_OK(catalog);
  ASSERT_OK(catalog->create_namespace({"a"}, {{"k", "v"}}));
  ASSERT_OK(catalog->update_properties({"a"}, {"k"}, {{"n", "1"}, {"q\"", "ü"}}));
  EXPECT_THAT(catalog->namespace_properties({"a"}), IsValue(Properties{{"n", "1"}, {"q\"", "ü"}}));
  const RegisterOptions unverified{.verification = RegisterOptions::Verification::kUnverified};
  for (int i = 0; i < 20; ++i) {
    const auto name = "t" + std::to_string(i);
    const auto generation = catalog->register_table(ident({"a"}, name), "s3://" + name, unverified);
    ASSERT_OK(generation);
    EXPECT_THAT(catalog->resolve_location(ident({"a"}, name)), IsValue("s3://" + name));
    EXPECT_GE(*catalog->generation(), *generation);
    if (i % 5 == 4) {
      stop();
      EXPECT_THAT(catalog->table_exists(ident({"a"}, name)), IsValue(true));
      EXPECT_THAT(catalog->drop_namespace({"b"}), IsError(ErrorKind::kNoDaemon));
      start();
    }
  }
  EXPECT_THAT(catalog->move_table(ident({"a"}, "t1"), "s3://other", "s3://x",
                                  RegisterOptions::Verification::kUnverified),
              IsError(ErrorKind::kConflict));
  EXPECT_THAT(catalog->drop_namespace({"a"}), IsError(ErrorKind::kNotEmpty));
  EXPECT_THAT(catalog->create_namespace({"a\x1f"}), IsError(ErrorKind::kInvalidArgument));
}

}  // namespace
}  // namespace iceblink::testing
