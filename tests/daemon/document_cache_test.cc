#include "daemon/document_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <span>

#include "daemon/metadata_document.h"
#include "iceberg/fingerprint.h"
#include "tests/daemon/scratch_dir.h"

namespace iceblink::daemon {
namespace {

constexpr std::int64_t kLongAgoNs = 1'000'000'000;
constexpr std::int64_t kAtMs = 10'000;

FileStamp stamp(ino_t inode) {
  return {{1, inode}, 3, kLongAgoNs, kLongAgoNs};
}
shm::Id fingerprint(std::uint8_t first, std::uint8_t last = 0) {
  shm::Id id{};
  id.front() = first;
  id.back() = last;
  return id;
}

TEST(DocumentCache, HasTheTextOfAFingerprintAndItsFileAlone) {
  DocumentCache cache;
  EXPECT_FALSE(cache.find(fingerprint(1), stamp(1)).has_value());
  cache.keep(fingerprint(1), stamp(1), "one", kAtMs);
  EXPECT_EQ(cache.find(fingerprint(1), stamp(1)), "one");
  EXPECT_FALSE(cache.find(fingerprint(1, 1), stamp(1)).has_value());
  EXPECT_FALSE(cache.find(fingerprint(2), stamp(1)).has_value());

  for (const auto change :
       {+[](FileStamp& s) { s.identity.device = 2; }, +[](FileStamp& s) { s.identity.inode = 2; },
        +[](FileStamp& s) { s.bytes = 4; }, +[](FileStamp& s) { ++s.modified_ns; },
        +[](FileStamp& s) { ++s.changed_ns; }}) {
    FileStamp other = stamp(1);
    change(other);
    EXPECT_FALSE(cache.find(fingerprint(1), other).has_value());
  }
}

TEST(DocumentCache, ReplacesWhatHasTheSamePlace) {
  DocumentCache cache;
  cache.keep(fingerprint(1), stamp(1), "one", kAtMs);
  cache.keep(fingerprint(2), stamp(2), "two", kAtMs);
  cache.keep(fingerprint(1, 1), stamp(3), "three", kAtMs);
  EXPECT_FALSE(cache.find(fingerprint(1), stamp(1)).has_value());
  EXPECT_EQ(cache.find(fingerprint(2), stamp(2)), "two");
  EXPECT_EQ(cache.find(fingerprint(1, 1), stamp(3)), "three");
}

TEST(DocumentCache, DoesNotKeepLargeTextsNorThoseOfFilesThatCouldChangeUnseen) {
  DocumentCache cache;
  const std::string most(DocumentCache::kTextBytesMax, 'x');
  cache.keep(fingerprint(1), stamp(1), most + "x", kAtMs);
  EXPECT_FALSE(cache.find(fingerprint(1), stamp(1)).has_value());
  cache.keep(fingerprint(1), stamp(1), most, kAtMs);
  EXPECT_EQ(cache.find(fingerprint(1), stamp(1)), most);

  FileStamp young = stamp(2);
  young.changed_ns = kAtMs * 1'000'000 - 1'999'000'000;
  cache.keep(fingerprint(2), young, "young", kAtMs);
  EXPECT_FALSE(cache.find(fingerprint(2), young).has_value());
  young.changed_ns -= 1'000'000;
  cache.keep(fingerprint(2), young, "no longer", kAtMs);
  EXPECT_EQ(cache.find(fingerprint(2), young), "no longer");
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
  cache.keep(row.metadata_fingerprint, FileStamp::of(status), "kept", now_ms() + 10'000);
  EXPECT_EQ(read_document_at_once(row, {}, cache), "kept");

  dir.write("t.metadata.json", R"({"format-version":1, "and": "more"})");
  EXPECT_FALSE(read_document_at_once(row, {}, cache).has_value());
  std::filesystem::remove(path);
  EXPECT_FALSE(read_document_at_once(row, {}, cache).has_value());
}

}  // namespace
}  // namespace iceblink::daemon
