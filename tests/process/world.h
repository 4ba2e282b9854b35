// One instance of the whole system in directories of its own: iceblinkd as a child process, and
// what it has acknowledged.
#pragma once

#include <gtest/gtest.h>
#include <iceblink/catalog.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/http/child_daemon.h"

namespace iceblink::test {

class World {
 public:
  /// Its data goes below `data_parent_dir`.
  explicit World(const char* data_parent_dir = "/tmp");
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] const std::string& runtime_dir() const { return runtime_dir_; }
  [[nodiscard]] const std::string& data_dir() const { return data_dir_; }

  /// Makes the runtime directory a tmpfs of that size ("4m"), in a mount namespace of the calling
  /// process alone, which must be a child of the test's. False when that is not allowed.
  bool use_small_tmpfs(const char* size) { return mount_small_tmpfs(runtime_dir_, size); }
  /// As above, for the data directory.
  bool use_small_data_disk(const char* size) { return mount_small_tmpfs(data_dir_, size); }

  /// Of the daemons that are started from now on, on top of ours.
  void set_environment(std::map<std::string, std::string> environment) {
    environment_ = std::move(environment);
  }

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
  bool mount_small_tmpfs(const std::string& path, const char* size);

  std::string runtime_dir_;
  std::string data_dir_;
  std::vector<std::string> mounts_;
  std::map<std::string, std::string> environment_;
  std::unique_ptr<ChildDaemon> daemon_;
};

/// Runs `scenario` in a child process. It returns what was wrong, or nothing.
void expect_in_child(std::string (*scenario)());

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
