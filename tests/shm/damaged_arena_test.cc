// Damage that no checksum shows: records that no writer would have made, with everything around
// them made to match.
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
    ArenaWriter writer(bytes(), parameters_of(3));
    namespace_offset_ = writer.tail();
    writer.store_slot(writer.append(
        {.kind = RecordKind::kNamespace, .key = "a", .location = {}, .generation = 10}));
    table_offset_ = writer.tail();
    writer.store_slot(writer.append({.kind = RecordKind::kTable,
                                     .key = encode(TableIdent{{"a"}, "t"}),
                                     .location = "v1",
                                     .generation = 10}));
    writer.seal();
    writer.publish_tail(10);
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
  Status copy() {
    std::vector<std::uint64_t> memory(memory_.size());
    ArenaWriter writer({reinterpret_cast<std::byte*>(memory.data()), memory.size() * 8},
                       parameters_of(4));
    const auto view = ArenaView::open(bytes(), "arena");
    return view ? fill_from(*view, 10, writer) : view.error();
  }

  std::vector<std::uint64_t> memory_;
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
