#include "daemon/store.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <set>
#include <thread>

#include "tests/daemon/catalog_fixture.h"

namespace iceblink::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class StoreTest : public ::testing::Test {
 protected:
  void make_namespace(const Namespace& levels) {
    ASSERT_EQ(said(commit(*store_, {CreateNamespace{levels, {}}})), "done");
  }
  std::vector<std::string> children(const Namespace& parent,
                                    std::optional<std::string> after = {}) const {
    std::vector<std::string> names;
    const auto page = read(*store_)->list_namespaces(parent, after, {});
    for (const auto& levels : page->items) names.push_back(levels.back());
    return names;
  }
  void reopen(StoreOptions options = {}) {
    store_.reset();
    store_ = open_store(dir_ / "data", std::move(options));
  }

  test::ScratchDir dir_;
  std::unique_ptr<Store> store_ = open_store(dir_ / "data");
};

TEST_F(StoreTest, IsMadeAtGenerationOneAndEmpty) {
  const auto reading = read(*store_);
  EXPECT_EQ(reading->generation(), 1u);
  EXPECT_THAT(reading->list_namespaces({}, {}, {})->items, IsEmpty());
  EXPECT_NE(store_->store_uuid(), shm::Id{});
  struct stat status {};
  ASSERT_EQ(::stat((dir_ / "data").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0755u);
  ASSERT_EQ(::stat((dir_ / "data/lmdb").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
  ASSERT_EQ(::stat((dir_ / "data/lmdb/data.mdb").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
  ASSERT_EQ(::stat((dir_ / "data/daemon.lock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0600u);
}

TEST_F(StoreTest, TakesOverAStoreThatLiesInTheDataDirectoryItself) {
  ASSERT_EQ(said(commit(*store_, {CreateNamespace{{"a"}, {}}})), "done");
  store_.reset();
  std::filesystem::rename(dir_ / "data/lmdb/data.mdb", dir_ / "data/data.mdb");
  std::filesystem::remove_all(dir_ / "data/lmdb");
  reopen();
  EXPECT_TRUE(read(*store_)->find_namespace({"a"})->has_value());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "data/data.mdb"));
}

TEST_F(StoreTest, IsNotOpenedThroughALinkOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root makes links of other users";
  store_.reset();
  std::filesystem::rename(dir_ / "data/lmdb", dir_ / "elsewhere");
  std::filesystem::create_directory_symlink(dir_ / "elsewhere", dir_ / "data/lmdb");
  reopen();
  store_.reset();
  ASSERT_EQ(::lchown((dir_ / "data/lmdb").c_str(), 65534, 65534), 0);
  StoreOptions options;
  options.data_dir = dir_ / "data";
  const auto refused = Store::open(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kNotAllowed);
  EXPECT_THAT(refused.error().message(), HasSubstr("lmdb: is a link"));
}

TEST_F(StoreTest, KeepsEverythingAcrossAReopen) {
  const TableIdent table{{"a", "b"}, "t"};
  const auto uuid = store_->store_uuid();
  const auto seed = store_->hash_seed();
  const auto incarnation = store_->incarnation();
  ASSERT_EQ(said(commit(*store_, {CreateNamespace{{"a"}, {{"owner", "me"}}},
                                  CreateNamespace{{"a", "b"}, {}}, registering(table, "/w/1")})),
            "done");
  reopen();
  EXPECT_EQ(store_->store_uuid(), uuid);
  EXPECT_EQ(store_->hash_seed(), seed);
  EXPECT_EQ(store_->incarnation(), incarnation);
  const auto reading = read(*store_);
  EXPECT_EQ(reading->generation(), 2u);
  EXPECT_EQ(reading->find_namespace({"a"})->value(), (Properties{{"owner", "me"}}));
  const TableRow row = reading->find_table(table)->value();
  EXPECT_EQ(row.location, "/w/1");
  EXPECT_EQ(row.generation, 2u);
  EXPECT_EQ(row.format_version, 2);
  EXPECT_EQ(row.table_uuid, row_at("").table_uuid);
  EXPECT_EQ(row.metadata_fingerprint, row_at("").metadata_fingerprint);
}

TEST_F(StoreTest, NamesTheProcessThatHoldsTheDirectory) {
  StoreOptions options;
  options.data_dir = dir_ / "data";
  const auto second = Store::open(options);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind(), ErrorKind::kConflict);
  EXPECT_THAT(second.error().message(), HasSubstr(dir_ / "data"));
  EXPECT_THAT(second.error().message(), HasSubstr("pid " + std::to_string(::getpid())));
}

TEST_F(StoreTest, GivesTheLockBackWhenItIsGone) {
  reopen();
  EXPECT_EQ(read(*store_)->generation(), 1u);
}

TEST_F(StoreTest, ListsDirectChildrenOnlyWhateverBytesNamesHold) {
  make_namespace({"a"});
  // Bytes below the separator 0x1F sort a sibling between a namespace and its children.
  for (const char* name : {"b", "b\x01", "b\x1e", "b c", "b\x7f", "\xc3\xa4", "b.c"}) {
    make_namespace({"a", name});
    make_namespace({"a", name, "deep"});
    make_namespace({"a", name, "deep", "deeper"});
  }
  make_namespace({"a\x01"});
  make_namespace({"ab"});
  const std::vector<std::string> sorted = {"b",   "b\x01", "b\x1e",   "b c",
                                           "b.c", "b\x7f", "\xc3\xa4"};
  EXPECT_EQ(children({"a"}), sorted);
  EXPECT_THAT(children({}), ElementsAre("a", "a\x01", "ab"));
  EXPECT_THAT(children({"a", "b", "deep"}), ElementsAre("deeper"));
  EXPECT_THAT(children({"a", "none"}), IsEmpty());
}

TEST_F(StoreTest, PagesEndExactlyWhereTheNamesDo) {
  make_namespace({"a"});
  std::vector<std::string> names = {"\x01", "b", "b\x01", "b\x1e", "b c", "c"};
  for (const auto& name : names) {
    make_namespace({"a", name});
    make_namespace({"a", name, "x"});
    ASSERT_EQ(said(commit(*store_, {registering({{"a"}, name}, "/t")})), "done");
  }
  for (std::size_t limit = 1; limit <= names.size() + 1; ++limit) {
    std::vector<std::string> levels;
    std::vector<std::string> tables;
    std::optional<std::string> after;
    do {
      auto page = *read(*store_)->list_namespaces({"a"}, after, limit);
      EXPECT_LE(page.items.size(), limit);
      for (auto& item : page.items) levels.push_back(item.back());
      after = page.next_after;
    } while (after);
    do {
      auto page = *read(*store_)->list_tables({"a"}, after, limit);
      for (auto& item : page.items) tables.push_back(item.name);
      after = page.next_after;
    } while (after);
    EXPECT_EQ(levels, names) << "limit " << limit;
    EXPECT_EQ(tables, names) << "limit " << limit;
  }
}

TEST_F(StoreTest, PagesGoOnAfterANameThatIsGone) {
  for (const char* name : {"a", "c"}) make_namespace({name});
  EXPECT_THAT(children({}, "b"), ElementsAre("c"));
  EXPECT_THAT(children({}, "c"), IsEmpty());
}

TEST_F(StoreTest, TablesOfANamespaceDoNotIncludeThoseBelowIt) {
  make_namespace({"a"});
  make_namespace({"a", "b"});
  make_namespace({"a\x01"});
  for (const Namespace& levels : {Namespace{"a"}, Namespace{"a", "b"}, Namespace{"a\x01"}}) {
    ASSERT_EQ(said(commit(*store_, {registering({levels, "t"}, "/t")})), "done");
  }
  EXPECT_THAT(read(*store_)->list_tables({"a"}, {}, {})->items,
              ElementsAre(TableIdent{{"a"}, "t"}));
}

TEST_F(StoreTest, HoldsNamespacesAsDeepAsAKeyIsLong) {
  Namespace levels;
  std::vector<Operation> operations;
  for (int i = 0; i < 250; ++i) {
    levels.emplace_back("n");
    operations.emplace_back(CreateNamespace{levels, {}});
  }
  operations.emplace_back(registering({levels, "table"}, "/t"));
  ASSERT_EQ(said(commit(*store_, operations)), "done");
  EXPECT_EQ(location_of(*store_, {levels, "table"}), "/t");
  EXPECT_THAT(children({}), ElementsAre("n"));
  EXPECT_FALSE(read(*store_)->find_namespace(Namespace(600, "n"))->has_value());
}

TEST_F(StoreTest, VisitsNamespacesFirstAndParentsBeforeChildren) {
  ASSERT_EQ(said(commit(*store_, {CreateNamespace{{"b"}, {}}, CreateNamespace{{"b", "c"}, {}},
                                  CreateNamespace{{"a"}, {}}, registering({{"b"}, "t"}, "/t")})),
            "done");
  std::set<std::string> seen;
  bool tables_began = false;
  const auto reading = read(*store_);
  ASSERT_TRUE(reading->for_each([&](const shm::Change& change) -> Status {
    EXPECT_EQ(change.generation, 2u);
    if (change.kind == shm::RecordKind::kTable) {
      tables_began = true;
      EXPECT_EQ(change.location, "/t");
      EXPECT_EQ(change.format_version, 2);
      return Ok{};
    }
    EXPECT_FALSE(tables_began);
    auto levels = *decode_namespace(change.key);
    levels.pop_back();
    EXPECT_TRUE(levels.empty() || seen.contains(encode(levels)));
    seen.insert(std::string(change.key));
    return Ok{};
  }));
  EXPECT_EQ(seen.size(), 3u);
  EXPECT_TRUE(tables_began);
  const auto stopped = reading->for_each([](const shm::Change&) -> Status {
    return {ErrorKind::kNoSpace, "enough"};
  });
  EXPECT_EQ(stopped.error().message(), "enough");
}

TEST_F(StoreTest, GrowsATinyMapAndLosesNothing) {
  StoreOptions options;
  options.map_bytes = 128 << 10;
  reopen(options);
  make_namespace({"a"});
  const std::string filler(1000, 'x');
  for (int i = 0; i < 2000; ++i) {
    ASSERT_EQ(said(commit(*store_, {registering({{"a"}, "t" + std::to_string(i)}, filler)})),
              "done");
  }
  EXPECT_EQ(read(*store_)->list_tables({"a"}, {}, {})->items.size(), 2000u);
  reopen(options);
  EXPECT_EQ(read(*store_)->list_tables({"a"}, {}, {})->items.size(), 2000u);
}

TEST_F(StoreTest, SaysThatTheMapIsFullAndWritesNothing) {
  StoreOptions options;
  options.map_bytes = 128 << 10;
  reopen(options);
  auto writing = std::move(store_->write()).value();
  Status status = Ok{};
  for (int i = 0; status && i < 1000; ++i) {
    status = writing->put_table({{"a"}, "t" + std::to_string(i)}, row_at(std::string(1000, 'x')));
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind(), ErrorKind::kNoSpace);
  EXPECT_TRUE(writing->map_full());
  writing.reset();
  EXPECT_THAT(read(*store_)->list_tables({"a"}, {}, {})->items, IsEmpty());
}

TEST_F(StoreTest, GrowsOnlyWhenNobodyReads) {
  auto reading = read(*store_);
  std::atomic<bool> grown{false};
  std::thread grower([&] {
    EXPECT_TRUE(store_->grow());
    grown.store(true, std::memory_order_relaxed);
  });
  EXPECT_EQ(reading->generation(), 1u);
  EXPECT_FALSE(grown.load(std::memory_order_relaxed));  // cannot be: this reading is inside
  reading.reset();
  grower.join();
  EXPECT_EQ(read(*store_)->generation(), 1u);
}

TEST_F(StoreTest, ReadingsMayEndOnAnotherThread) {
  auto reading = read(*store_);
  std::thread([&] {
    EXPECT_EQ(reading->find_namespace({"a"})->has_value(), false);
    reading.reset();
  }).join();
  EXPECT_TRUE(store_->grow());
}

TEST_F(StoreTest, AReadingDoesNotMoveWithLaterCommits) {
  const auto before = read(*store_);
  make_namespace({"a"});
  EXPECT_EQ(before->generation(), 1u);
  EXPECT_FALSE(before->find_namespace({"a"})->has_value());
  EXPECT_TRUE(read(*store_)->find_namespace({"a"})->has_value());
}

TEST_F(StoreTest, TellsChangesInWholeGenerations) {
  ASSERT_EQ(said(commit(*store_, {CreateNamespace{{"a"}, {}}, registering({{"a"}, "t"}, "/1")})),
            "done");
  ASSERT_EQ(said(commit(*store_, {Drop{{{"a"}, "t"}}})), "done");
  const auto reading = read(*store_);
  const auto all = *reading->changes_since(0, 100);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].kind, shm::RecordKind::kNamespace);
  EXPECT_EQ(all[1].kind, shm::RecordKind::kTable);
  EXPECT_EQ(all[1].row.location, "/1");
  EXPECT_EQ(all[1].generation, 2u);
  EXPECT_EQ(all[2].kind, shm::RecordKind::kTombstone);
  EXPECT_EQ(all[2].generation, 3u);
  EXPECT_EQ(all[2].key, encode(TableIdent{{"a"}, "t"}));
  EXPECT_EQ(reading->changes_since(0, 1)->size(), 2u);  // generation 2, whole
  EXPECT_EQ(reading->changes_since(2, 1)->size(), 1u);
  EXPECT_THAT(*reading->changes_since(3, 1), IsEmpty());
  EXPECT_EQ(reading->changes_since(4, 1).error().kind(), ErrorKind::kGone);
}

TEST_F(StoreTest, KeepsALargeGenerationOfTheLogWhole) {
  std::vector<Operation> operations{CreateNamespace{{"a"}, {}}};
  for (int i = 0; i < 3000; ++i) {
    operations.emplace_back(registering({{"a"}, "t" + std::to_string(i)}, "/t"));
  }
  ASSERT_EQ(said(commit(*store_, operations)), "done");
  EXPECT_EQ(read(*store_)->changes_since(1, 10)->size(), 3001u);
}

TEST_F(StoreTest, BoundsTheLogAndSaysWhatIsGone) {
  StoreOptions options;
  options.log_entries_max = 5;
  reopen(options);
  for (int i = 0; i < 20; ++i) make_namespace({"n" + std::to_string(i)});
  const auto reading = read(*store_);
  ASSERT_EQ(reading->generation(), 21u);
  EXPECT_EQ(reading->changes_since(16, 100)->size(), 5u);
  const auto gone = reading->changes_since(15, 100);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().kind(), ErrorKind::kGone);
  EXPECT_THAT(gone.error().message(), HasSubstr("from 16 to 21"));
}

TEST_F(StoreTest, BoundsTheLogInBytesToo) {
  StoreOptions options;
  options.log_bytes_max = 64 << 10;
  reopen(options);
  make_namespace({"a"});
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(said(commit(*store_, {overwriting({{"a"}, "t"}, std::string(3000, 'x'))})), "done");
  }
  const auto reading = read(*store_);
  EXPECT_EQ(reading->changes_since(2, 1).error().kind(), ErrorKind::kGone);
  EXPECT_EQ(reading->changes_since(195, 100)->size(), 7u);
  std::vector<Operation> large;
  for (int i = 0; i < 1000; ++i) large.emplace_back(CreateNamespace{{"n" + std::to_string(i)}, {}});
  ASSERT_EQ(said(commit(*store_, large)), "done");
  EXPECT_EQ(read(*store_)->changes_since(202, 1)->size(), 1000u);  // the newest is always whole
}

TEST_F(StoreTest, AdvancesPastWhatReadersHaveSeen) {
  make_namespace({"a"});
  const auto incarnation = store_->incarnation();
  ASSERT_TRUE(store_->advance_past(2));  // not older: no effect
  EXPECT_EQ(store_->incarnation(), incarnation);
  ASSERT_TRUE(store_->advance_past(10));
  EXPECT_NE(store_->incarnation(), incarnation);
  const auto renewed = store_->incarnation();
  reopen();
  EXPECT_EQ(store_->incarnation(), renewed);
  EXPECT_EQ(read(*store_)->generation(), 11u);
  EXPECT_TRUE(read(*store_)->find_namespace({"a"})->has_value());
  EXPECT_EQ(read(*store_)->changes_since(2, 1).error().kind(), ErrorKind::kGone);
  EXPECT_THAT(*read(*store_)->changes_since(11, 1), IsEmpty());
  make_namespace({"b"});
  EXPECT_EQ(read(*store_)->changes_since(11, 1)->size(), 1u);
}

TEST_F(StoreTest, RenewsItsIncarnationDurablyAndNothingElse) {
  make_namespace({"a"});
  const auto incarnation = store_->incarnation();
  ASSERT_TRUE(store_->renew_incarnation());
  const auto renewed = store_->incarnation();
  EXPECT_NE(renewed, incarnation);
  reopen();
  EXPECT_EQ(store_->incarnation(), renewed);
  EXPECT_EQ(read(*store_)->generation(), 2u);
}

TEST_F(StoreTest, UndoesAPartAndKeepsTheRest) {
  make_namespace({"a"});
  auto writing = std::move(store_->write()).value();
  ASSERT_TRUE(writing->put_table({{"a"}, "kept"}, row_at("/kept")));
  ASSERT_TRUE(writing->begin_part());
  ASSERT_TRUE(writing->put_table({{"a"}, "kept"}, row_at("/changed")));
  ASSERT_TRUE(writing->put_table({{"a"}, "kept"}, row_at("/changed again")));
  ASSERT_TRUE(writing->put_table({{"a"}, "new"}, row_at("/new")));
  ASSERT_TRUE(writing->erase_namespace({"a"}));
  ASSERT_TRUE(writing->abort_part());
  EXPECT_EQ(writing->find_table({{"a"}, "kept"})->value().location, "/kept");
  EXPECT_FALSE(writing->find_table({{"a"}, "new"})->has_value());
  EXPECT_TRUE(writing->find_namespace({"a"})->has_value());
  ASSERT_TRUE(writing->commit({{2, shm::RecordKind::kTable, "x", {}}}));
  EXPECT_EQ(location_of(*store_, {{"a"}, "kept"}), "/kept");
}

TEST_F(StoreTest, AWritingThatIsDroppedDidNothing) {
  {
    auto writing = std::move(store_->write()).value();
    ASSERT_TRUE(writing->put_namespace({"a"}, {}));
  }
  EXPECT_FALSE(read(*store_)->find_namespace({"a"})->has_value());
  make_namespace({"a"});
}

// Writes to a store whose file may not grow any more, until a commit fails; 0 when that was as it
// should be. The limit is of the whole process, so this is run in one of its own.
int fill_a_limited_file(const std::string& dir) {
  ::signal(SIGXFSZ, SIG_IGN);
  auto store = open_store(dir);
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  limit.rlim_cur = std::filesystem::file_size(dir + "/lmdb/data.mdb") + 10000;
  if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
  const TableIdent table{{"a"}, "large"};
  for (int i = 0; i < 100; ++i) {
    auto writing = std::move(store->write()).value();
    const LoggedChange change{writing->generation(), shm::RecordKind::kTable, encode(table), {}};
    if (!writing->put_table(table, row_at(std::string(20000 * (i + 1), 'x')))) return 4;
    const auto before = location_of(*store, table);
    const Status status = writing->commit({change});
    writing.reset();
    if (status) continue;
    if (status.error().kind() != ErrorKind::kNoSpace) return 5;
    if (location_of(*store, table) != before) return 6;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 7;
    return said(commit(*store, {CreateNamespace{{"later"}, {}}})) == "done" ? 0 : 8;
  }
  return 9;
}

TEST_F(StoreTest, AFullDiskRefusesACommitAndTheStoreGoesOn) {
  make_namespace({"a"});
  store_.reset();
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(fill_a_limited_file(dir_ / "data"));
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  store_ = open_store(dir_ / "data");
  EXPECT_THAT(children({}), ElementsAre("a", "later"));
}

}  // namespace
}  // namespace iceblink::daemon
