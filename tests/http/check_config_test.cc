// --check-config: looks at everything, and makes nothing.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/http/child_daemon.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kToken = "a-token-of-the-tests-0123456789";

class CheckConfig : public ::testing::Test {
 protected:
  CheckConfig() {
    write_file(path("token"), kToken);
    ::chmod(path("token").c_str(), 0600);
  }
  [[nodiscard]] std::string path(const std::string& name) const {
    return scratch_.path() + "/" + name;
  }
  struct Outcome {
    int code = -1;
    std::string output;
    std::string errors;
  };
  Outcome check(const std::vector<std::string>& more,
                const std::string& runtime_dir = "main") const {
    ChildOptions options;
    options.arguments = {"--check-config", "--runtime-dir", path(runtime_dir), "--data-dir",
                         path("data")};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    ChildDaemon child(options);
    Outcome outcome;
    while (const auto line = child.read_line()) outcome.output += *line + "\n";
    outcome.code = child.wait();
    outcome.errors = child.errors();
    return outcome;
  }
  void expect_wrong(const std::vector<std::string>& flags, const std::string& message,
                    const std::string& runtime_dir = "main") const {
    const Outcome outcome = check(flags, runtime_dir);
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_EQ(outcome.output, "");
    EXPECT_THAT(outcome.errors, AllOf(HasSubstr("iceblinkd: "), HasSubstr(message)));
  }

 private:
  ScratchDir scratch_;
};

TEST_F(CheckConfig, PrintsWhatIsNotAsByDefault) {
  write_file(path("d.toml"), "http_threads = 5\nrequire_token = true\n");
  const Outcome outcome =
      check({"--config", path("d.toml"), "--token-file", path("token"), "--listen", "127.0.0.1:0"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output,
            "settings are valid\nruntime-dir = \"" + path("main") + "\"\ndata-dir = \"" +
                path("data") + "\"\nlisten = \"127.0.0.1:0\"\ntoken-file = \"" + path("token") +
                "\"\nrequire-token = true\ninstance = \"main\"\nhttp-threads = 5\n");
  EXPECT_THAT(outcome.output, Not(HasSubstr(kToken)));
}

TEST_F(CheckConfig, PrintsEachSettingOnALineOfItsOwn) {
  const Outcome outcome = check({"--warehouse", "/w\nrequire-token = true\x1b[2K"});
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
  EXPECT_THAT(outcome.output,
              HasSubstr("warehouse = \"/w\\u000arequire-token = true\\u001b[2K\"\n"));
  write_file(path("d.toml"), "\"a\\nb\" = 1\n");
  expect_wrong({"--config", path("d.toml")}, "'a\\x0ab' is unknown");
  expect_wrong({"--writers", "a\niceblinkd: b"}, "no user 'a\\x0aiceblinkd: b'");
}

TEST_F(CheckConfig, MakesNothing) {
  EXPECT_EQ(check({"--listen", "127.0.0.1:0"}).code, 0);
  EXPECT_FALSE(fs::exists(path("main")));
  EXPECT_FALSE(fs::exists(path("data")));
}

TEST_F(CheckConfig, NamesWhatIsWrong) {
  write_file(path("d.toml"), "\nhttp-thread = 5\n");
  expect_wrong({"--config", path("d.toml")}, path("d.toml") + ":2: 'http-thread' is unknown");
  expect_wrong({"--token-file", path("nowhere")}, "token-file '" + path("nowhere") + "'");
  expect_wrong({"--writers", "no-such-user"}, "writers: there is no user 'no-such-user'");
  expect_wrong({"--tls-certificate-file", path("c"), "--tls-key-file", path("k")}, path("c"));
  expect_wrong({"--read-roots", "s3://bucket"}, "s3://bucket");
  expect_wrong({"--write-roots", "s3://bucket"}, "s3://bucket");
  expect_wrong({"--write-roots", path("data/lmdb")}, "the store's or the runtime directory");
  expect_wrong({"--warehouse", path("main/w")}, "the store's or the runtime directory");
  expect_wrong({"--listen", "0.0.0.0:1"}, "beyond loopback");
  expect_wrong({}, "Not a directory", "token");
  expect_wrong({}, "cannot be both", "data");
  expect_wrong({}, "a socket's name", std::string(120, 'x'));
}

TEST_F(CheckConfig, NamesAllThatIsWrong) {
  const Outcome outcome = check({"--token-file", path("nowhere"), "--writers", "no-such-user"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.errors, AllOf(HasSubstr("nowhere"), HasSubstr("no-such-user")));
}

}  // namespace
}  // namespace iceblink::test
