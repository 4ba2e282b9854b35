// What a check of metadata files counts, and what it calls a problem.
#include <filesystem>

#include "tests/client/cli/file_check_fixture.h"

namespace iceblink::testing {
namespace {

TEST_F(FileCheckTest, WhatMayNotBeReadIsCountedAndNoProblem) {
  const std::string content = numbered_metadata(1);
  std::filesystem::create_directory(dir_.path() + "/allowed");
  put_file(dir_.path() + "/allowed/m", content);
  put_file(dir_.path() + "/refused", content);
  store_.put_namespace({"a"});
  put_table("read", dir_.path() + "/allowed/m", content);
  put_table("refused", dir_.path() + "/refused", content);
  put_table("gone", dir_.path() + "/allowed/gone", content);
  commit();
  FileOptions options;
  options.read_roots = {dir_.path() + "/allowed"};
  cli::Problems problems;
  const auto counts = check(options, problems);
  EXPECT_EQ(counts.read, 1U);
  EXPECT_EQ(counts.not_readable, 1U);
  EXPECT_THAT(problems.lines(), ::testing::ElementsAre(::testing::HasSubstr("a.gone: ")));
}

TEST_F(FileCheckTest, EachFileIsReadWhateverTheirSizes) {
  const std::string large = numbered_metadata(1, std::size_t{9} << 20);
  const std::string small = numbered_metadata(2);
  put_file(dir_.path() + "/large", large);
  put_file(dir_.path() + "/small", small);
  store_.put_namespace({"a"});
  for (int i = 0; i < 600; ++i) {
    const bool is_large = i % 100 == 0;
    put_table("t" + std::to_string(i), dir_.path() + (is_large ? "/large" : "/small"),
              is_large ? large : small);
  }
  commit();
  cli::Problems problems;
  const auto counts = check({}, problems);
  EXPECT_EQ(counts.read, 600U);
  EXPECT_EQ(counts.bytes, 6 * large.size() + 594 * small.size());
  EXPECT_THAT(problems.lines(), ::testing::IsEmpty());
}

}  // namespace
}  // namespace iceblink::testing
