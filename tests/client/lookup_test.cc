#include "client/lookup.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <thread>

#include "shm/attachment.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class CatalogLookup : public SegmentTest {};

TEST_F(CatalogLookup, FindsTablesAndTheirLocations) {
  commit_tables(3);
  const Catalog catalog = open();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "t1")), IsValue(true));
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "t3")), IsValue(false));
  EXPECT_THAT(catalog.table_exists(ident({"b"}, "t1")), IsValue(false));
  EXPECT_THAT(catalog.resolve_location(ident({"a"}, "t2")), IsValue(std::string("s3://t2")));
  EXPECT_THAT(catalog.namespace_exists({"a"}), IsValue(true));
  EXPECT_THAT(catalog.namespace_exists({"a", "t1"}), IsValue(false));
}

TEST_F(CatalogLookup, NamesWhatDoesNotExist) {
  commit_tables(1);
  const Catalog catalog = open();
  const auto missing = catalog.resolve_location(ident({"a", "b"}, "t"));
  EXPECT_THAT(missing, IsError(ErrorKind::kNotFound));
  EXPECT_EQ(missing.error().message(), "Table does not exist: a.b.t");
  const auto unlisted = catalog.list_tables({"a", "b"});
  EXPECT_THAT(unlisted, IsError(ErrorKind::kNotFound));
  EXPECT_EQ(unlisted.error().message(), "Namespace does not exist: a.b");
}

TEST_F(CatalogLookup, TellsViewsFromTables) {
  store_.put_namespace({"a"});
  store_.put(encode(ident({"a"}, "v")), RecordKind::kView, "s3://v");
  commit();
  const Catalog catalog = open();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "v")), IsValue(false));
  EXPECT_THAT(catalog.view_exists(ident({"a"}, "v")), IsValue(true));
  EXPECT_THAT(catalog.resolve_location(ident({"a"}, "v")), IsError(ErrorKind::kNotFound));
  EXPECT_THAT(catalog.list_tables({"a"}), IsValue(std::vector<std::string>{}));
  EXPECT_THAT(catalog.list_views({"a"}), IsValue(std::vector<std::string>{"v"}));
}

TEST_F(CatalogLookup, SeesCommitsAndFollowsFlips) {
  commit_tables(1);
  const Catalog catalog = open();
  for (int i = 0; i < 20; ++i) {
    store_.put_table(ident({"a"}, "t0"), "s3://version-" + std::to_string(i));
    commit();
    if (i % 3 == 0) flip();
    EXPECT_THAT(catalog.resolve_location(ident({"a"}, "t0")),
                IsValue("s3://version-" + std::to_string(i)));
    EXPECT_THAT(catalog.generation(), IsValue(store_.generation()));
  }
  store_.drop_table(ident({"a"}, "t0"));
  commit();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "t0")), IsValue(false));
  EXPECT_EQ(catalog.stats().attach_count, 8u);  // open, and seven flips
}

TEST_F(CatalogLookup, FindsNamesOfEveryKind) {
  const std::vector<std::string> names = {"a.b",       "say \"hi\"", "tab\tnew\nline",
                                          "ünï",       "表",         "😀",
                                          " ",         "a/b",        "%1F",
                                          "+",         "..",         std::string(200, 'x'),
                                          "\x7f",      "1234567",    "12345678",
                                          "123456789", "É"};
  for (const auto& name : names) {
    store_.put_namespace({name});
    store_.put_table(ident({name}, name), "s3://" + name);
  }
  commit();
  const Catalog catalog = open();
  for (const auto& name : names) {
    EXPECT_THAT(catalog.table_exists(ident({name}, name)), IsValue(true)) << name;
    EXPECT_THAT(catalog.resolve_location(ident({name}, name)), IsValue("s3://" + name));
    EXPECT_THAT(catalog.namespace_exists({name}), IsValue(true)) << name;
    EXPECT_THAT(catalog.table_exists(ident({name}, name + "x")), IsValue(false)) << name;
  }
}

TEST_F(CatalogLookup, RefusesIdentifiersThatCannotNameAnything) {
  commit_tables(1);
  const Catalog catalog = open();
  const auto snapshot = catalog.snapshot();
  const std::vector<TableIdent> invalid = {ident({}, "t"),
                                           ident({"a"}, ""),
                                           ident({""}, "t"),
                                           ident({"a", ""}, "t"),
                                           ident({"a\x1f"
                                                  "b"},
                                                 "t"),
                                           ident({"a"}, "t\x1f"),
                                           ident({"a"}, std::string("t\0u", 3)),
                                           ident({std::string("a\0b", 3)}, "t"),
                                           ident({"a"}, "\xff"),
                                           ident({"\xc3"}, "t"),
                                           ident({"a"}, std::string(510, 'x'))};
  for (const auto& bad : invalid) {
    EXPECT_THAT(catalog.table_exists(bad), IsError(ErrorKind::kInvalidArgument)) << format(bad);
    EXPECT_THAT(catalog.resolve_location(bad), IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(catalog.prepare(bad), IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(snapshot->find(bad), IsError(ErrorKind::kInvalidArgument));
    EXPECT_THAT(catalog.resolve_locations(std::span(&bad, 1)),
                IsError(ErrorKind::kInvalidArgument));
  }
  EXPECT_THAT(catalog.namespace_exists({}), IsError(ErrorKind::kInvalidArgument));
  EXPECT_THAT(catalog.list_tables({}), IsError(ErrorKind::kInvalidArgument));
}

// The hashes of these differ from the real key's, so that they meet by chance only: here the
// chance is helped along.
TEST_F(CatalogLookup, IsExactEvenWhereAnInvalidNameSpellsAnotherKey) {
  store_.put_namespace({"a"});
  store_.put_namespace({"a", "b"});
  store_.put_namespace({"t"});
  store_.put_table(ident({"a", "b"}, "t"), "s3://t");
  store_.put_table(ident({"a"}, "t"), "s3://t");
  commit();
  const auto mapping = shm::Attachment(dir_.path(), nullptr).run({});
  ASSERT_OK(mapping);
  const shm::ArenaView& arena = (*mapping)->arena;
  const std::uint64_t seed = arena.hash_seed();
  const std::uint64_t now = store_.generation();

  const std::string joined =
      "a\x1f"
      "b";
  const TableIdent spells_table{{joined}, "t"};
  const std::uint64_t table_hash = client::hash_of(ident({"a", "b"}, "t"), seed);
  ASSERT_EQ(arena.find(shm::TableKey{spells_table.levels, "t"}, table_hash, now).status,
            shm::FindStatus::kFound);
  EXPECT_EQ(client::find_table(arena, spells_table, table_hash, now).presence,
            client::Presence::kAbsent);
  EXPECT_EQ(client::find_table(arena, ident({"a", "b"}, "t"), table_hash, now).presence,
            client::Presence::kTable);

  const TableIdent rootless{{}, std::string("a\0t", 3)};
  const std::uint64_t short_hash = client::hash_of(ident({"a"}, "t"), seed);
  ASSERT_EQ(arena.find(shm::TableKey{{}, rootless.name}, short_hash, now).status,
            shm::FindStatus::kFound);
  EXPECT_EQ(client::find_table(arena, rootless, short_hash, now).presence,
            client::Presence::kAbsent);

  const Namespace spells_namespace{joined};
  const std::uint64_t levels_hash = shm::hash_levels(Namespace{"a", "b"}, seed);
  EXPECT_EQ(client::find_namespace(arena, spells_namespace, levels_hash, now).presence,
            client::Presence::kAbsent);
  EXPECT_EQ(client::find_namespace(arena, {"a", "b"}, levels_hash, now).presence,
            client::Presence::kNamespace);
  const Namespace spells_a_table{std::string("a\0t", 3)};
  EXPECT_EQ(client::find_namespace(arena, spells_a_table, short_hash, now).presence,
            client::Presence::kAbsent);
  const TableIdent spells_a_namespace{{}, "t"};
  const std::uint64_t t_hash = shm::hash_levels(Namespace{"t"}, seed);
  EXPECT_EQ(client::find_table(arena, spells_a_namespace, t_hash, now).presence,
            client::Presence::kAbsent);
}

TEST(PlainText, KnowsPlainNamesAtEveryLengthAndPlace) {
  EXPECT_FALSE(client::is_plain_name(""));
  for (std::size_t size = 1; size < 40; ++size) {
    const std::string plain(size, 'x');
    EXPECT_TRUE(client::is_plain_name(plain));
    for (std::size_t at = 0; at < size; ++at) {
      for (const int byte : {0x00, 0x1f, 0x09, 0x80, 0xff}) {
        std::string other = plain;
        other[at] = static_cast<char>(byte);
        ASSERT_FALSE(client::is_plain_name(other)) << size << " " << at << " " << byte;
      }
      for (const int byte : {0x20, 0x3f, 0x40, 0x5f, 0x60, 0x7f}) {
        std::string other = plain;
        other[at] = static_cast<char>(byte);
        ASSERT_TRUE(client::is_plain_name(other)) << size << " " << at << " " << byte;
      }
    }
  }
}

TEST_F(CatalogLookup, AnswersManyKeysAsItAnswersEach) {
  commit_tables(200);
  store_.put(encode(ident({"a"}, "v")), RecordKind::kView, "s3://v");
  commit();
  const Catalog catalog = open();
  for (const std::size_t count : {0u, 1u, 23u, 24u, 25u, 49u, 300u}) {
    std::vector<TableIdent> idents;
    for (std::size_t i = 0; i < count; ++i) {
      idents.push_back(ident({"a"}, i % 7 == 0 ? "v" : "t" + std::to_string(i * 13 % 250)));
    }
    const auto locations = catalog.resolve_locations(idents);
    ASSERT_OK(locations);
    const std::unique_ptr<bool[]> exist(new bool[count]);
    ASSERT_OK(catalog.tables_exist(idents, {exist.get(), count}));
    const auto snapshot = catalog.snapshot();
    std::vector<std::optional<TableView>> views(count);
    ASSERT_OK(snapshot->find_many(idents, views));
    for (std::size_t i = 0; i < count; ++i) {
      const auto one = catalog.resolve_location(idents[i]);
      EXPECT_EQ((*locations)[i].has_value(), one.ok());
      if (one) {
        EXPECT_EQ(*(*locations)[i], *one);
      }
      EXPECT_THAT(catalog.table_exists(idents[i]), IsValue(exist[i]));
      const auto found = snapshot->find(idents[i]);
      ASSERT_OK(found);
      EXPECT_EQ(views[i].has_value(), found->has_value());
    }
  }
  std::vector<std::optional<TableView>> too_few(1);
  const std::vector<TableIdent> two(2, ident({"a"}, "t0"));
  EXPECT_THAT(catalog.snapshot()->find_many(two, too_few), IsError(ErrorKind::kInvalidArgument));
}

TEST_F(CatalogLookup, PreparedKeysOutliveFlipsAndAnotherSeed) {
  commit_tables(2);
  const Catalog catalog = open();
  const auto present = catalog.prepare(ident({"a"}, "t1"));
  const auto absent = catalog.prepare(ident({"a"}, "nix"));
  ASSERT_OK(present);
  ASSERT_OK(absent);
  const auto check = [&](const Catalog& on) {
    EXPECT_THAT(on.table_exists(*present), IsValue(true));
    EXPECT_THAT(on.table_exists(*absent), IsValue(false));
    EXPECT_THAT(on.resolve_location(*present), IsValue(std::string("s3://t1")));
    EXPECT_THAT(on.resolve_location(*absent), IsError(ErrorKind::kNotFound));
    const auto snapshot = on.snapshot();
    const auto found = snapshot->find(*present);
    ASSERT_OK(found);
    ASSERT_TRUE(found->has_value());
    EXPECT_EQ((*found)->metadata_location(), "s3://t1");
  };
  check(catalog);
  flip();
  check(catalog);

  const TempDir other_dir;
  shm::PublisherOptions options;
  options.runtime_dir = other_dir.path();
  options.hash_seed = 99;
  auto publisher = shm::Publisher::open(options);
  ASSERT_OK(publisher);
  ASSERT_OK((*publisher)->start(store_, 1));
  const auto other = Catalog::open(other_dir.path());
  ASSERT_OK(other);
  ASSERT_NE(other->prepare(ident({"a"}, "t1"))->hash(), present->hash());
  check(*other);
}

TEST_F(CatalogLookup, FailsAtOnceWhereThereIsNoSegment) {
  EXPECT_THAT(Catalog::open(dir_.path() + "/nowhere"), IsError(ErrorKind::kNoSegment));
  EXPECT_THAT(Catalog::open(""), IsError(ErrorKind::kInvalidArgument));
}

TEST_F(CatalogLookup, TellsAnInstanceThatIsBrokenFromOneThatIsNotThere) {
  store_.stop();
  std::filesystem::resize_file(dir_.path() + "/control", 100);
  EXPECT_THAT(Catalog::open(dir_.path()), IsError(ErrorKind::kCorrupt));
}

TEST_F(CatalogLookup, GoesOnWhileTheWriterIsStoppedAndAfterItsReturn) {
  commit_tables(2);
  const Catalog catalog = open();
  store_.stop();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "t1")), IsValue(true));
  ASSERT_OK(store_.start(dir_.path()));
  store_.put_table(ident({"a"}, "new"), "s3://new");
  commit();
  EXPECT_THAT(catalog.table_exists(ident({"a"}, "new")), IsValue(true));
}

TEST_F(CatalogLookup, SaysWhenThePlaceIsGoneAndFindsTheNextOne) {
  commit_tables(1);
  const Catalog catalog = open({.ask_daemon = AskDaemon::kNever});
  store_.stop();
  std::filesystem::remove_all(dir_.path());
  const auto until = [&](const auto& is_reached) {
    for (int i = 0; i < 20'000; ++i) {
      if (is_reached(catalog.table_exists(ident({"a"}, "t0")))) return true;
    }
    return false;
  };
  EXPECT_TRUE(until(
      [](const auto& found) { return !found && found.error().kind() == ErrorKind::kNoSegment; }));
  std::filesystem::create_directory(dir_.path());
  MemoryStore other;
  ASSERT_OK(other.start(dir_.path()));
  other.put_namespace({"a"});
  other.put_table(ident({"a"}, "t0"), "s3://elsewhere");
  ASSERT_OK(other.commit());
  EXPECT_TRUE(until([](const auto& found) { return found && *found; }));
  EXPECT_THAT(catalog.resolve_location(ident({"a"}, "t0")), IsValue(std::string("s3://elsewhere")));
}

TEST_F(CatalogLookup, ManyThreadsReadThroughCommitsAndFlips) {
  commit_tables(50);
  const Catalog catalog = open();
  std::atomic<bool> is_over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      std::mt19937 random(static_cast<unsigned>(reader));
      while (!is_over.load(std::memory_order_relaxed)) {  // relaxed: a flag to end by
        const auto name = "t" + std::to_string(random() % 50);
        const auto location = catalog.resolve_location(ident({"a"}, name));
        // Each table moves between two locations that hold its name.
        if (!location || location->find("//" + name) == std::string::npos) ++wrong;
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const auto name = "t" + std::to_string(i % 50);
    store_.put_table(ident({"a"}, name), "s3://" + name + "/" + std::to_string(i));
    commit();
    if (i % 10 == 0) flip();
  }
  is_over.store(true, std::memory_order_relaxed);  // relaxed: a flag to end by
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace iceblink::testing
