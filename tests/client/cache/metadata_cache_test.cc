// Catalog::resolve_metadata over a segment made from memory, and real files.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <limits>
#include <mutex>
#include <thread>

#include "tests/client/fake_daemon.h"
#include "tests/client/metadata_fixture.h"

namespace iceblink::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class MetadataCacheTest : public MetadataTest {
 protected:
  static std::uint64_t number(const Result<std::shared_ptr<const TableMetadata>>& metadata) {
    EXPECT_TRUE(metadata.ok()) << metadata.error().message();
    return metadata.ok() ? number_of(**metadata) : 0;
  }
};

TEST_F(MetadataCacheTest, ReadsAFileOnceAndSharesTheDocument) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  const auto first = catalog.resolve_metadata(name("t"));
  EXPECT_EQ(number(first), 1U);
  EXPECT_EQ(*catalog.resolve_metadata(name("t")), *first);
  EXPECT_EQ(*catalog.resolve_metadata(*catalog.prepare(name("t"))), *first);
  const auto stats = catalog.stats();
  EXPECT_EQ(stats.metadata_cache.load_count, 1U);
  EXPECT_EQ(stats.metadata_cache.entry_count, 1U);
  EXPECT_EQ(stats.files.file_count, 1U);
}

TEST_F(MetadataCacheTest, FollowsThePointer) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
  put("t", "v2.metadata.json", numbered_metadata(2));
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 2U);
  flip();
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 2U);
  EXPECT_EQ(catalog.stats().metadata_cache.load_count, 2U);
}

TEST_F(MetadataCacheTest, ATableMadeAgainOnTheSamePathIsAnotherOne) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
  store_.drop_table(name("t"));
  commit();
  EXPECT_THAT(catalog.resolve_metadata(name("t")), IsError(ErrorKind::kNotFound));
  put("t", "v1.metadata.json", numbered_metadata(2));
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 2U);
}

TEST_F(MetadataCacheTest, NamesOnOneFileShareItsDocumentAndDoNotCross) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  put("u", "v1.metadata.json", numbered_metadata(1));
  put("w", "v2.metadata.json", numbered_metadata(2));
  const Catalog catalog = open();
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(*catalog.resolve_metadata(name("t")), *catalog.resolve_metadata(name("u")));
    EXPECT_EQ(number(catalog.resolve_metadata(name("w"))), 2U);
  }
  EXPECT_EQ(catalog.stats().metadata_cache.load_count, 2U);
}

TEST_F(MetadataCacheTest, OneContentAtTwoPlacesIsTwoDocuments) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  put("u", "v2.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  EXPECT_NE(*catalog.resolve_metadata(name("t")), *catalog.resolve_metadata(name("u")));
}

TEST_F(MetadataCacheTest, AFileThatChangedInPlaceIsFoundOutAndNotKept) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  put_file(path("v1.metadata.json"), numbered_metadata(2));
  const Catalog catalog = open();
  const auto changed = catalog.resolve_metadata(name("t"));
  EXPECT_THAT(changed, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(changed.error().message(), StartsWith(path("v1.metadata.json")));
  EXPECT_THAT(changed.error().message(), HasSubstr("no longer matches the fingerprint"));
  EXPECT_EQ(catalog.stats().metadata_cache.entry_count, 0U);
  put_file(path("v1.metadata.json"), numbered_metadata(1));
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U) << "as it was registered";
}

TEST_F(MetadataCacheTest, AFileThatIsGoneIsAnErrorThatNamesTheLocation) {
  store_.put_table(name("t"), path("none.metadata.json"), fingerprint_of("x"));
  commit();
  const Catalog catalog = open();
  const auto gone = catalog.resolve_metadata(name("t"));
  EXPECT_THAT(gone, IsError(ErrorKind::kNotFound));
  EXPECT_EQ(gone.error().message(),
            "Failed to open input stream for file: " + path("none.metadata.json"));
  EXPECT_EQ(catalog.stats().metadata_cache.load_failure_count, 1U);
}

TEST_F(MetadataCacheTest, AnEmptyFileIsAnErrorThatNamesItAndIsNotKept) {
  put("t", "v1.metadata.json", "");
  const Catalog catalog = open();
  for (int turn = 0; turn < 2; ++turn) {
    const auto empty = catalog.resolve_metadata(name("t"));
    EXPECT_THAT(empty, IsError(ErrorKind::kCorrupt));
    EXPECT_THAT(empty.error().message(), StartsWith(path("v1.metadata.json") + ": "));
  }
  EXPECT_EQ(catalog.stats().metadata_cache.load_failure_count, 2U);
}

TEST_F(MetadataCacheTest, AnUnverifiedPointerIsReadAnewAfterEachMove) {
  const std::string location = path("v1.metadata.json");
  put_file(location, numbered_metadata(1));
  store_.put_table(name("t"), location);
  commit();
  const Catalog catalog = open();
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
  put_file(location, numbered_metadata(2));
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U) << "of that generation";
  flip();
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
  store_.put_table(name("t"), location);
  commit();
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 2U);
}

TEST_F(MetadataCacheTest, TablesAndViewsAreToldApart) {
  const std::string view = R"({"view-uuid": "00000000-0000-4000-8000-000000000009",
    "format-version": 1, "location": "file:///w/v", "current-version-id": 1, "properties": {},
    "schemas": [{"type": "struct", "schema-id": 0, "fields": []}],
    "versions": [{"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {},
      "default-namespace": ["a"], "representations": []}],
    "version-log": [{"version-id": 1, "timestamp-ms": 1}]})";
  put_file(path("view.json"), view);
  store_.put(encode(name("v")), RecordKind::kView, path("view.json"), fingerprint_of(view));
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  const auto found = catalog.resolve_view_metadata(name("v"));
  ASSERT_OK(found);
  EXPECT_EQ((*found)->current_version_id, 1);
  EXPECT_EQ(*catalog.resolve_view_metadata(name("v")), *found);
  EXPECT_THAT(catalog.resolve_metadata(name("v")), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(catalog.resolve_view_metadata(name("t")), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(catalog.resolve_view_metadata(name("none")), IsError(ErrorKind::kNotFound));
}

TEST_F(MetadataCacheTest, NamesThatCannotExistAreTold) {
  const Catalog catalog = open();
  EXPECT_THAT(catalog.resolve_metadata(TableIdent{{}, "t"}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(catalog.resolve_metadata(name("none")), IsError(ErrorKind::kNotFound));
}

TEST_F(MetadataCacheTest, ManyAtOnceHaveResultsOfTheirOwn) {
  std::vector<TableIdent> names;
  for (std::uint64_t i = 0; i < 100; ++i) {
    names.push_back(name("t" + std::to_string(i)));
    put(names.back().name, "v" + std::to_string(i) + ".json", numbered_metadata(i));
  }
  names.push_back(name("none"));
  names.push_back(names[3]);
  names.push_back({{}, "t"});
  store_.put_table(name("gone"), path("gone.json"), fingerprint_of("x"));
  commit();
  names.push_back(name("gone"));
  const Catalog catalog = open();
  for (int turn = 0; turn < 2; ++turn) {
    const auto found = catalog.resolve_metadata(names);
    ASSERT_OK(found);
    ASSERT_EQ(found->size(), names.size());
    for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(number((*found)[i]), i);
    EXPECT_THAT((*found)[100], IsError(ErrorKind::kNotFound));
    EXPECT_EQ(*(*found)[101], *(*found)[3]);
    EXPECT_THAT((*found)[102], IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT((*found)[103], IsError(ErrorKind::kNotFound));
  }
  EXPECT_EQ(catalog.stats().metadata_cache.entry_count, 100U);
}

TEST_F(MetadataCacheTest, ABatchLargerThanTheCacheIsServed) {
  std::vector<TableIdent> names;
  for (std::uint64_t i = 0; i < 80; ++i) {
    names.push_back(name("t" + std::to_string(i)));
    put(names.back().name, "v" + std::to_string(i) + ".json", numbered_metadata(i, 10'000));
  }
  CatalogOptions options;
  options.metadata_cache_bytes_max = 200'000;
  const Catalog catalog = open(options);
  const auto found = catalog.resolve_metadata(names);
  ASSERT_OK(found);
  for (std::uint64_t i = 0; i < 80; ++i) EXPECT_EQ(number((*found)[i]), i);
  const auto stats = catalog.stats().metadata_cache;
  EXPECT_LE(stats.used_bytes_peak, 200'000U);
  EXPECT_GT(stats.entry_count, 0U);
}

TEST_F(MetadataCacheTest, BatchesOfTheSameTablesShareTheirLoads) {
  std::vector<TableIdent> names;
  for (std::uint64_t i = 0; i < 64; ++i) {
    names.push_back(name("t" + std::to_string(i)));
    put(names.back().name, "v" + std::to_string(i) + ".json", numbered_metadata(i));
  }
  std::vector<TableIdent> reversed(names.rbegin(), names.rend());
  const Catalog catalog = open();
  std::barrier ready(4);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      ready.arrive_and_wait();
      const auto& asked = thread % 2 == 0 ? names : reversed;
      const auto found = catalog.resolve_metadata(asked);
      for (std::size_t i = 0; i < asked.size(); ++i) {
        const auto& metadata = (*found)[i];
        if (!metadata || "t" + std::to_string(number_of(**metadata)) != asked[i].name) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(catalog.stats().metadata_cache.load_count, 64U);
}

TEST_F(MetadataCacheTest, SwitchedOffItReadsThrough) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  CatalogOptions options;
  options.metadata_cache_bytes_max = 0;
  const Catalog catalog = open(options);
  for (int turn = 0; turn < 3; ++turn) {
    EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
  }
  EXPECT_EQ(catalog.stats().metadata_cache.load_count, 3U);
  EXPECT_EQ(catalog.stats().metadata_cache.used_bytes_peak, 0U);
}

TEST_F(MetadataCacheTest, WhatIsLargerThanItsShareIsServedAndNotKept) {
  put("t", "v1.metadata.json", numbered_metadata(1, 60'000));
  CatalogOptions options;
  options.metadata_cache_bytes_max = 200'000;
  options.metadata_cache_entry_share = 0.25;
  const Catalog catalog = open(options);
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
  EXPECT_EQ(catalog.stats().metadata_cache.entry_count, 0U);
  EXPECT_EQ(catalog.stats().metadata_cache.unkept_count, 1U);
}

TEST_F(MetadataCacheTest, OptionsThatCannotBeAreErrorsOfOpen) {
  CatalogOptions options;
  for (const double share : {0.0, -1.0, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    options.metadata_cache_entry_share = share;
    EXPECT_THAT(Catalog::open(dir_.path(), options), IsError(ErrorKind::kInvalidArgument));
  }
  options = {};
  options.files.read_roots = {"not/absolute"};
  EXPECT_THAT(Catalog::open(dir_.path(), options), IsError(ErrorKind::kInvalidArgument));
}

TEST_F(MetadataCacheTest, LimitsAreErrorsThatNameTheFile) {
  put("t", "v1.metadata.json", numbered_metadata(1, 10'000));
  CatalogOptions options;
  options.metadata_limits.document_bytes_max = 5000;
  const Catalog catalog = open(options);
  const auto large = catalog.resolve_metadata(name("t"));
  EXPECT_THAT(large, IsError(ErrorKind::kTooLarge));
  EXPECT_THAT(large.error().message(), StartsWith(path("v1.metadata.json") + ": "));
}

/// Objects of a scheme of the engine's own, whose reads wait for a permit.
class HeldReader : public ObjectReader {
 public:
  void read(std::span<const std::string> locations, std::size_t /*object_bytes_max*/,
            std::span<Result<std::string>> contents) noexcept override {
    const std::string text = content();
    ++reads;
    while (!may_go_on) std::this_thread::yield();
    for (std::size_t i = 0; i < locations.size(); ++i) contents[i] = text;
  }
  void set(std::string text) {
    const std::lock_guard lock(mutex_);
    content_ = std::move(text);
  }

  std::atomic<int> reads{0};
  std::atomic<bool> may_go_on{true};

 private:
  [[nodiscard]] std::string content() {
    const std::lock_guard lock(mutex_);
    return content_;
  }
  std::mutex mutex_;
  std::string content_;
};

TEST_F(MetadataCacheTest, ALoadBegunBeforeACommitServesItsCallerAloneAndNobodyAfter) {
  const auto reader = std::make_shared<HeldReader>();
  CatalogOptions options;
  options.files.readers = {{"held", reader}};
  const Catalog catalog = open(options);
  store_.put_table(name("t"), "held://bucket/v1.metadata.json");
  commit();
  reader->set(numbered_metadata(1));
  reader->may_go_on = false;
  std::thread early([&] { EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U); });
  while (reader->reads == 0) std::this_thread::yield();
  reader->set(numbered_metadata(2));
  store_.put_table(name("t"), "held://bucket/v1.metadata.json");
  commit();
  std::thread late([&] { EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 2U); });
  while (reader->reads < 2) std::this_thread::yield();
  reader->may_go_on = true;
  early.join();
  late.join();
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 2U);
  EXPECT_EQ(reader->reads, 2);
}

TEST_F(MetadataCacheTest, AFileThatVanishesBesideAMoveIsFollowed) {
  const auto reader = std::make_shared<HeldReader>();
  CatalogOptions options;
  options.files.readers = {{"held", reader}};
  const Catalog catalog = open(options);
  reader->set(numbered_metadata(1));
  store_.put_table(name("t"), "held://bucket/v1.metadata.json",
                   fingerprint_of(numbered_metadata(2)));
  commit();
  reader->may_go_on = false;
  std::thread asking([&] { EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 3U); });
  while (reader->reads == 0) std::this_thread::yield();
  reader->set(numbered_metadata(3));
  store_.put_table(name("t"), "held://bucket/v1.metadata.json",
                   fingerprint_of(numbered_metadata(3)));
  commit();
  reader->may_go_on = true;
  asking.join();
  EXPECT_EQ(catalog.stats().metadata_cache.load_failure_count, 1U);
  EXPECT_EQ(catalog.stats().metadata_cache.load_count, 2U);
}

TEST_F(MetadataCacheTest, WhatOnlyTheDaemonKnowsIsReadAndNotKept) {
  const std::string location = path("new.metadata.json");
  put_file(location, numbered_metadata(8));
  FakeDaemon daemon(dir_.path() + "/" + shm::kSocketName, [&](FakePeer& peer) {
    for (std::string request = peer.receive(); !request.empty(); request = peer.receive()) {
      if (request.starts_with("HEAD /v1/namespaces/a/tables/new ")) {
        peer.send("HTTP/1.1 204 No Content\r\n\r\n");
      } else if (request.starts_with("GET /v1/namespaces/a/tables/new?")) {
        peer.answer(200, R"({"metadata-location":")" + location + R"(","metadata":{}})");
      } else {
        peer.send("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n");
      }
    }
  });
  CatalogOptions options;
  options.ask_daemon = AskDaemon::kAlways;
  options.ask_deadline = std::chrono::seconds(30);
  options.asks_per_second_max = 1'000'000'000;
  const Catalog catalog = open(options);
  EXPECT_EQ(number(catalog.resolve_metadata(name("new"))), 8U);
  EXPECT_EQ(catalog.stats().ask_count, 1U);
  EXPECT_EQ(catalog.stats().metadata_cache.load_count, 0U);
  const std::vector<TableIdent> names{name("new")};
  EXPECT_THAT((*catalog.resolve_metadata(names))[0], IsError(ErrorKind::kNotFound))
      << "lookups of several names do not ask";
  EXPECT_EQ(catalog.stats().ask_count, 1U);
}

TEST_F(MetadataCacheTest, AChildReadsOn) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  put("u", "v2.metadata.json", numbered_metadata(2));
  const Catalog catalog = open();
  EXPECT_EQ(number(catalog.resolve_metadata(name("t"))), 1U);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);  // a watchdog
    const std::vector<TableIdent> both{name("t"), name("u")};
    const auto all = catalog.resolve_metadata(both);
    const bool right = number(catalog.resolve_metadata(name("t"))) == 1 && all.ok() &&
                       number((*all)[0]) == 1 && number((*all)[1]) == 2 &&
                       catalog.stats().metadata_cache.load_count == 2;
    ::_exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(number(catalog.resolve_metadata(name("u"))), 2U);
}

TEST_F(MetadataCacheTest, ADocumentOutlivesItsCatalog) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  std::shared_ptr<const TableMetadata> held;
  {
    const Catalog catalog = open();
    held = *catalog.resolve_metadata(name("t"));
    held = *catalog.resolve_metadata(name("t"));
  }
  EXPECT_EQ(number_of(*held), 1U);
  EXPECT_TRUE(held->snapshots().ok());
}

}  // namespace
}  // namespace iceblink::testing
