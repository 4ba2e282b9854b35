// A very large document: 20,000 snapshots and 200 schemas, 250 MB of JSON. It is loaded within its
// limits, in memory that is bounded, or refused by name.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>

#include "tests/iceberg/metadata_samples.h"

namespace iceblink::iceberg::testing {
namespace {

constexpr int kSnapshots = 20'000;
constexpr int kSchemas = 200;
constexpr int kColumns = 100;
constexpr std::size_t kSummaryBytes = 12'300;  // for 250 MB in all

std::string large_document() {
  std::string text = v2().without("schemas").text();
  text.reserve(std::size_t{260} << 20);
  text.pop_back();
  text += R"(,"current-snapshot-id":19999,"schemas":[)";
  for (int id = 0; id < kSchemas; ++id) {
    std::string fields;
    for (int column = 1; column <= kColumns; ++column) {
      fields += (column == 1 ? "" : ",") + field(column, "c" + std::to_string(column)).text();
    }
    text += (id == 0 ? "" : ",") + schema(fields, id).text();
  }
  text += R"(],"snapshots":[)";
  std::string summary = R"({"operation":"append")";
  for (int i = 0; summary.size() < kSummaryBytes; ++i) {
    summary += ",\"counter-" + std::to_string(i) + R"(":"1234567890")";
  }
  summary += '}';
  for (int id = 0; id < kSnapshots; ++id) {
    text += (id == 0 ? "" : ",") + snapshot(std::to_string(id)).with("summary", summary).text();
  }
  return text += "]}";
}

/// Most memory that a child took while it ran `work`, beyond what it began with; it must succeed.
template <typename Work>
std::size_t peak_bytes_of(Work work) {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(100);  // a watchdog
    const auto peak = [] {
      rusage usage{};
      ::getrusage(RUSAGE_SELF, &usage);
      return static_cast<std::size_t>(usage.ru_maxrss) * 1024;
    };
    const std::size_t before = peak();
    const bool is_right = work();
    const std::size_t grown = peak() - before;
    const bool is_told = ::write(ends[1], &grown, sizeof(grown)) == sizeof(grown);
    ::_exit(is_right && is_told ? 0 : 1);
  }
  ::close(ends[1]);
  std::size_t grown = 0;
  EXPECT_EQ(::read(ends[0], &grown, sizeof(grown)), static_cast<ssize_t>(sizeof(grown)));
  ::close(ends[0]);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "the child did not find what it should";
  return grown;
}

// Case 21 of the public bug reports.
TEST(LargeMetadata, IsLoadedWithinItsLimitsOrRefusedByName) {
  std::string file;
  std::size_t text_bytes = 0;
  {
    const std::string text = large_document();
    text_bytes = text.size();
    file = gzipped(text, 1);
  }
  ASSERT_GT(text_bytes, std::size_t{245'000'000});
  ASSERT_LT(file.size(), std::size_t{12'000'000});

  const std::size_t grown_bytes = peak_bytes_of([&] {
    const auto table = load(file);
    if (!table || (*table)->schemas.size() != kSchemas) return false;
    if ((*table)->snapshot_index().size() != kSnapshots) return false;
    const auto current = (*table)->current_snapshot();
    return current.ok() && (*current)->snapshot_id == kSnapshots - 1 &&
           (*table)->weight_bytes() < text_bytes + (std::size_t{32} << 20);
  });
  RecordProperty("text_mib", static_cast<int>(text_bytes >> 20));
  RecordProperty("peak_mib", static_cast<int>(grown_bytes >> 20));
  std::printf("%zu MiB of JSON, %zu MiB stored: %zu MiB at most while it is loaded\n",
              text_bytes >> 20, file.size() >> 20, grown_bytes >> 20);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose memory is not ours
  // Its text once, or twice while it is inflated, and where its tokens are.
  EXPECT_LT(grown_bytes, text_bytes * 5 / 2);
#endif

  const std::string error = error_of(file, {.inflated_bytes_max = std::size_t{128} << 20});
  EXPECT_THAT(error, ::testing::StartsWith("too_large: "));
  EXPECT_THAT(error, ::testing::HasSubstr(std::to_string(std::size_t{128} << 20)));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
