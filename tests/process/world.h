// One instance of the whole system in directories of its own: iceblinkd as a child process, and
// what it has acknowledged.
#pragma once

#include <gtest/gtest.h>
#include <iceblink/catalog.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/http/child_daemon.h"

namespace iceblink::test {

class World {
 public:
  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] const std::string& runtime_dir() const { return runtime_dir_; }
  [[nodiscard]] const std::string& data_dir() const { return data_dir_; }

  /// Starts the daemon and waits for its ready line. False when it ended without one.
  bool start(std::vector<std::string> arguments = {});
  void kill_daemon();  // SIGKILL
  /// SIGTERM; the exit code.
  int stop_daemon();
  [[nodiscard]] ChildDaemon& daemon() { return *daemon_; }

  /// Attached to the running instance.
  [[nodiscard]] Catalog open(CatalogOptions options = {});

  /// Registers without a metadata file.
  static Result<std::uint64_t> put(Catalog& catalog, const TableIdent& ident,
                                   const std::string& location);

  /// The problems that a full check of the segment finds.
  [[nodiscard]] std::vector<std::string> verify() const;

 private:
  std::string runtime_dir_;
  std::string data_dir_;
  std::unique_ptr<ChildDaemon> daemon_;
};

/// Fails the test with the error's message.
#define ASSERT_OK(expression)                                     \
  do {                                                            \
    const auto& result_of_ = (expression);                        \
    ASSERT_TRUE(result_of_.ok()) << result_of_.error().message(); \
  } while (false)
#define EXPECT_OK(expression)                                     \
  do {                                                            \
    const auto& result_of_ = (expression);                        \
    EXPECT_TRUE(result_of_.ok()) << result_of_.error().message(); \
  } while (false)

}  // namespace iceblink::test
