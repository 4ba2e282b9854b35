#include "daemon/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace iceblink::daemon {
namespace {

using ::testing::HasSubstr;

std::optional<std::string> no_environment(const char*) {
  return std::nullopt;
}

Result<CommandLine> parse(std::vector<std::string> arguments) {
  return parse_command_line(arguments, no_environment);
}

std::string message_of(std::vector<std::string> arguments) {
  const auto line = parse(std::move(arguments));
  return line ? "accepted" : line.error().message();
}

std::string toml_message(std::string_view text) {
  Settings settings;
  const auto status = apply_toml(settings, text, "d.toml");
  return status ? "accepted" : status.error().message();
}

TEST(Settings, TakeFlagsAndNameTheInstanceAfterTheRuntimeDirectory) {
  const auto line = parse({"--runtime-dir", "/run/iceblink/main/", "--data-dir=/d", "--warehouse",
                           "file:///w", "--http-threads", "3", "--replace-control"});
  ASSERT_TRUE(line.ok()) << line.error().message();
  EXPECT_EQ(line->settings.instance, "main");
  EXPECT_EQ(line->settings.data_dir, "/d");
  EXPECT_EQ(line->settings.http_threads, 3u);
  EXPECT_TRUE(line->settings.replace_control);
}

TEST(Settings, TakeLocationPrefixesAsOftenAsTheyAreGiven) {
  const std::vector<std::string> flags = {"--runtime-dir",
                                          "/r",
                                          "--data-dir",
                                          "/d",
                                          "--location-prefix",
                                          "s3://b/day=1=/mnt/b",
                                          "--location-prefix=data/persistent=/base"};
  const auto line = parse(flags);
  ASSERT_TRUE(line.ok()) << line.error().message();
  ASSERT_EQ(line->settings.location_prefixes.size(), 2u);
  EXPECT_EQ(line->settings.location_prefixes[0].from, "s3://b/day=1");
  EXPECT_EQ(line->settings.location_prefixes[1].to, "/base");
  for (const auto& [prefix, why] :
       {std::pair("nothing", "is not FROM=TO"), std::pair("/a=b", "is not FROM=TO"),
        std::pair("s3://b/day=1/=/mnt", "one of two")}) {
    auto bad = flags;
    bad.insert(bad.end(), {"--location-prefix", prefix});
    EXPECT_THAT(message_of(bad), HasSubstr("--location-prefix"));
    EXPECT_THAT(message_of(bad), HasSubstr(why));
  }
}

TEST(Settings, TakeLocationPrefixesFromAFileUnlessAFlagSaysOthers) {
  const std::string path = ::testing::TempDir() + "prefixes." + std::to_string(::getpid());
  std::ofstream(path) << "location-prefix = [\"/a=/x\", \"/b=/y\"]\n";
  std::vector<std::string> flags = {"--runtime-dir", "/r", "--data-dir", "/d", "--config", path};
  const auto from_file = parse(flags);
  flags.insert(flags.end(), {"--location-prefix", "/c=/z"});
  const auto from_flag = parse(flags);
  std::filesystem::remove(path);
  ASSERT_TRUE(from_file.ok()) << from_file.error().message();
  ASSERT_EQ(from_file->settings.location_prefixes.size(), 2u);
  EXPECT_EQ(from_file->settings.location_prefixes[1].from, "/b");
  ASSERT_EQ(from_flag->settings.location_prefixes.size(), 1u);
  EXPECT_EQ(from_flag->settings.location_prefixes[0].from, "/c");
  for (const char* bad : {"location-prefix = \"/a=/x\"", "location-prefix = [1]"}) {
    EXPECT_THAT(toml_message(bad), HasSubstr("list of strings")) << bad;
  }
  EXPECT_THAT(toml_message("location-prefix = [\"x\"]"), HasSubstr("FROM=TO"));
}

TEST(Settings, FallBackToTheServiceManagersDirectories) {
  const auto line = parse_command_line({}, [](const char* name) -> std::optional<std::string> {
    return std::string(name) == "RUNTIME_DIRECTORY" ? "/run/iceblink/a:/run/b" : "/var/lib/x";
  });
  ASSERT_TRUE(line.ok()) << line.error().message();
  EXPECT_EQ(line->settings.runtime_dir, "/run/iceblink/a");
  EXPECT_EQ(line->settings.data_dir, "/var/lib/x");
}

TEST(Settings, SayWhichDirectoryIsMissing) {
  EXPECT_THAT(message_of({"--data-dir", "/d"}), HasSubstr("--runtime-dir"));
  EXPECT_THAT(message_of({"--runtime-dir", "/r"}), HasSubstr("--data-dir"));
}

TEST(Settings, RefuseUnknownFlagsAndSayWhichWasMeant) {
  EXPECT_THAT(message_of({"--runtime-dirr", "/r"}), HasSubstr("did you mean --runtime-dir?"));
  EXPECT_THAT(message_of({"--conections-max=3"}), HasSubstr("did you mean --connections-max?"));
  EXPECT_THAT(message_of({"stray"}), HasSubstr("'stray'"));
}

TEST(Settings, RefuseValuesOutOfRangeAndNameTheFlag) {
  for (const char* bad : {"0", "-1", "x", "1e3", "999999999999999999999", ""}) {
    EXPECT_THAT(message_of({"--http-threads", bad, "--runtime-dir", "/r", "--data-dir", "/d"}),
                HasSubstr("--http-threads"))
        << bad;
  }
  EXPECT_THAT(message_of({"--log-level", "loud"}), HasSubstr("--log-level"));
}

TEST(Settings, ListenOnLoopbackAddressesOnly) {
  for (const char* good : {"127.0.0.1:0", "127.1.2.3:8080", "[::1]:8181", "localhost:1"}) {
    EXPECT_EQ(message_of({"--listen", good, "--runtime-dir", "/r", "--data-dir", "/d"}),
              "accepted");
  }
  for (const char* bad : {"0.0.0.0:80", "10.0.0.1:80", "[::]:80", "example.com:80"}) {
    EXPECT_THAT(message_of({"--listen", bad, "--runtime-dir", "/r", "--data-dir", "/d"}),
                HasSubstr("loopback"))
        << bad;
  }
  for (const char* bad : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", ":80"}) {
    EXPECT_THAT(message_of({"--listen", bad, "--runtime-dir", "/r", "--data-dir", "/d"}),
                HasSubstr("HOST:PORT"))
        << bad;
  }
}

TEST(Settings, AnswerHelpAndVersionWithoutDirectories) {
  EXPECT_EQ(parse({"--help"})->action, CommandLine::Action::kHelp);
  EXPECT_THAT(parse({"--help"})->help, HasSubstr("--runtime-dir"));
  EXPECT_EQ(parse({"--version"})->action, CommandLine::Action::kVersion);
}

TEST(SettingsFile, SetsWhatTheFlagsCall) {
  Settings settings;
  const auto status = apply_toml(
      settings, "runtime-dir = \"/r\"\nhttp-threads = 4\nreplace-control = true\n", "d.toml");
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_EQ(settings.runtime_dir, "/r");
  EXPECT_EQ(settings.http_threads, 4u);
  EXPECT_TRUE(settings.replace_control);
}

TEST(SettingsFile, RefusesUnknownKeysWithLineAndNearestName) {
  const auto message = toml_message("data-dir = \"/d\"\nhtp-threads = 4\n");
  EXPECT_THAT(message, HasSubstr("d.toml:2"));
  EXPECT_THAT(message, HasSubstr("'htp-threads'"));
  EXPECT_THAT(message, HasSubstr("'http-threads'?"));
}

TEST(SettingsFile, RefusesOtherTypesBadValuesAndBrokenToml) {
  EXPECT_THAT(toml_message("http-threads = \"4\""), HasSubstr("must be an integer"));
  EXPECT_THAT(toml_message("runtime-dir = 4"), HasSubstr("must be a string"));
  EXPECT_THAT(toml_message("replace-control = 1"), HasSubstr("must be true or false"));
  EXPECT_THAT(toml_message("http-threads = -4"), HasSubstr("not a number from 1"));
  EXPECT_THAT(toml_message("\nhttp-threads = = 4"), HasSubstr("d.toml:2"));
}

TEST(SettingsFile, IsOverruledByFlagsAndMustExist) {
  std::string path = (std::filesystem::temp_directory_path() / "ib-settings-XXXXXX").string();
  const int fd = ::mkstemp(path.data());
  ASSERT_GE(fd, 0);
  ::close(fd);
  std::ofstream(path) << "runtime-dir = \"/file\"\ndata-dir = \"/file-data\"\n";
  const auto line = parse({"--config", path, "--runtime-dir", "/flag"});
  std::filesystem::remove(path);
  ASSERT_TRUE(line.ok()) << line.error().message();
  EXPECT_EQ(line->settings.runtime_dir, "/flag");
  EXPECT_EQ(line->settings.data_dir, "/file-data");
  EXPECT_THAT(message_of({"--config", path}), HasSubstr(path));
}

TEST(SettingsFile, ThatCannotBeReadIsNamed) {
  EXPECT_THAT(message_of({"--config", "/tmp"}), HasSubstr("config file '/tmp': Is a directory"));
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--config", ""}, std::vector<std::string>{"--config="}}) {
    auto all = arguments;
    all.insert(all.end(), {"--runtime-dir", "/r", "--data-dir", "/d"});
    EXPECT_NE(message_of(all), "accepted");
  }
  EXPECT_THAT(message_of({"--config", "", "--runtime-dir", "/r", "--data-dir", "/d"}),
              HasSubstr("config file ''"));
}

}  // namespace
}  // namespace iceblink::daemon
