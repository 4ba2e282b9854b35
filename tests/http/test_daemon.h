// A daemon inside the test's process, in directories of its own that are removed at the end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "daemon/instance.h"
#include "tests/http/http_client.h"
#include "tests/http/metadata_samples.h"

namespace iceblink::test {

/// A new directory on a tmpfs if there is one; removed with everything in it.
class ScratchDir {
 public:
  ScratchDir();
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// Settings for a daemon below `scratch`.
[[nodiscard]] daemon::Settings settings_in(const ScratchDir& scratch);

class DaemonTest : public ::testing::Test {
 protected:
  void SetUp() override { start(settings_in(scratch_)); }

  void start(const daemon::Settings& settings);
  [[nodiscard]] HttpClient connect() const { return HttpClient::to_unix(daemon_->socket_path()); }
  [[nodiscard]] daemon::Instance& daemon() { return *daemon_; }
  [[nodiscard]] const ScratchDir& scratch() const noexcept { return scratch_; }

  /// Writes a metadata file and gives its location.
  std::string write_metadata(const std::string& name, const std::string& bytes);
  std::string write_table(const std::string& name, char uuid_digit = '1') {
    return write_metadata(name, table_metadata(uuid_digit));
  }
  /// Both fail the test when refused.
  void create_namespace(const std::string& json_levels);
  void register_table(const std::string& raw_namespace, const std::string& name,
                      const std::string& location);

 private:
  ScratchDir scratch_;
  std::unique_ptr<daemon::Instance> daemon_;
};

}  // namespace iceblink::test
