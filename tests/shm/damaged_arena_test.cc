// Damage that no checksum shows: records that no writer would have made, with everything around
// them made to match.
#include <algorithm>
#include <cstring>

#include "shm/arena_builder.h"
#include "shm/verifier.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

constexpr std::uint64_t kHashSeed = 99;

ArenaParameters parameters_of(std::uint32_t epoch) {
  ArenaParameters parameters;
  parameters.epoch = epoch;
  parameters.base_generation = 10;
  parameters.hash_seed = kHashSeed;
  parameters.index_capacity = 64;
  parameters.record_bytes = 4 << 10;
  return parameters;
}

/// Holds the namespace "a" and its table "t".
class DamagedArena : public ::testing::Test {
 protected:
  DamagedArena() : memory_(arena_file_bytes(parameters_of(3)) / 8) {
    writer_ = ArenaWriter(bytes(), parameters_of(3));
    namespace_offset_ = writer_.tail();
    writer_.store_slot(writer_.append(
        {.kind = RecordKind::kNamespace, .key = "a", .location = {}, .generation = 10}));
    table_offset_ = writer_.tail();
    writer_.store_slot(writer_.append({.kind = RecordKind::kTable,
                                       .key = encode(TableIdent{{"a"}, "t"}),
                                       .location = "v1",
                                       .generation = 10}));
    writer_.seal();
    writer_.publish_tail(10);
  }

  std::span<std::byte> bytes() {
    return {reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8};
  }
  template <typename T>
  T& at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(bytes().data() + offset);
  }
  void seal_record(std::uint64_t offset) {
    auto& record = at<Record>(offset);
    record.checksum = ArenaView::checksum_of(record, record.key_bytes, record.location_bytes);
  }
  /// The namespace is called "b", and has nothing in it: its table is alone.
  void take_the_namespace_away() {
    at<char>(namespace_offset_ + kRecordKeyOffset) = 'b';
    seal_record(namespace_offset_);
    at<std::uint64_t>(at<Record>(namespace_offset_).location_hash) = 0;
    move_slot(hash_encoded("a", kHashSeed), hash_encoded("b", kHashSeed), namespace_offset_);
  }
  void move_slot(std::uint64_t from_hash, std::uint64_t to_hash, std::uint64_t offset) {
    constexpr std::uint64_t kCapacity = 64;
    const auto slot = [&](std::uint64_t index) -> Slot& {
      return at<Slot>(kArenaHeaderBytes + index * sizeof(Slot));
    };
    slot(home_slot(from_hash, kCapacity)) = 0;
    slot(home_slot(to_hash, kCapacity)) = make_slot(to_hash, offset);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < kCapacity; ++i) sum += slot_digest(i, slot(i));
    slot(kCapacity) = sum;
  }
  std::string first_problem() {
    const auto report = verify_arena(bytes(), "arena", nullptr);
    return report.problems.empty() ? "none" : report.problems.front();
  }
  std::ptrdiff_t count_problems(const std::string& text) {
    const auto report = verify_arena(bytes(), "arena", nullptr);
    return std::ranges::count_if(report.problems, [&](const std::string& problem) {
      return problem.find(text) != std::string::npos;
    });
  }
  Status copy() {
    std::vector<std::uint64_t> memory(memory_.size());
    ArenaWriter writer({reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8},
                       parameters_of(4));
    const auto view = ArenaView::open(bytes(), "arena");
    return view ? fill_from(*view, 10, writer) : view.error();
  }

  /// Where its record is.
  std::uint64_t append_published(const Change& change) {
    const std::uint64_t offset = writer_.tail();
    writer_.store_slot(writer_.append(change));
    writer_.publish_tail(change.generation);
    return offset;
  }

  std::vector<std::uint64_t> memory_;
  ArenaWriter writer_;
  std::uint64_t namespace_offset_ = 0;
  std::uint64_t table_offset_ = 0;
};

TEST_F(DamagedArena, IsSoundBeforeAnyDamage) {
  EXPECT_EQ(first_problem(), "none");
  EXPECT_TRUE(copy().ok());
}

TEST_F(DamagedArena, ATableWithoutItsNamespaceIsSeenAndIsNotCopied) {
  take_the_namespace_away();
  EXPECT_NE(first_problem().find("namespace is not here"), std::string::npos) << first_problem();
  const Status copied = copy();
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().kind(), ErrorKind::kCorrupt);
}

TEST_F(DamagedArena, ARecordOfAnotherKindThanItsKeyIsSeenAndIsNotCopied) {
  at<Record>(namespace_offset_).kind = RecordKind::kTable;
  seal_record(namespace_offset_);
  EXPECT_NE(first_problem().find("not one of its kind"), std::string::npos) << first_problem();
  const Status copied = copy();
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().kind(), ErrorKind::kCorrupt);
}

TEST_F(DamagedArena, ARecordOfNoKindIsSeenAndIsNotCopied) {
  at<Record>(table_offset_).kind = static_cast<RecordKind>(9);
  seal_record(table_offset_);
  EXPECT_NE(first_problem().find("unknown kind 9"), std::string::npos) << first_problem();
  const Status copied = copy();
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().kind(), ErrorKind::kCorrupt);
}

void seal_header(ArenaHeader& header) {
  header.checksum = XXH3_64bits(&header, offsetof(ArenaHeader, checksum));
}

#define EXPECT_PROBLEM(text) \
  EXPECT_NE(first_problem().find(text), std::string::npos) << first_problem()

TEST_F(DamagedArena, ATailWithinARecordIsSeen) {
  auto& header = at<ArenaHeader>(0);
  const std::uint64_t tail = header.published_tail.load() - kRecordAlignment;
  header.base_copy_end = header.records_offset;
  seal_header(header);
  header.published_tail.store(tail);
  header.append_limit.store(checked_offset(tail));
  EXPECT_PROBLEM("out of order");  // records of the base, behind the base
  EXPECT_NE(verify_arena(bytes(), "arena", nullptr).problems.back().find("before the tail"),
            std::string::npos);
}

TEST_F(DamagedArena, ARecordThatRunsOutOfTheArenaIsSeen) {
  at<Record>(table_offset_).location_bytes = 65535;
  EXPECT_PROBLEM("a record does not end before the tail");
}

TEST_F(DamagedArena, ATailOutsideOfTheArenaIsSeen) {
  auto& header = at<ArenaHeader>(0);
  header.published_tail.store(0);
  EXPECT_PROBLEM("the tail lies outside");
  header.published_tail.store(header.file_bytes + 8);
  EXPECT_PROBLEM("the tail lies outside");
}

TEST_F(DamagedArena, ABaseCopyThatEndsWithinARecordIsSeen) {
  auto& header = at<ArenaHeader>(0);
  header.base_copy_end = table_offset_ + kRecordAlignment;
  seal_header(header);
  EXPECT_PROBLEM("the base copy within a record");
}

TEST_F(DamagedArena, LinksThatNoWriterMakesAreSeen) {
  const auto units = [](std::uint64_t offset) {
    return static_cast<std::uint32_t>(offset / kRecordAlignment);
  };
  auto& table = at<Record>(table_offset_);
  const auto expect = [&](auto Record::*field, auto value, const char* what) {
    const Record before = table;
    table.*field = value;
    seal_record(table_offset_);
    EXPECT_PROBLEM(what);
    table = before;
    EXPECT_EQ(first_problem(), "none");
  };
  expect(&Record::previous, units(namespace_offset_), "a version link is wrong");
  expect(&Record::next_sibling, units(namespace_offset_), "a sibling link is wrong");
  expect(&Record::level_count, std::uint8_t{2}, "the number of levels is wrong");
  expect(&Record::location_hash, std::uint64_t{1}, "the location's hash is wrong");
}

TEST_F(DamagedArena, AVersionIsNoSiblingAndComesInOrder) {
  const std::string key = encode(TableIdent{{"a"}, "t"});
  const std::uint64_t offset = append_published(
      {.kind = RecordKind::kTable, .key = key, .location = "v2", .generation = 11});
  EXPECT_EQ(first_problem(), "none");
  auto& record = at<Record>(offset);
  record.next_sibling = static_cast<std::uint32_t>(namespace_offset_ / kRecordAlignment);
  seal_record(offset);
  EXPECT_PROBLEM("linked as a sibling");
  record.next_sibling = 0;
  for (const std::uint64_t generation : {10, 9}) {
    record.generation = generation;
    seal_record(offset);
    EXPECT_PROBLEM("a record's generation is out of order");
  }
  record.generation = 99;
  seal_record(offset);
  EXPECT_PROBLEM("newer than the published generation");
}

TEST_F(DamagedArena, AVersionOlderThanTheOneBeforeItIsSeen) {
  const std::string key = encode(TableIdent{{"a"}, "t"});
  for (const std::uint64_t generation : {12, 11}) {
    append_published(
        {.kind = RecordKind::kTable, .key = key, .location = "v", .generation = generation});
  }
  EXPECT_EQ(count_problems("a record's generation is out of order"), 1);
}

/// The bytes stay where they are; what is key and what is location is another matter.
TEST_F(DamagedArena, AKeyOfASizeThatNoneHasIsSeen) {
  auto& record = at<Record>(table_offset_);
  const Record before = record;
  record.location_bytes += record.key_bytes;
  record.key_bytes = 0;
  seal_record(table_offset_);
  EXPECT_EQ(count_problems("the key is not one of its kind"), 1);
  record = before;
  const std::string key = encode(TableIdent{{"a"}, "long"});
  const std::string location(kKeyBytesMax, 'x');
  auto& other = at<Record>(append_published(
      {.kind = RecordKind::kTable, .key = key, .location = location, .generation = 11}));
  EXPECT_EQ(first_problem(), "none");
  other.key_bytes += other.location_bytes;
  other.location_bytes = 0;
  other.checksum = ArenaView::checksum_of(other, other.key_bytes, 0);
  EXPECT_EQ(count_problems("the key is not one of its kind"), 1);
}

TEST_F(DamagedArena, ANamespaceWhoseChildrenAreNowhereIsSeen) {
  at<Record>(namespace_offset_).location_hash = at<ArenaHeader>(0).file_bytes + 8;
  seal_record(namespace_offset_);
  EXPECT_EQ(count_problems("the location's hash is wrong"), 1);
}

TEST_F(DamagedArena, WhatIsBeingWrittenIsNotJudged) {
  writer_.announce_append(200);
  const auto report = verify_arena(bytes(), "arena", nullptr);
  EXPECT_FALSE(report.complete);
  EXPECT_TRUE(report.problems.empty());
  static_cast<void>(writer_.append(
      {.kind = RecordKind::kNamespace, .key = "b", .location = {}, .generation = 11}));
  EXPECT_EQ(first_problem(), "none");
}

TEST_F(DamagedArena, APublishedRecordBeyondTheTailIsSeen) {
  writer_.announce_append(200);
  static_cast<void>(writer_.append(
      {.kind = RecordKind::kNamespace, .key = "b", .location = {}, .generation = 10}));
  EXPECT_PROBLEM("a published record lies beyond the tail");
}

TEST_F(DamagedArena, SoManyProblemsAreNamedAndNoMore) {
  for (int i = 0; i < 40; ++i) {
    const std::string key = "n" + std::to_string(i);
    append_published(
        {.kind = RecordKind::kNamespace, .key = key, .location = {}, .generation = 11});
  }
  EXPECT_EQ(first_problem(), "none");
  for (std::uint64_t offset = at<ArenaHeader>(0).base_copy_end; offset < writer_.tail();) {
    auto& record = at<Record>(offset);
    record.level_count = 9;
    record.location_hash = 9;
    record.next_sibling = 9;
    seal_record(offset);
    offset += record_span(record.key_bytes, record.location_bytes, true);
  }
  EXPECT_EQ(verify_arena(bytes(), "arena", nullptr).problems.size(), kVerifyProblemsMax);
}

TEST_F(DamagedArena, AFullIndexEndsALookup) {
  const std::uint64_t hash = hash_encoded("none", kHashSeed);
  for (std::uint64_t i = 0; i < 64; ++i) {
    at<Slot>(kArenaHeaderBytes + i * sizeof(Slot)) = make_slot(~hash, table_offset_);
  }
  const auto view = ArenaView::open(bytes(), "arena");
  ASSERT_OK(view);
  EXPECT_EQ(view->find(EncodedKey{"none"}, hash, 10).status, FindStatus::kAbsent);
  EXPECT_EQ(count_problems("the index does not lead to this record"), 2);
}

TEST_F(DamagedArena, ASlotThatLeadsNowhereIsNotCopied) {
  at<Slot>(kArenaHeaderBytes + home_slot(hash_encoded("x", kHashSeed), 64) * sizeof(Slot)) =
      make_slot(1, at<ArenaHeader>(0).file_bytes + 8);
  const Status copied = copy();
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().kind(), ErrorKind::kCorrupt);
}

TEST_F(DamagedArena, AChainThatLeadsNowhereIsNotCopied) {
  at<ArenaHeader>(0).root_children.namespaces.store(at<ArenaHeader>(0).file_bytes + 8);
  const Status copied = copy();
  ASSERT_FALSE(copied.ok());
  EXPECT_EQ(copied.error().kind(), ErrorKind::kCorrupt);
}

TEST_F(DamagedArena, AnOffsetOfWhichNoSumIsMadeLeadsNowhere) {
  const auto view = ArenaView::open(bytes(), "arena");
  ASSERT_OK(view);
  for (std::uint64_t below = 8; below <= 2 * sizeof(Record); below += 8) {
    const std::uint64_t offset = std::uint64_t{0} - below;
    EXPECT_FALSE(view->record_at(offset)) << below;
    EXPECT_EQ(view->find_version(offset, 10).status, FindStatus::kCorrupt) << below;
    at<ArenaHeader>(0).root_children.namespaces.store(offset);
    EXPECT_EQ(view->visit_namespaces("", 10, [](const RecordView&) { FAIL(); }),
              FindStatus::kCorrupt)
        << below;
    at<Record>(namespace_offset_).location_hash = offset;
    EXPECT_EQ(view->visit_tables("a", 10, [](const RecordView&) { FAIL(); }), FindStatus::kCorrupt)
        << below;
  }
  EXPECT_FALSE(ArenaView().record_at(0));
}

TEST_F(DamagedArena, ChangesOutsideOfTheArenaAreNotVisited) {
  const auto view = ArenaView::open(bytes(), "arena");
  ASSERT_OK(view);
  for (const std::uint64_t tail : {view->header().file_bytes + 8, std::uint64_t{0}}) {
    EXPECT_EQ(view->visit_changes(tail, [](const RecordView&) { FAIL(); }), FindStatus::kCorrupt);
  }
}

TEST_F(DamagedArena, AnOptionalAdditionMayUseReservedBytes) {
  auto& header = at<ArenaHeader>(0);
  header.reserved[100] = 1;
  EXPECT_NE(first_problem().find("reserved"), std::string::npos) << first_problem();
  header.features_optional = 4;
  header.checksum = XXH3_64bits(bytes().data(), offsetof(ArenaHeader, checksum));
  EXPECT_EQ(first_problem(), "none");
}

}  // namespace
}  // namespace iceblink::shm
