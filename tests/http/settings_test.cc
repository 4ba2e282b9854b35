#include "daemon/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "daemon/settings_table.h"

namespace iceblink::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAreArray;

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

TEST(Settings, ListenOnLoopbackAddressesAlone) {
  for (const char* good : {"127.0.0.1:0", "127.1.2.3:8080", "[::1]:8181", "localhost:1"}) {
    EXPECT_EQ(message_of({"--listen", good, "--runtime-dir", "/r", "--data-dir", "/d"}),
              "accepted");
  }
  for (const char* bad : {"0.0.0.0:80", "10.0.0.1:80", "[::]:80", "128.0.0.1:80"}) {
    EXPECT_THAT(message_of({"--listen", bad, "--runtime-dir", "/r", "--data-dir", "/d"}),
                HasSubstr("beyond loopback"))
        << bad;
  }
  EXPECT_THAT(message_of({"--listen", "example.com:80", "--runtime-dir", "/r", "--data-dir", "/d"}),
              HasSubstr("no numeric address"));
  for (const char* bad : {"127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", ":80"}) {
    EXPECT_THAT(message_of({"--listen", bad, "--runtime-dir", "/r", "--data-dir", "/d"}),
                HasSubstr("HOST:PORT"))
        << bad;
  }
}

TEST(Settings, ListenBeyondLoopbackWithTlsAndATokenAndSayWhatIsMissing) {
  std::vector<std::string> flags = {"--listen", "0.0.0.0:80", "--runtime-dir",
                                    "/r",       "--data-dir", "/d"};
  EXPECT_THAT(message_of(flags),
              HasSubstr("it needs tls-certificate-file, tls-key-file and token-file"));
  flags.insert(flags.end(), {"--tls-certificate-file", "/c", "--tls-key-file", "/k"});
  EXPECT_THAT(message_of(flags), EndsWith("it needs token-file"));
  flags.insert(flags.end(), {"--token-file", "/t"});
  EXPECT_EQ(message_of(flags), "accepted");
  EXPECT_THAT(message_of({"--tls-key-file", "/k", "--runtime-dir", "/r", "--data-dir", "/d"}),
              HasSubstr("needs tls-certificate-file"));
}

TEST(Settings, RefuseTcpWithoutATokenWhereOneIsRequired) {
  std::vector<std::string> flags = {"--require-token", "--runtime-dir", "/r", "--data-dir", "/d"};
  EXPECT_EQ(message_of(flags), "accepted");
  flags.insert(flags.end(), {"--listen", "127.0.0.1:0"});
  EXPECT_THAT(message_of(flags), HasSubstr("require-token is set"));
  flags.insert(flags.end(), {"--token-file", "/t"});
  EXPECT_EQ(message_of(flags), "accepted");
}

TEST(Settings, TakeUsersAndGroupsAsManyAsAreNamed) {
  const auto none = parse({"--runtime-dir", "/r", "--data-dir", "/d"});
  EXPECT_THAT(none->settings.writers.names, ElementsAre("@iceblink-writers"));
  EXPECT_FALSE(none->settings.writers.is_configured);
  const auto line = parse({"--runtime-dir", "/r", "--data-dir", "/d", "--writers", "alice",
                           "--writers", "@staff", "--readers", "1000"});
  ASSERT_TRUE(line.ok()) << line.error().message();
  EXPECT_THAT(line->settings.writers.names, ElementsAre("alice", "@staff"));
  EXPECT_TRUE(line->settings.writers.is_configured);
  EXPECT_THAT(line->settings.readers.names, ElementsAre("1000"));
  Settings from_file;
  ASSERT_TRUE(apply_toml(from_file, "readers = []", "d.toml").ok());
  EXPECT_THAT(from_file.readers.names, IsEmpty());
  for (const char* bad : {"", "@"}) {
    EXPECT_THAT(message_of({"--readers", bad, "--runtime-dir", "/r", "--data-dir", "/d"}),
                HasSubstr("--readers"));
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

TEST(SettingsFile, TakesUnderscoresForDashesButNoKeyTwice) {
  Settings settings;
  const auto status = apply_toml(
      settings, "http_threads = 4\nread_roots = [\"/a\", \"/b\"]\nrequire_token = true\n",
      "d.toml");
  ASSERT_TRUE(status.ok()) << status.error().message();
  EXPECT_EQ(settings.http_threads, 4u);
  EXPECT_THAT(settings.read_roots, ElementsAre("/a", "/b"));
  EXPECT_TRUE(settings.require_token);
  EXPECT_THAT(toml_message("read_roots = []\nread-roots = []\n"), HasSubstr("is given twice"));
  EXPECT_THAT(toml_message("read_rots = []\n"), HasSubstr("did you mean 'read-roots'?"));
}

TEST(SettingsFile, OfALaterFlagWinsAndMayBeMissingWhereThatIsSaid) {
  const std::string path = ::testing::TempDir() + "/ib-files." + std::to_string(::getpid());
  std::ofstream(path + ".1") << "http-threads = 1\nfile-threads = 1\nwriters = [\"a\", \"b\"]\n";
  std::ofstream(path + ".2") << "http_threads = 2\nwriters = [\"c\"]\n";
  const std::vector<std::string> directories = {"--runtime-dir", "/r", "--data-dir", "/d"};
  auto flags = directories;
  flags.insert(flags.end(), {"--config", path + ".1", "--config", "-" + path + ".missing",
                             "--config=-" + path + ".2"});
  const auto line = parse(flags);
  auto missing = directories;
  missing.insert(missing.end(), {"--config", path + ".1", "--config", path + ".missing"});
  const auto message = message_of(missing);
  std::ofstream(path + ".2") << "nonsense = 1\n";
  const auto broken = message_of(flags);
  std::filesystem::remove(path + ".1");
  std::filesystem::remove(path + ".2");
  ASSERT_TRUE(line.ok()) << line.error().message();
  EXPECT_EQ(line->settings.http_threads, 2u);
  EXPECT_EQ(line->settings.file_threads, 1u);
  EXPECT_THAT(line->settings.writers.names, ElementsAre("c"));
  EXPECT_THAT(message, HasSubstr(path + ".missing"));
  EXPECT_THAT(broken, HasSubstr(path + ".2:1: 'nonsense' is unknown"));
}

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// The commented settings of the example, one a line, without their '#'.
std::vector<std::string> example_lines() {
  std::istringstream text(text_of_file(ICEBLINK_SOURCE_DIR "/systemd/example.toml"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    EXPECT_TRUE(line.empty() || line.starts_with('#')) << line;
    EXPECT_LE(line.size(), 100u) << line;
    if (line.size() > 1 && line[1] != ' ') lines.push_back(line.substr(1));
  }
  return lines;
}

TEST(ExampleFile, HasEverySettingOnceAndNothingElse) {
  std::vector<std::string> given;
  for (const std::string& line : example_lines()) given.push_back(line.substr(0, line.find(' ')));
  std::vector<std::string> known;
  for (const Setting& setting : settings_table()) known.emplace_back(setting.name);
  EXPECT_THAT(given, UnorderedElementsAreArray(known));
}

TEST(ExampleFile, HasTheDefaultsWhereThereAreAny) {
  const Settings defaults;
  for (const std::string& line : example_lines()) {
    Settings settings;
    const auto status = apply_toml(settings, line, "example.toml");
    ASSERT_TRUE(status.ok()) << status.error().message();
    const Setting& setting = *find_setting(line.substr(0, line.find(' ')));
    const auto fallback = setting.value.get(defaults);
    const bool has_default = !fallback.empty() && !fallback.front().empty();
    if (has_default) {
      EXPECT_EQ(setting.value.get(settings), fallback) << line;
    }
  }
}

TEST(ExampleFile, SaysWhatReloads) {
  const std::string text = text_of_file(ICEBLINK_SOURCE_DIR "/systemd/example.toml");
  for (const Setting& setting : settings_table()) {
    const auto at = text.find("\n#" + std::string(setting.name) + " =");
    ASSERT_NE(at, std::string::npos) << setting.name;
    // The comment that stands above, which may be of several settings.
    auto begin = at;
    while (text.compare(begin, 3, "\n# ") != 0) begin = text.rfind('\n', begin - 1);
    while (text.compare(begin, 3, "\n# ") == 0) begin = text.rfind('\n', begin - 1);
    const bool is_said = text.substr(begin, at - begin).find("Reloads") != std::string::npos;
    EXPECT_EQ(is_said, setting.change == Setting::Change::kReloads) << setting.name;
  }
}

TEST(PackagedFile, RequiresATokenAndSetsNothingElse) {
  Settings settings;
  const auto text = text_of_file(ICEBLINK_SOURCE_DIR "/systemd/iceblinkd.toml");
  ASSERT_TRUE(apply_toml(settings, text, "iceblinkd.toml").ok());
  EXPECT_TRUE(settings.require_token);
  const Settings defaults;
  for (const Setting& setting : settings_table()) {
    if (setting.name == "require-token") continue;
    EXPECT_EQ(setting.value.get(settings), setting.value.get(defaults)) << setting.name;
  }
}

TEST(SettingsTable, ShowsEveryValueAsItIsRead) {
  const std::map<std::string, std::string> values = {{"log-level", "\"debug\""},
                                                     {"namespace-separator", "\"%2E\""},
                                                     {"location-prefix", "[\"/a=/b\"]"},
                                                     {"readers", "[\"a\", \"@b\"]"}};
  for (const Setting& setting : settings_table()) {
    std::string value = "\"a \\\"quoted\\\" text\"";
    if (setting.type == Setting::Type::kNumber) value = "123456";
    if (setting.type == Setting::Type::kFlag) value = "true";
    if (setting.type == Setting::Type::kList) value = "[\"x\", \"y\"]";
    if (const auto found = values.find(std::string(setting.name)); found != values.end()) {
      value = found->second;
    }
    std::string line = std::string(setting.name) + " = " + value;
    Settings settings;
    if (!apply_toml(settings, line, "t").ok()) {  // out of this one's range
      line = std::string(setting.name) + " = 4194304";
      if (!apply_toml(settings, line, "t").ok()) line = std::string(setting.name) + " = 7";
      ASSERT_TRUE(apply_toml(settings, line, "t").ok()) << line;
    }
    EXPECT_EQ(toml_line(setting, settings), line);
    Settings copied;
    setting.value.copy(settings, copied);
    EXPECT_EQ(toml_line(setting, copied), line);
  }
}

TEST(SettingsFile, RefusesTextsWithANulCharacter) {
  EXPECT_THAT(toml_message("readers = [\"root\\u0000x\"]"),
              HasSubstr("'readers' must not have a NUL"));
  EXPECT_THAT(toml_message("token-file = \"/a\\u0000b\""), HasSubstr("must not have a NUL"));
}

TEST(SettingsFile, TakesOtherLettersThanAsciiInStringsAndCommentsAlone) {
  // Beside and within the ranges in which white space lies, too.
  for (const char* letter :
       {"\u00a1", "\u0159", "\u0499", "\u1681", "\u2070", "\u3001", "\ufefe", "\U0001f600"}) {
    const std::string name = letter;
    EXPECT_THAT(toml_message(name + " = 1"), HasSubstr("d.toml")) << letter;
    EXPECT_THAT(toml_message("http-threads = " + name), HasSubstr("d.toml")) << letter;
    EXPECT_THAT(toml_message("http-threads = 3 " + name), HasSubstr("d.toml")) << letter;
    EXPECT_EQ(toml_message("instance = \"" + name + "\" # " + name), "accepted") << letter;
  }
}

TEST(SettingsTable, EscapesControlCharactersAsTomlDoes) {
  const Setting& setting = *find_setting("warehouse");
  const std::string line = R"(warehouse = "a\u000ab\u001bc\u007f\\u000a\"ü")";
  Settings settings;
  ASSERT_TRUE(apply_toml(settings, line, "t").ok());
  EXPECT_EQ(settings.warehouse,
            "a\nb\x1b"
            "c\x7f\\u000a\"ü");
  EXPECT_EQ(toml_line(setting, settings), line);
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
  EXPECT_THAT(message_of({"--config", "/tmp"}),
              HasSubstr("config file '/tmp': not a regular file"));
  const std::string fifo = ::testing::TempDir() + "/ib-fifo." + std::to_string(::getpid());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const auto of_fifo = message_of({"--config", fifo});
  ::unlink(fifo.c_str());
  EXPECT_THAT(of_fifo, HasSubstr("config file '" + fifo + "': not a regular file"));
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
