#include "tests/http/test_daemon.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace iceblink::test {

ScratchDir::ScratchDir() {
  const bool has_shm = ::access("/dev/shm", W_OK) == 0;
  std::string name = (has_shm ? std::string("/dev/shm") : ::testing::TempDir()) + "/ib-http.XXXXXX";
  EXPECT_NE(::mkdtemp(name.data()), nullptr) << name;
  path_ = name;
}

ScratchDir::~ScratchDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

daemon::Settings settings_in(const ScratchDir& scratch) {
  daemon::Settings settings;
  settings.runtime_dir = scratch.path() + "/main";
  settings.data_dir = scratch.path() + "/data";
  settings.instance = "main";
  settings.warehouse = "file://" + scratch.path() + "/warehouse";
  settings.write_roots = {scratch.path()};
  settings.map_bytes = std::uint64_t{64} << 20;
  return settings;
}

void DaemonTest::start(const daemon::Settings& settings) {
  daemon_.reset();
  auto started = daemon::Instance::start(settings);
  ASSERT_TRUE(started.ok()) << started.error().message();
  daemon_ = std::move(*started);
}

std::string DaemonTest::write_metadata(const std::string& name, const std::string& bytes) {
  std::string location = scratch_.path() + "/" + name;
  write_file(location, bytes);
  return location;
}

void DaemonTest::create_namespace(const std::string& json_levels) {
  const auto created = connect().post("/v1/namespaces", R"({"namespace":)" + json_levels + "}");
  EXPECT_EQ(created.status, 200) << json_levels << " " << created.body;
}

void DaemonTest::register_table(const std::string& raw_namespace, const std::string& name,
                                const std::string& location) {
  const auto registered =
      connect().post("/v1/namespaces/" + raw_namespace + "/register",
                     R"({"name":")" + name + R"(","metadata-location":")" + location + R"("})");
  EXPECT_EQ(registered.status, 200) << name << " " << registered.body;
}

}  // namespace iceblink::test
