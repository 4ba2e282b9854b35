// A handle's manifests and files, and the cache of them, over real files.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <optional>
#include <thread>

#include "tests/client/tables/warehouse.h"

namespace iceblink::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class TableFiles : public WarehouseTest {
 protected:
  /// A table of two snapshots: the second has new manifests only.
  void SetUp() override {
    WarehouseTest::SetUp();
    const std::string first = write_snapshot({1, {3}, false});
    const std::string second = write_snapshot({2, {2, 5, 0, 1}, true});
    put("t", "v1.metadata.json", table_metadata(1, 2, {first, second}));
  }
  static constexpr std::size_t kManifests = 8;  // of snapshot 2; two are known to have no file

  std::shared_ptr<const Table> load(const Catalog& catalog, const std::string& table = "t") {
    const auto loaded = catalog.load_table(name(table));
    if (!loaded) ADD_FAILURE() << loaded.error().message();
    return loaded ? *loaded : nullptr;
  }
  /// Each task as "path <- deletes".
  static std::vector<std::string> tasks_of(const Result<FilePlan>& plan) {
    std::vector<std::string> tasks;
    if (!plan) return {"error: " + plan.error().message()};
    for (const FileTask& task : plan->tasks()) {
      std::string text(task.file->file_path);
      text += " <- " + std::to_string(task.position_deletes.size());
      tasks.push_back(text);
    }
    return tasks;
  }
  static std::vector<std::string> paths_of(const Result<FileList>& files) {
    std::vector<std::string> paths;
    if (!files) return {"error: " + files.error().message()};
    for (const DataFile* file : files->files()) paths.emplace_back(file->file_path);
    return paths;
  }
};

TEST_F(TableFiles, OfASnapshotAreThoseOfItsManifests) {
  const Catalog catalog = open();
  const auto table = load(catalog);
  EXPECT_EQ(
      paths_of(table->files(1)),
      (std::vector<std::string>{data_path("1-m0", 0), data_path("1-m0", 1), data_path("1-m0", 2)}));
  const auto files = table->files(2);
  ASSERT_OK(files);
  EXPECT_EQ(files->files().size(), 16U);
  for (const DataFile* file : files->files()) {
    EXPECT_EQ(file->sequence_number, 2);
    EXPECT_EQ(file->snapshot_id, 2);
  }
  EXPECT_THAT(table->files(3), IsError(ErrorKind::kNotFound));
}

TEST_F(TableFiles, APlanHasTheDeletesOfEachDataFile) {
  const Catalog catalog = open();
  const auto table = load(catalog);
  const auto plan = table->plan_files();
  ASSERT_OK(plan);
  ASSERT_EQ(plan->tasks().size(), 8U);
  for (const FileTask& task : plan->tasks()) {
    EXPECT_EQ(task.file->content, FileContent::kData);
    EXPECT_EQ(task.position_deletes.size(), 8U) << "all, since none says which file it is of";
  }
  EXPECT_EQ(plan->counts().manifest_count, kManifests);
  EXPECT_EQ(plan->counts().skipped_manifest_count, 2U);
  EXPECT_EQ(plan->counts().file_count, 8U);
  EXPECT_EQ(tasks_of(table->plan_files(1)).front(), data_path("1-m0", 0) + " <- 0");
}

TEST_F(TableFiles, AreReadOnceTogetherAndThenCached) {
  const Catalog catalog = open();
  const auto table = load(catalog);
  const auto before = catalog.stats().files;
  const auto plan = tasks_of(table->plan_files());
  const auto cold = catalog.stats().files;
  EXPECT_EQ(cold.file_count - before.file_count, 1 + kManifests - 2);
  if (cold.uses_io_uring) {
    EXPECT_EQ(cold.ring_file_count - before.ring_file_count, kManifests - 2);
  }
  EXPECT_EQ(tasks_of(table->plan_files()), plan);
  EXPECT_EQ(paths_of(table->files(2)).size(), 16U);
  EXPECT_EQ(catalog.stats().files.file_count, cold.file_count);
  EXPECT_EQ(table->object_cache_stats().entry_count, 1 + kManifests - 2);
}

TEST_F(TableFiles, AreTheSameWithAnyLayerSwitchedOff) {
  std::optional<std::vector<std::string>> expected;
  for (unsigned off = 0; off < 8; ++off) {
    CatalogOptions options;
    if (off & 1U) options.metadata_cache_bytes_max = 0;
    if (off & 2U) options.table_cache_bytes_max = 0;
    if (off & 4U) options.object_cache_bytes_max = 0;
    const Catalog catalog = open(options);
    for (int turn = 0; turn < 2; ++turn) {
      const auto table = load(catalog);
      auto answers = tasks_of(table->plan_files());
      for (const auto& path : paths_of(table->files(1))) answers.push_back(path);
      for (const auto& path : paths_of(table->files(2))) answers.push_back(path);
      if (!expected) expected = answers;
      EXPECT_EQ(answers, *expected) << "off: " << off << ", turn " << turn;
      EXPECT_EQ(table->object_cache_stats().entry_count > 0, (off & 4U) == 0);
    }
  }
  EXPECT_EQ(expected->size(), 8U + 3U + 16U);
}

TEST_F(TableFiles, OutliveTheHandleAndTheCatalog) {
  std::optional<FilePlan> plan;
  {
    const Catalog catalog = open();
    auto made = load(catalog)->plan_files();
    ASSERT_OK(made);
    plan = *made;
  }
  EXPECT_EQ(plan->tasks()[7].file->file_path, data_path("2-m3", 0));
}

TEST_F(TableFiles, OfAPinnedHandleStayAfterACommit) {
  const Catalog catalog = open();
  const auto pinned = load(catalog);
  const std::string third = write_snapshot({3, {1}, false});
  put("t", "v2.metadata.json", table_metadata(1, 3, {third}));
  EXPECT_EQ(tasks_of(load(catalog)->plan_files()).size(), 1U);
  EXPECT_EQ(tasks_of(pinned->plan_files()).size(), 8U);
}

TEST_F(TableFiles, AMissingManifestIsAnErrorThatNamesItAndHarmsNothingElse) {
  const Catalog catalog = open();
  const auto table = load(catalog);
  std::filesystem::rename(path("2-m1.avro"), path("away"));
  for (int turn = 0; turn < 2; ++turn) {
    const auto plan = table->plan_files();
    EXPECT_THAT(plan, IsError(ErrorKind::kNotFound));
    EXPECT_THAT(plan.error().message(), HasSubstr(path("2-m1.avro")));
  }
  EXPECT_EQ(tasks_of(table->plan_files(1)).size(), 3U);
  EXPECT_EQ(table->object_cache_stats().load_failure_count, 2U);
  std::filesystem::rename(path("away"), path("2-m1.avro"));
  EXPECT_EQ(tasks_of(table->plan_files()).size(), 8U);
}

TEST_F(TableFiles, AManifestThatIsCutShortIsAnErrorThatNamesItAndIsNotKept) {
  const Catalog catalog = open();
  const auto table = load(catalog);
  std::string whole;
  {
    std::ifstream file(path("1-m0.avro"), std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(file), {});
  }
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, whole.size() / 2, whole.size() - 1}) {
    put_file(path("1-m0.avro"), whole.substr(0, size));
    const auto plan = table->plan_files(1);
    EXPECT_THAT(plan, IsError(ErrorKind::kCorrupt)) << size;
    EXPECT_THAT(plan.error().message(), StartsWith(path("1-m0.avro") + ": ")) << size;
    EXPECT_EQ(table->object_cache_stats().entry_count, 1U) << "the list alone";
  }
  put_file(path("1-m0.avro"), whole);
  EXPECT_EQ(tasks_of(table->plan_files(1)).size(), 3U);
}

TEST_F(TableFiles, AManifestListThatIsCutShortIsAnErrorThatNamesItAndIsNotKept) {
  const Catalog catalog = open();
  const auto table = load(catalog);
  std::filesystem::resize_file(list_path(2), std::filesystem::file_size(list_path(2)) - 1);
  const auto plan = table->plan_files();
  EXPECT_THAT(plan, IsError(ErrorKind::kCorrupt));
  EXPECT_THAT(plan.error().message(), StartsWith(list_path(2) + ": "));
  EXPECT_EQ(table->object_cache_stats().entry_count, 0U);
}

TEST_F(TableFiles, CountsThatDoNotMatchAreAnErrorAlsoOfAManifestThatIsKept) {
  const AvroRecord listed = write_manifest(1, "shared", 3, 0);
  const auto list_with = [&](const AvroRecord& entry) {
    put_file(path("list"), iceberg::testing::avro_file({entry}));
    return R"({"snapshot-id":4,"timestamp-ms":1,"sequence-number":4,"manifest-list":")" +
           path("list") + "\"}";
  };
  put_file(path("good-list"), iceberg::testing::avro_file({listed}));
  const std::string good = R"({"snapshot-id":5,"timestamp-ms":1,"sequence-number":5,)"
                           R"("manifest-list":")" +
                           path("good-list") + "\"}";
  put("u", "u.metadata.json", table_metadata(7, 4, {list_with(counted(listed, 4)), good}));
  const Catalog catalog = open();
  const auto table = load(catalog, "u");
  for (int turn = 0; turn < 2; ++turn) {
    const auto plan = table->plan_files(4);
    EXPECT_THAT(plan, IsError(ErrorKind::kCorrupt));
    EXPECT_THAT(plan.error().message(), StartsWith(path("shared.avro") + ": "));
    EXPECT_THAT(plan.error().message(), HasSubstr("added_files_count"));
    EXPECT_EQ(tasks_of(table->plan_files(5)).size(), 3U) << "which keeps the manifest";
  }
  EXPECT_EQ(tasks_of(load(catalog)->plan_files()).size(), 8U) << "of another table";
}

TEST_F(TableFiles, OneManifestUnderWrongAndRightCountsAtOnceIsRightWhereTheyAre) {
  const AvroRecord listed = write_manifest(1, "shared", 3, 0);
  const auto list = iceberg::testing::avro_file({counted(listed, 4), listed, counted(listed, 5)});
  put_file(path("list"), list);
  put("u", "u.metadata.json",
      table_metadata(7, 4,
                     {R"({"snapshot-id":4,"timestamp-ms":1,"sequence-number":4,)"
                      R"("manifest-list":")" +
                      path("list") + "\"}"}));
  const Catalog catalog = open();
  const auto table = load(catalog, "u");
  for (int turn = 0; turn < 2; ++turn) {
    const auto manifests = table->manifests((*table->manifest_list(4))->manifests());
    ASSERT_OK(manifests);
    EXPECT_THAT((*manifests)[0], IsError(ErrorKind::kCorrupt));
    ASSERT_OK((*manifests)[1]);
    EXPECT_EQ((*(*manifests)[1])->entries().size(), 3U);
    EXPECT_THAT((*manifests)[2], IsError(ErrorKind::kCorrupt));
  }
}

TEST_F(TableFiles, OneManifestInTwoListsInheritsFromEach) {
  using iceberg::testing::long_field;
  const AvroRecord listed = write_manifest(1, "shared", 2, 0);
  std::vector<std::string> snapshots;
  for (const std::int64_t id : {4, 5}) {
    put_file(list_path(id),
             iceberg::testing::avro_file({listed.with(long_field("sequence_number", 515, id))}));
    snapshots.push_back(R"({"snapshot-id":)" + std::to_string(id) +
                        R"(,"timestamp-ms":1,"sequence-number":9,"manifest-list":")" +
                        list_path(id) + "\"}");
  }
  put("u", "u.metadata.json", table_metadata(7, 4, snapshots));
  const Catalog catalog = open();
  const auto table = load(catalog, "u");
  for (const std::int64_t id : {4, 5, 4}) {
    const auto files = table->files(id);
    ASSERT_OK(files);
    EXPECT_EQ(files->files()[1]->sequence_number, id);
  }
}

TEST_F(TableFiles, ManifestsThatAreEmbeddedInTheMetadataAreRead) {
  static_cast<void>(write_manifest(6, "embedded", 4, 0));
  const std::string snapshot = R"({"snapshot-id":6,"timestamp-ms":1,"sequence-number":0,)"
                               R"("manifests":[")" +
                               path("embedded.avro") + "\"]}";
  put("u", "u.metadata.json", table_metadata(7, 6, {snapshot}));
  const Catalog catalog = open();
  const auto table = load(catalog, "u");
  EXPECT_EQ(tasks_of(table->plan_files()).size(), 4U);
  EXPECT_EQ((*table->manifest_list(6))->manifests().size(), 1U);
}

TEST_F(TableFiles, AskedForByManyThreadsEachIsReadOnce) {
  const Catalog catalog = open();
  const auto table = load(catalog);
  const auto before = catalog.stats().files.file_count;
  const auto expected = tasks_of(load(open())->plan_files());
  std::barrier ready(16);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 16; ++thread) {
    threads.emplace_back([&] {
      ready.arrive_and_wait();
      if (tasks_of(table->plan_files()) != expected) ++wrong;
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(catalog.stats().files.file_count - before, 1 + kManifests - 2);
}

TEST_F(TableFiles, TheObjectCacheKeepsItsBound) {
  put("u", "u.metadata.json",
      table_metadata(7, 3, {write_snapshot({3, {400, 400, 400, 4000}, false})}));
  CatalogOptions options;
  options.object_cache_bytes_max = 1'000'000;
  const Catalog catalog = open(options);
  const auto table = load(catalog, "u");
  for (int turn = 0; turn < 3; ++turn) EXPECT_EQ(tasks_of(table->plan_files()).size(), 5200U);
  const auto stats = table->object_cache_stats();
  EXPECT_LE(stats.used_bytes_peak, 1'000'000U);
  EXPECT_EQ(stats.entry_count, 4U);
  EXPECT_EQ(stats.unkept_count, 3U) << "the largest, each time";
}

TEST_F(TableFiles, AChildOfForkPlansOn) {
  const Catalog catalog = open();
  const auto table = load(catalog);
  const auto expected = tasks_of(table->plan_files(1));
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_right =
        tasks_of(table->plan_files(1)) == expected && tasks_of(table->plan_files()).size() == 8;
    ::_exit(is_right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace iceblink::testing
