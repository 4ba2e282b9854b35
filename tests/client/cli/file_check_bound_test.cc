// What a check of metadata files takes at most. Measures the process.
#include <fstream>

#include "tests/client/cli/file_check_fixture.h"

namespace iceblink::testing {
namespace {

/// The most memory that this process had since forget_peak(), in bytes.
std::uint64_t peak_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  }
  return 0;
}

bool forget_peak() {
  std::ofstream file("/proc/self/clear_refs");
  file << "5" << std::flush;
  return file.good();
}

TEST_F(FileCheckTest, HoldsAFewFilesAtATimeWhereTheyAreLarge) {
  constexpr std::size_t kFileBytes = std::size_t{10} << 20;
  constexpr int kFileCount = 24;
  {
    const std::string content = numbered_metadata(1, kFileBytes);
    put_file(dir_.path() + "/large", content);
    store_.put_namespace({"a"});
    for (int i = 0; i < kFileCount; ++i) {
      put_table("t" + std::to_string(i), dir_.path() + "/large", content);
    }
  }
  commit();
  ASSERT_TRUE(forget_peak());
  const std::uint64_t before = peak_bytes();
  ASSERT_GT(before, 0U);
  cli::Problems problems;
  EXPECT_EQ(check({}, problems).read, static_cast<std::uint64_t>(kFileCount));
  // One of them fits into 16 MiB; the rest is for what reading needs, and far from 16 of them.
  EXPECT_LT(peak_bytes() - before, 5 * kFileBytes);
}

}  // namespace
}  // namespace iceblink::testing
