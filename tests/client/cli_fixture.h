// The program, over a segment made from memory, and beside a daemon.
#pragma once

#include <boost/json/parse.hpp>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "tests/client/program.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {

inline Finished run(const std::vector<std::string>& arguments) {
  return Program("iceblink", arguments).wait();
}

inline boost::json::object json_of(const Finished& finished) {
  boost::system::error_code failed;
  auto value = boost::json::parse(finished.out, failed);
  EXPECT_FALSE(failed) << finished.out << finished.err;
  return value.is_object() ? value.get_object() : boost::json::object{};
}

class CommandLine : public SegmentTest {
 protected:
  Finished in_dir(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--dir", dir_.path()});
    return run(arguments);
  }
};

class CommandLineWithDaemon : public ::testing::Test {
 protected:
  void SetUp() override {
    start();
    ASSERT_THAT(ready_, ::testing::StartsWith("iceblinkd ready"));
  }
  void start() {
    daemon_ = std::make_unique<Program>(
        "iceblinkd",
        std::vector<std::string>{"--runtime-dir", runtime_.path(), "--data-dir", data_.path()});
    ready_ = daemon_->line();
  }
  void stop() {
    daemon_->signal(SIGTERM);
    EXPECT_EQ(daemon_->wait().exit_code, 0);
  }
  Finished in_dir(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--dir", runtime_.path()});
    return run(arguments);
  }
  int code(std::vector<std::string> arguments) { return in_dir(std::move(arguments)).exit_code; }

  TempDir runtime_;
  TempDir data_;
  std::unique_ptr<Program> daemon_;
  std::string ready_;
};

}  // namespace iceblink::testing
