#include "daemon/document_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "daemon/metadata_document.h"
#include "iceberg/fingerprint.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {
namespace {

constexpr std::int64_t kLongAgoNs = 1'000'000'000;
constexpr std::int64_t kAtMs = 10'000;
constexpr std::int64_t kAtNs = kAtMs * 1'000'000;

FileStamp stamp(ino_t inode) {
  return {{1, inode}, 3, kLongAgoNs, kLongAgoNs};
}
shm::Id fingerprint(std::uint8_t first, std::uint8_t last = 0) {
  shm::Id id{};
  id.front() = first;
  id.back() = last;
  return id;
}

std::shared_ptr<const std::string> text_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// What is kept; "none": nothing.
std::string kept_in(DocumentCache& cache, const shm::Id& id, const FileStamp& of) {
  const auto text = cache.find(id, of);
  return text == nullptr ? "none" : *text;
}

TEST(DocumentCache, HasTheTextOfAFingerprintAndItsFileAlone) {
  DocumentCache cache;
  EXPECT_EQ(kept_in(cache, fingerprint(1), stamp(1)), "none");
  cache.keep(fingerprint(1), stamp(1), text_of("one"), kAtMs);
  EXPECT_EQ(kept_in(cache, fingerprint(1), stamp(1)), "one");
  EXPECT_EQ(kept_in(cache, fingerprint(1, 1), stamp(1)), "none");
  EXPECT_EQ(kept_in(cache, fingerprint(2), stamp(1)), "none");

  for (const auto change :
       {+[](FileStamp& s) { s.identity.device = 2; }, +[](FileStamp& s) { s.identity.inode = 2; },
        +[](FileStamp& s) { s.bytes = 4; }, +[](FileStamp& s) { ++s.modified_ns; },
        +[](FileStamp& s) { ++s.changed_ns; }}) {
    FileStamp other = stamp(1);
    change(other);
    EXPECT_EQ(kept_in(cache, fingerprint(1), other), "none");
  }
}

TEST(DocumentCache, ReplacesWhatHasTheSamePlace) {
  DocumentCache cache;
  cache.keep(fingerprint(1), stamp(1), text_of("one"), kAtMs);
  cache.keep(fingerprint(2), stamp(2), text_of("two"), kAtMs);
  cache.keep(fingerprint(1, 1), stamp(3), text_of("three"), kAtMs);
  EXPECT_EQ(kept_in(cache, fingerprint(1), stamp(1)), "none");
  EXPECT_EQ(kept_in(cache, fingerprint(2), stamp(2)), "two");
  EXPECT_EQ(kept_in(cache, fingerprint(1, 1), stamp(3)), "three");
}

TEST(DocumentCache, DoesNotKeepLargeTextsNorThoseOfFilesThatCouldChangeUnseen) {
  DocumentCache cache;
  const std::string most(DocumentCache::kTextBytesMax, 'x');
  cache.keep(fingerprint(1), stamp(1), text_of(most + "x"), kAtMs);
  EXPECT_EQ(kept_in(cache, fingerprint(1), stamp(1)), "none");
  cache.keep(fingerprint(1), stamp(1), text_of(most), kAtMs);
  EXPECT_EQ(kept_in(cache, fingerprint(1), stamp(1)), most);

  for (const auto& [changed_ns, is_kept] :
       {std::pair{kAtNs - 99'999'999, false}, std::pair{kAtNs - 100'000'001, true},
        std::pair{kAtNs - 1'000'000'000, false}, std::pair{kAtNs - 2'000'000'000, true}}) {
    FileStamp young = stamp(2);
    young.changed_ns = changed_ns;
    cache.keep(fingerprint(2), young, text_of("young"), kAtMs);
    EXPECT_EQ(kept_in(cache, fingerprint(2), young), is_kept ? "young" : "none") << changed_ns;
  }
}

TEST(DocumentCache, OfAFileThatWasChangedInPlaceNothingIsAnsweredAtOnce) {
  const test::ScratchDir dir(::testing::TempDir());  // a tmpfs has no RWF_NOWAIT
  const std::string text = R"({"format-version":2})";
  const std::string path = dir.write("t.metadata.json", text);
  TableRow row;
  row.location = path;
  row.metadata_fingerprint = iceberg::fingerprint_of(std::as_bytes(std::span(text)));

  DocumentCache cache;
  const auto first = read_document_at_once(row, {}, cache);
  if (!first) GTEST_SKIP() << "a file system without openat2(RESOLVE_CACHED) or RWF_NOWAIT";
  EXPECT_EQ(*first, text);
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  cache.keep(row.metadata_fingerprint, FileStamp::of(status), text_of("kept"), now_ms() + 10'000);
  const auto kept = read_document_at_once(row, {}, cache);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(*kept, "kept");

  dir.write("t.metadata.json", R"({"format-version":1, "and": "more"})");
  EXPECT_EQ(read_document_at_once(row, {}, cache), nullptr);
  std::filesystem::remove(path);
  EXPECT_EQ(read_document_at_once(row, {}, cache), nullptr);
}

}  // namespace
}  // namespace iceblink::daemon
