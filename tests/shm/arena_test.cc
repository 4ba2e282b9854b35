#include <algorithm>
#include <set>

#include "shm/arena_writer.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::levels;
using testing::table;

/// An arena in plain memory.
class Arena : public ::testing::Test {
 protected:
  explicit Arena(std::uint64_t slots = 1024, std::uint64_t record_bytes = 1 << 20) {
    ArenaParameters parameters;
    parameters.epoch = 3;
    parameters.base_generation = 10;
    parameters.hash_seed = 99;
    parameters.index_capacity = slots;
    parameters.record_bytes = record_bytes;
    memory_.resize(arena_file_bytes(parameters) / 8);
    writer_ = ArenaWriter(bytes(), parameters);
  }
  std::span<std::byte> bytes() {
    return {reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8};
  }
  void put(RecordKind kind, const std::string& key, std::uint64_t generation,
           const std::string& location = "") {
    writer_.store_slot(
        writer_.append({.kind = kind, .key = key, .location = location, .generation = generation}));
  }
  std::optional<std::string> location_at(const TableIdent& ident, std::uint64_t generation) {
    const TableKey key{ident.levels, ident.name};
    const Found found = writer_.view().find(key, key.hash(99), generation);
    EXPECT_NE(found.status, FindStatus::kCorrupt);
    if (found.status != FindStatus::kFound) return std::nullopt;
    return std::string(found.record.location());
  }
  std::set<std::string> tables_at(const Namespace& ns, std::uint64_t generation) {
    std::set<std::string> names;
    EXPECT_EQ(writer_.view().visit_tables(encode(ns), generation,
                                          [&](const RecordView& record) {
                                            EXPECT_TRUE(names.emplace(leaf_of(record.key())).second)
                                                << "listed twice";
                                          }),
              FindStatus::kFound);
    return names;
  }

  std::vector<std::uint64_t> memory_;
  ArenaWriter writer_;
};

TEST_F(Arena, FindsEachVersionAtItsGeneration) {
  const TableIdent t = table(levels({"a"}), "t");
  put(RecordKind::kNamespace, encode(levels({"a"})), 10);
  put(RecordKind::kTable, encode(t), 11, "v1");
  put(RecordKind::kTable, encode(t), 12, "v2");
  put(RecordKind::kTombstone, encode(t), 13);
  put(RecordKind::kTable, encode(t), 14, "v4");
  EXPECT_EQ(location_at(t, 10), std::nullopt);
  EXPECT_EQ(location_at(t, 11), "v1");
  EXPECT_EQ(location_at(t, 12), "v2");
  EXPECT_EQ(location_at(t, 13), std::nullopt);
  EXPECT_EQ(location_at(t, 14), "v4");
  EXPECT_EQ(location_at(t, 99), "v4");
}

TEST_F(Arena, NewestRecordOfAGenerationWins) {
  const TableIdent t = table(levels({"a"}), "t");
  put(RecordKind::kNamespace, encode(levels({"a"})), 11);
  put(RecordKind::kTable, encode(t), 11, "first");
  put(RecordKind::kTable, encode(t), 11, "second");
  EXPECT_EQ(location_at(t, 11), "second");
}

TEST_F(Arena, ListsWhatIsThereAtTheGeneration) {
  const Namespace a = levels({"a"});
  put(RecordKind::kNamespace, encode(a), 10);
  put(RecordKind::kNamespace, encode(levels({"a", "b"})), 10);
  put(RecordKind::kTable, encode(table(a, "one")), 11, "l");
  put(RecordKind::kView, encode(table(a, "two")), 12, "l");
  put(RecordKind::kTombstone, encode(table(a, "one")), 13);
  put(RecordKind::kTable, encode(table(a, "one")), 14, "l");
  put(RecordKind::kTable, encode(table(levels({"a", "b"}), "deep")), 14, "l");
  EXPECT_EQ(tables_at(a, 10), (std::set<std::string>{}));
  EXPECT_EQ(tables_at(a, 11), (std::set<std::string>{"one"}));
  EXPECT_EQ(tables_at(a, 12), (std::set<std::string>{"one", "two"}));
  EXPECT_EQ(tables_at(a, 13), (std::set<std::string>{"two"}));
  EXPECT_EQ(tables_at(a, 14), (std::set<std::string>{"one", "two"}));
  std::set<std::string> children;
  EXPECT_EQ(writer_.view().visit_namespaces(
                "a", 14, [&](const RecordView& record) { children.emplace(record.key()); }),
            FindStatus::kFound);
  EXPECT_EQ(children, (std::set<std::string>{encode(levels({"a", "b"}))}));
  EXPECT_EQ(writer_.view().visit_tables("a", 9, [](const RecordView&) {}), FindStatus::kAbsent);
}

TEST_F(Arena, ChildrenOfADroppedAndRemadeNamespaceAreListedAgain) {
  const Namespace a = levels({"a"});
  put(RecordKind::kNamespace, encode(a), 11);
  put(RecordKind::kTable, encode(table(a, "t")), 11, "l");
  put(RecordKind::kTombstone, encode(table(a, "t")), 12);
  put(RecordKind::kNamespaceTombstone, encode(a), 12);
  put(RecordKind::kNamespace, encode(a), 13);
  put(RecordKind::kTable, encode(table(a, "u")), 14, "l");
  EXPECT_EQ(writer_.view().visit_tables("a", 12, [](const RecordView&) {}), FindStatus::kAbsent);
  EXPECT_EQ(tables_at(a, 13), (std::set<std::string>{}));
  EXPECT_EQ(tables_at(a, 14), (std::set<std::string>{"u"}));
}

TEST_F(Arena, CountsLiveKeysAndGarbage) {
  put(RecordKind::kNamespace, "a", 11);
  const std::string key = encode(table(levels({"a"}), "t"));
  put(RecordKind::kTable, key, 11, "l");
  EXPECT_EQ(writer_.garbage_bytes(), 0U);
  put(RecordKind::kTable, key, 12, "l");
  EXPECT_EQ(writer_.garbage_bytes(), record_span(key.size(), 1, false));
  EXPECT_EQ(writer_.table_count(), 1U);
  put(RecordKind::kTombstone, key, 13);
  EXPECT_EQ(writer_.table_count(), 0U);
  EXPECT_EQ(writer_.namespace_count(), 1U);
  EXPECT_EQ(writer_.garbage_bytes(),
            2 * record_span(key.size(), 1, false) + record_span(key.size(), 0, false));
}

class SmallArena : public Arena {
 protected:
  SmallArena() : Arena(8, 1 << 16) {}
};

TEST_F(SmallArena, ProbesWrapAndEndInAFullIndex) {
  put(RecordKind::kNamespace, "a", 10);
  std::vector<TableIdent> tables;
  while (writer_.free_slots() > 0) {
    tables.push_back(table(levels({"a"}), "t" + std::to_string(tables.size())));
    put(RecordKind::kTable, encode(tables.back()), 11, tables.back().name);
  }
  EXPECT_EQ(tables.size(), 6U);  // of 8 slots: one for the namespace, one stays empty
  for (const auto& t : tables) EXPECT_EQ(location_at(t, 11), t.name);
  EXPECT_EQ(location_at(table(levels({"a"}), "absent"), 11), std::nullopt);
}

TEST_F(Arena, OpenRefusesForeignLayoutsAndNamesBothVersions) {
  auto* header = reinterpret_cast<ArenaHeader*>(memory_.data());
  header->layout_version = 7;
  const auto view = ArenaView::open(bytes(), "arena.3");
  ASSERT_FALSE(view.ok());
  EXPECT_EQ(view.error().kind(), ErrorKind::kIncompatible);
  EXPECT_NE(view.error().message().find("version 7"), std::string::npos);
  EXPECT_NE(view.error().message().find("version 1"), std::string::npos);
}

TEST_F(Arena, OpenRefusesAnotherByteOrderATruncatedFileAndUnknownFeatures) {
  EXPECT_EQ(ArenaView::open(bytes().first(100), "x").error().kind(), ErrorKind::kCorrupt);
  EXPECT_EQ(ArenaView::open(bytes().first(bytes().size() - 8), "x").error().kind(),
            ErrorKind::kCorrupt);
  auto* header = reinterpret_cast<ArenaHeader*>(memory_.data());
  header->byte_order = 0x04030201;
  EXPECT_EQ(ArenaView::open(bytes(), "x").error().kind(), ErrorKind::kIncompatible);
  header->byte_order = kByteOrderMark;
  header->features_required = 2;
  writer_.seal();  // a good checksum, so that it is the feature that is refused
  EXPECT_EQ(ArenaView::open(bytes(), "x").error().kind(), ErrorKind::kIncompatible);
}

TEST_F(Arena, DamagedLinksAreErrorsNotEndlessWalks) {
  put(RecordKind::kNamespace, "a", 10);
  const TableIdent t = table(levels({"a"}), "t");
  put(RecordKind::kTable, encode(t), 11, "v1");
  const std::uint64_t at = writer_.tail();
  put(RecordKind::kTable, encode(t), 12, "v2");
  auto* record = reinterpret_cast<Record*>(bytes().data() + at);
  const TableKey key{t.levels, t.name};

  record->previous = static_cast<std::uint32_t>(at / 8);  // itself
  EXPECT_EQ(writer_.view().find(key, key.hash(99), 11).status, FindStatus::kCorrupt);
  record->previous = 0xffffffff;  // outside
  EXPECT_EQ(writer_.view().find(key, key.hash(99), 11).status, FindStatus::kCorrupt);
  record->key_bytes = 0xffff;
  record->location_bytes = 0xffff;
  for (auto& word : std::span(memory_).last(20)) word = 0;
  EXPECT_NE(writer_.view().find(key, key.hash(99), 12).status, FindStatus::kFound);
}

TEST(Root, GenerationSurvivesTheWrapOfItsLowHalf) {
  const std::uint64_t base = 0x5'ffff'fff0;
  for (std::uint64_t generation = base; generation < base + 100; ++generation) {
    EXPECT_EQ(generation_of(make_root(9, generation), base), generation);
    EXPECT_EQ(epoch_of(make_root(9, generation)), 9U);
  }
}

}  // namespace
}  // namespace iceblink::shm
