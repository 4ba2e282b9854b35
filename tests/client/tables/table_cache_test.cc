// Catalog::load_table and the cache of handles, over a segment made from memory and real files.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <limits>
#include <random>
#include <thread>

#include "tests/client/metadata_fixture.h"

namespace iceblink::testing {
namespace {

using ::testing::HasSubstr;

using Loaded = Result<std::shared_ptr<const Table>>;

class TableCacheTest : public MetadataTest {
 protected:
  static std::uint64_t number(const Loaded& table) {
    EXPECT_TRUE(table.ok()) << table.error().message();
    return table.ok() ? number_of((*table)->metadata()) : 0;
  }
};

TEST_F(TableCacheTest, AHandleIsMadeOnceAndShared) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  const auto first = catalog.load_table(name("t"));
  ASSERT_EQ(number(first), 1U);
  EXPECT_EQ(*catalog.load_table(name("t")), *first);
  EXPECT_EQ(*catalog.load_table(*catalog.prepare(name("t"))), *first);
  EXPECT_EQ(&(*first)->metadata(), catalog.resolve_metadata(name("t"))->get());
  EXPECT_EQ(catalog.stats().table_cache.load_count, 1U);
  EXPECT_EQ(catalog.stats().files.file_count, 1U);
}

TEST_F(TableCacheTest, AHandleSaysWhatItIsOf) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  const auto table = catalog.load_table(name("t"));
  ASSERT_OK(table);
  EXPECT_EQ((*table)->identifier(), name("t"));
  EXPECT_EQ((*table)->metadata_location(), path("v1.metadata.json"));
  EXPECT_EQ((*table)->location(), "file:///w/t");
  EXPECT_EQ((*table)->generation(), *catalog.generation());
  EXPECT_EQ((*table)->schema().fields.size(), 1U);
  EXPECT_EQ((*table)->schema(0), &(*table)->schema());
  EXPECT_EQ((*table)->schema(7), nullptr);
  EXPECT_EQ((*table)->partition_spec(0), &(*table)->partition_spec());
  EXPECT_EQ((*table)->sort_order(0), &(*table)->sort_order());
  EXPECT_EQ((*table)->property("number"), "1");
  EXPECT_EQ((*table)->property("none"), std::nullopt);
}

TEST_F(TableCacheTest, APinnedHandleStaysAndALoadIsTheNewest) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  const auto pinned = catalog.load_table(name("t"));
  put("t", "v2.metadata.json", numbered_metadata(2));
  EXPECT_EQ(number(catalog.load_table(name("t"))), 2U);
  EXPECT_EQ(number(pinned), 1U);
  store_.drop_table(name("t"));
  commit();
  EXPECT_THAT(catalog.load_table(name("t")), IsError(ErrorKind::kNotFound));
  EXPECT_EQ(number(pinned), 1U);
}

TEST_F(TableCacheTest, AHandleOutlivesTheCatalog) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  Loaded table{std::shared_ptr<const Table>()};
  {
    const Catalog catalog = open();
    table = catalog.load_table(name("t"));
  }
  ASSERT_EQ(number(table), 1U);
  const auto current = (*table)->current_snapshot();
  ASSERT_OK(current);
  EXPECT_EQ(*current, nullptr);
  EXPECT_TRUE((*table)->plan_files()->tasks().empty());
}

TEST_F(TableCacheTest, AFlipOfArenasKeepsHandles) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  const auto before = catalog.load_table(name("t"));
  ASSERT_OK(before);
  flip();
  EXPECT_EQ(*catalog.load_table(name("t")), *before);
  EXPECT_EQ(catalog.stats().table_cache.load_count, 1U);
}

TEST_F(TableCacheTest, ATableMadeAgainOnTheSamePathIsAnotherOne) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  const Catalog catalog = open();
  EXPECT_EQ(number(catalog.load_table(name("t"))), 1U);
  store_.drop_table(name("t"));
  commit();
  put("t", "v1.metadata.json", numbered_metadata(2));
  EXPECT_EQ(number(catalog.load_table(name("t"))), 2U);
}

TEST_F(TableCacheTest, NamesOnOneFileHaveHandlesOfTheirOwnInEveryOrder) {
  put_file(path("v1.metadata.json"), numbered_metadata(1));
  const auto fingerprint = fingerprint_of(numbered_metadata(1));
  // One registered as verified, one not: other keys, the same file.
  for (const char* table : {"t", "u", "w"}) {
    store_.put_table(name(table), path("v1.metadata.json"), fingerprint);
  }
  store_.put_table(name("unverified"), path("v1.metadata.json"));
  store_.put_namespace({"a", "t"});
  store_.put_table(ident({"a", "t"}, "t"), path("v1.metadata.json"), fingerprint);
  commit();
  std::vector<TableIdent> names{name("t"), name("u"), name("unverified"), name("w"),
                                ident({"a", "t"}, "t")};
  std::sort(names.begin(), names.end(),
            [](const TableIdent& a, const TableIdent& b) { return format(a) < format(b); });
  const auto less = [](const TableIdent& a, const TableIdent& b) { return format(a) < format(b); };
  int orders = 0;
  do {
    const Catalog catalog = open();
    for (int turn = 0; turn < 2; ++turn) {
      for (const TableIdent& each : names) {
        const auto table = catalog.load_table(each);
        ASSERT_OK(table);
        ASSERT_EQ((*table)->identifier(), each);
      }
    }
    ASSERT_EQ(catalog.stats().table_cache.entry_count, names.size());
    ++orders;
  } while (std::next_permutation(names.begin(), names.end(), less));
  EXPECT_EQ(orders, 120);
}

TEST_F(TableCacheTest, NamesOnOneFileDoNotCrossBetweenThreads) {
  constexpr int kNames = 40;
  put_file(path("v1.metadata.json"), numbered_metadata(1));
  std::vector<TableIdent> names;
  for (int i = 0; i < kNames; ++i) {
    names.push_back(name("t" + std::to_string(i)));
    store_.put_table(names.back(), path("v1.metadata.json"), fingerprint_of(numbered_metadata(1)));
  }
  commit();
  CatalogOptions options;
  options.object_cache_bytes_max = 1000;
  options.table_cache_bytes_max = 100'000;  // some of them fit: others come and go
  const Catalog catalog = open(options);
  std::barrier ready(4);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937 random(thread);
      ready.arrive_and_wait();
      for (int turn = 0; turn < 5000; ++turn) {
        const TableIdent& asked = names[random() % kNames];
        const auto table = catalog.load_table(asked);
        if (!table || !((*table)->identifier() == asked)) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(catalog.stats().table_cache.eviction_count, 0U);
  EXPECT_LE(catalog.stats().table_cache.used_bytes_peak, 100'000U);
}

TEST_F(TableCacheTest, ManyThreadsAtOnceReadAFileOnceAndShareOneHandle) {
  put("t", "v1.metadata.json", numbered_metadata(1, 200'000));
  const Catalog catalog = open();
  constexpr int kThreads = 32;
  std::barrier ready(kThreads);
  std::vector<std::shared_ptr<const Table>> tables(kThreads);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      ready.arrive_and_wait();
      auto table = catalog.load_table(name("t"));
      if (table) tables[static_cast<std::size_t>(thread)] = std::move(*table);
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& table : tables) EXPECT_EQ(table, tables[0]);
  ASSERT_NE(tables[0], nullptr);
  EXPECT_EQ(catalog.stats().files.file_count, 1U);
}

TEST_F(TableCacheTest, AHandleIsChargedWithAllThatItsObjectCacheMayTake) {
  put("t", "v1.metadata.json", numbered_metadata(1, 50'000));
  CatalogOptions options;
  const Catalog catalog = open(options);
  ASSERT_OK(catalog.load_table(name("t")));
  const auto stats = catalog.stats().table_cache;
  EXPECT_GT(stats.kept_bytes, options.object_cache_bytes_max + 50'000);
  EXPECT_LT(stats.kept_bytes, options.object_cache_bytes_max + 70'000);
}

TEST_F(TableCacheTest, AHandleIsChargedWithWhatItsMetadataGrowsBy) {
  std::string text = numbered_metadata(1);
  text.pop_back();
  text += R"(,"snapshot-log":[)";
  for (int i = 0; i < 1000; ++i) {
    text += std::string(i == 0 ? "" : ",") + R"({"timestamp-ms":1,"snapshot-id":)" +
            std::to_string(i) + "}";
  }
  text += "]}";
  put("t", "v1.metadata.json", text);
  put("u", "v1.metadata.json", text);
  const Catalog catalog = open();
  const auto table = catalog.load_table(name("t"));
  ASSERT_OK(table);
  ASSERT_OK(catalog.load_table(name("u")));
  const auto kept_bytes = [&] { return catalog.stats().table_cache.kept_bytes; };
  const auto before = kept_bytes();
  const std::size_t weight = (*table)->metadata().weight_bytes();
  ASSERT_OK((*table)->metadata().snapshot_log());
  const std::size_t grown = (*table)->metadata().weight_bytes() - weight;
  EXPECT_GE(grown, 1000 * sizeof(SnapshotLogEntry));
  EXPECT_EQ(kept_bytes(), before + 2 * grown) << "of both names";
  ASSERT_OK((*table)->metadata().snapshot_log());
  EXPECT_EQ(kept_bytes(), before + 2 * grown);
}

TEST_F(TableCacheTest, WhatDoesNotFitIsServedAndNotKept) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  CatalogOptions options;
  options.table_cache_bytes_max = options.object_cache_bytes_max;
  const Catalog catalog = open(options);
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(number(catalog.load_table(name("t"))), 1U);
  const auto stats = catalog.stats();
  EXPECT_EQ(stats.table_cache.entry_count, 0U);
  EXPECT_EQ(stats.table_cache.unkept_count, 3U);
  EXPECT_EQ(stats.files.file_count, 1U) << "its metadata is kept";
}

TEST_F(TableCacheTest, AHandleIsFoundByEveryThreadAlsoWhereItsMetadataIsNotKept) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  CatalogOptions options;
  options.metadata_cache_bytes_max = 0;
  const Catalog catalog = open(options);
  const auto first = catalog.load_table(name("t"));
  ASSERT_OK(first);
  ASSERT_EQ(::unlink(path("v1.metadata.json").c_str()), 0);
  EXPECT_EQ(*catalog.load_table(name("t")), *first);
  std::thread([&] { EXPECT_EQ(*catalog.load_table(name("t")), *first); }).join();
  std::thread([&] {
    const std::vector<TableIdent> names{name("t")};
    const auto found = catalog.load_tables(names);
    ASSERT_OK(found);
    EXPECT_EQ(*found->at(0), *first);
  }).join();
  EXPECT_EQ(catalog.stats().files.file_count, 1U);
}

TEST_F(TableCacheTest, ObjectCachesWithoutABoundLeaveNoRoomForHandles) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  for (const std::size_t below : {std::size_t{0}, std::size_t{3000}, std::size_t{100'000}}) {
    CatalogOptions options;
    options.object_cache_bytes_max = std::numeric_limits<std::size_t>::max() - below;
    const Catalog catalog = open(options);
    EXPECT_EQ(number(catalog.load_table(name("t"))), 1U);
    EXPECT_EQ(catalog.stats().table_cache.entry_count, 0U);
  }
}

TEST_F(TableCacheTest, SwitchedOffItServes) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  CatalogOptions options;
  options.table_cache_bytes_max = 0;
  options.metadata_cache_bytes_max = 0;
  options.object_cache_bytes_max = 0;
  const Catalog catalog = open(options);
  const auto first = catalog.load_table(name("t"));
  EXPECT_EQ(number(first), 1U);
  EXPECT_EQ(number(catalog.load_table(name("t"))), 1U);
  EXPECT_NE(*catalog.load_table(name("t")), *first);
  EXPECT_EQ(catalog.stats().files.file_count, 3U);
  EXPECT_EQ(catalog.stats().table_cache.used_bytes_peak, 0U);
}

TEST_F(TableCacheTest, ErrorsAreThoseOfTheMetadata) {
  const Catalog catalog = open();
  EXPECT_THAT(catalog.load_table(name("none")), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(catalog.load_table(TableIdent{{}, "t"}), IsError(ErrorKind::kInvalidArgument));
  put("t", "v1.metadata.json", "{");
  const auto broken = catalog.load_table(name("t"));
  EXPECT_THAT(broken, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(broken.error().message(), HasSubstr(path("v1.metadata.json")));
  EXPECT_EQ(catalog.stats().table_cache.entry_count, 0U);
}

TEST_F(TableCacheTest, ManyAtOnceHaveResultsOfTheirOwnAtOneGeneration) {
  std::vector<TableIdent> names;
  for (std::uint64_t i = 0; i < 100; ++i) {
    names.push_back(name("t" + std::to_string(i)));
    put_file(path("v" + std::to_string(i)), numbered_metadata(i));
    store_.put_table(names.back(), path("v" + std::to_string(i)),
                     fingerprint_of(numbered_metadata(i)));
  }
  names.push_back(name("none"));
  names.push_back(names[3]);
  names.push_back({{}, "t"});
  commit();
  CatalogOptions options;
  options.object_cache_bytes_max = 1000;
  const Catalog catalog = open(options);
  ASSERT_OK(catalog.load_table(names[7]));
  std::vector<std::shared_ptr<const Table>> first;
  for (int turn = 0; turn < 2; ++turn) {
    const auto found = catalog.load_tables(names);
    ASSERT_OK(found);
    ASSERT_EQ(found->size(), names.size());
    for (std::size_t i = 0; i < 100; ++i) {
      EXPECT_EQ(number((*found)[i]), i);
      EXPECT_EQ((*(*found)[i])->identifier(), names[i]);
      EXPECT_EQ((*(*found)[i])->generation(), *catalog.generation());
      if (turn == 0) {
        first.push_back(*(*found)[i]);
      } else {
        EXPECT_EQ(*(*found)[i], first[i]);
      }
    }
    EXPECT_THAT((*found)[100], IsError(ErrorKind::kNotFound));
    EXPECT_EQ(*(*found)[101], *(*found)[3]);
    EXPECT_THAT((*found)[102], IsError(ErrorKind::kInvalidArgument));
  }
  EXPECT_EQ(catalog.stats().files.file_count, 100U);
}

TEST_F(TableCacheTest, AChildOfForkReadsOn) {
  put("t", "v1.metadata.json", numbered_metadata(1));
  put("u", "v2.metadata.json", numbered_metadata(2));
  const Catalog catalog = open();
  const auto table = catalog.load_table(name("t"));
  ASSERT_OK(table);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto again = catalog.load_table(name("t"));
    const auto other = catalog.load_table(name("u"));
    const bool is_right =
        again && *again == *table && other && number_of((*other)->metadata()) == 2;
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace iceblink::testing
