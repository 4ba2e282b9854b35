// Loads of metadata that are out of the ordinary: compressed files, readers that ask the catalog
// they read for, a fork inside a batch.
#include <libdeflate.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <thread>

#include "tests/client/cache/metadata_files.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

using Metadata = Result<std::shared_ptr<const TableMetadata>>;

std::string gzipped(std::string_view text) {
  auto* const compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

/// Reads by a function, one object at a time.
class FunctionReader : public ObjectReader {
 public:
  using Read = std::function<Result<std::string>(const std::string& location)>;
  explicit FunctionReader(Read read) : read_(std::move(read)) {}
  void read(std::span<const std::string> locations, std::size_t /*object_bytes_max*/,
            std::span<Result<std::string>> contents) override {
    for (std::size_t i = 0; i < locations.size(); ++i) contents[i] = read_(locations[i]);
  }

 private:
  const Read read_;
};

class MetadataLoads : public SegmentTest {
 protected:
  void SetUp() override {
    SegmentTest::SetUp();
    store_.put_namespace({"a"});
    commit();
  }
  void put(const std::string& table, const std::string& bytes) {
    const std::string path = files_.path() + "/" + table + ".metadata.json";
    put_file(path, bytes);
    store_.put_table(name(table), path, fingerprint_of(bytes));
  }
  static TableIdent name(const std::string& table) { return ident({"a"}, table); }
  static std::uint64_t number(const Metadata& metadata) {
    EXPECT_TRUE(metadata.ok()) << metadata.error().message();
    return metadata.ok() ? number_of(**metadata) : 0;
  }
  static CatalogOptions bound(std::size_t bytes_max, double share) {
    CatalogOptions options;
    options.metadata_cache_bytes_max = bytes_max;
    options.metadata_cache_entry_share = share;
    return options;
  }

  TempDir files_;
};

TEST_F(MetadataLoads, AGzipFileTooLargeToBeKeptMakesNobodyGo) {
  for (std::uint64_t i = 0; i < 50; ++i) put(std::to_string(i), numbered_metadata(i, 10'000));
  const std::string large = gzipped(numbered_metadata(77, 780'000));
  ASSERT_LT(large.size(), 10'000U);
  put("large", large);
  put("damaged", large.substr(0, large.size() / 2) + large.substr(large.size() - 8));
  commit();
  const Catalog catalog = open(bound(1'000'000, 0.125));
  for (std::uint64_t i = 0; i < 50; ++i) {
    EXPECT_EQ(number(catalog.resolve_metadata(name(std::to_string(i)))), i);
  }
  EXPECT_EQ(number(catalog.resolve_metadata(name("large"))), 77U);
  EXPECT_THAT(catalog.resolve_metadata(name("damaged")), IsError(ErrorKind::kCorrupt));
  const auto stats = catalog.stats().metadata_cache;
  EXPECT_EQ(stats.entry_count, 50U);
  EXPECT_EQ(stats.eviction_count, 0U);
  EXPECT_EQ(stats.unkept_count, 1U);
}

TEST_F(MetadataLoads, AGzipFileThatClaimsTooLittleIsAccountedForAsItGrows) {
  const std::string text = numbered_metadata(1, 60'000);
  // The trailer is that of the last member.
  put("t", gzipped(std::string_view(text).substr(0, text.size() - 1)) + gzipped("}"));
  commit();
  const Catalog catalog = open(bound(1'000'000, 0.5));
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
  const auto stats = catalog.stats().metadata_cache;
  EXPECT_EQ(stats.entry_count, 1U);
  EXPECT_LT(stats.kept_bytes, 70'000U);
  EXPECT_GE(stats.used_bytes_peak, 75'000U);
  EXPECT_EQ(stats.in_flight_bytes, 0U);
}

TEST_F(MetadataLoads, ABoundAsLargeAsASizeCanBeIsOne) {
  put("t", numbered_metadata(1));
  commit();
  for (const double share : {1.0, std::nextafter(1.0, 0.0), 0.125}) {
    const Catalog catalog = open(bound(std::numeric_limits<std::size_t>::max(), share));
    EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
    EXPECT_EQ(catalog.stats().metadata_cache.entry_count, 1U) << share;
  }
}

TEST_F(MetadataLoads, ManyAtOnceAtGenerationZeroAreFound) {
  const TempDir dir;
  MemoryStore first;
  first.set_generation(0);
  const std::string path = files_.path() + "/t.metadata.json";
  put_file(path, numbered_metadata(5));
  first.seed(encode(Namespace{"a"}), RecordKind::kNamespace, "");
  first.seed(encode(name("t")), RecordKind::kTable, path);
  ASSERT_OK(first.start(dir.path()));
  const auto catalog = Catalog::open(dir.path());
  ASSERT_OK(catalog);
  const std::vector<TableIdent> names{name("t")};
  const auto found = catalog->resolve_metadata(names);
  ASSERT_OK(found);
  ASSERT_OK((*found)[0]);
  ASSERT_NE(*(*found)[0], nullptr);
  EXPECT_EQ(number((*found)[0]), 5U);
}

TEST_F(MetadataLoads, AReaderThatAsksForWhatItIsToReadIsTold) {
  std::optional<Catalog> catalog;
  std::optional<Metadata> inside;
  CatalogOptions options;
  options.files.readers = {
      {"own", std::make_shared<FunctionReader>([&](const std::string&) -> Result<std::string> {
         inside.emplace(catalog->resolve_metadata(name("t")));
         return numbered_metadata(1);
       })}};
  catalog.emplace(open(options));
  store_.put_table(name("t"), "own://b/t");
  commit();
  EXPECT_EQ(number(catalog->resolve_metadata(name("t"))), 1U);
  ASSERT_TRUE(inside.has_value());
  EXPECT_THAT(*inside, IsError(ErrorKind::kUnsupported));
}

TEST_F(MetadataLoads, ReadersThatAskForEachOthersDocumentsEnd) {
  std::optional<Catalog> catalog;
  std::atomic<int> inside{0};
  CatalogOptions options;
  options.files.readers = {
      {"own", std::make_shared<FunctionReader>([&](const std::string& location) {
         // Each asks once both are being read; what is read for that asks no more.
         const bool asks = inside++ < 2;
         while (inside < 2) std::this_thread::yield();
         const bool is_first = location == "own://b/1";
         if (asks) {
           EXPECT_EQ(number(catalog->resolve_metadata(name(is_first ? "2" : "1"))),
                     is_first ? 2U : 1U);
         }
         return Result<std::string>(numbered_metadata(is_first ? 1 : 2));
       })}};
  catalog.emplace(open(options));
  for (const char* table : {"1", "2"}) {
    store_.put_table(name(table), std::string("own://b/") + table);
  }
  commit();
  std::thread second([&] { EXPECT_EQ(number(catalog->resolve_metadata(name("2"))), 2U); });
  EXPECT_EQ(number(catalog->resolve_metadata(name("1"))), 1U);
  second.join();
}

TEST_F(MetadataLoads, AChildForkedInsideABatchReadsWhatThreadsOfItsParentWereReading) {
  std::atomic<bool> is_held{true};
  std::atomic<bool> is_reading{false};
  pid_t child = -1;
  CatalogOptions options;
  options.files.readers = {{"held", std::make_shared<FunctionReader>([&](const std::string&) {
                              is_reading = true;
                              while (is_held) std::this_thread::yield();
                              return Result<std::string>(numbered_metadata(1));
                            })},
                           {"fork", std::make_shared<FunctionReader>([&](const std::string&) {
                              child = ::fork();
                              if (child == 0) {
                                ::alarm(60);  // a watchdog
                                is_held = false;
                              }
                              return Result<std::string>(numbered_metadata(2));
                            })}};
  const Catalog catalog = open(options);
  store_.put_table(name("1"), "held://b/1");
  store_.put_table(name("2"), "fork://b/2");
  commit();
  std::thread other([&] { EXPECT_EQ(number(catalog.resolve_metadata(name("1"))), 1U); });
  while (!is_reading) std::this_thread::yield();
  const std::vector<TableIdent> names{name("1"), name("2")};
  // The parent's batch waits for the other thread.
  std::thread releases([&] {
    while (catalog.stats().metadata_cache.load_count < 2) std::this_thread::yield();
    is_held = false;
  });
  const auto found = catalog.resolve_metadata(names);
  const bool is_right = found.ok() && (*found)[0].ok() && number_of(**(*found)[0]) == 1 &&
                        (*found)[1].ok() && number_of(**(*found)[1]) == 2;
  if (child == 0) ::_exit(is_right ? 0 : 1);
  EXPECT_TRUE(is_right);
  other.join();
  releases.join();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace iceblink::testing
