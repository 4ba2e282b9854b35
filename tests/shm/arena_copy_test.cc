// Arenas made from other arenas: what was appended in the meantime, what does not fit, and what a
// writer will not write.
#include <csignal>

#include "shm/arena_builder.h"
#include "tests/shm/memory_store.h"

namespace iceblink::shm {
namespace {

using testing::table;
using testing::TempDir;

/// An arena in plain memory.
class PlainArena {
 public:
  explicit PlainArena(std::uint64_t slots = 64, std::uint64_t record_bytes = 4 << 10) {
    ArenaParameters parameters;
    parameters.epoch = 1;
    parameters.base_generation = 10;
    parameters.index_capacity = slots;
    parameters.record_bytes = record_bytes;
    parameters.store_uuid[0] = 7;
    memory_.resize(arena_file_bytes(parameters) / 8);
    writer =
        ArenaWriter({reinterpret_cast<std::byte*>(memory_.data()), memory_.size() * 8}, parameters);
  }
  void put(RecordKind kind, const std::string& key, const std::string& location = "",
           std::uint64_t generation = 10) {
    writer.store_slot(
        writer.append({.kind = kind, .key = key, .location = location, .generation = generation}));
  }
  [[nodiscard]] FindStatus find(const std::string& key) const {
    return writer.view().find(EncodedKey{key}, hash_encoded(key, 0), 99).status;
  }

  ArenaWriter writer;

 private:
  std::vector<std::uint64_t> memory_;
};

class ArenaCopy : public ::testing::Test {
 protected:
  ArenaCopy() {
    source_.put(RecordKind::kNamespace, "a");
    source_.put(RecordKind::kNamespace, "b");
    source_.put(RecordKind::kTable, t_, "v1");
    source_.put(RecordKind::kView, v_, "view");
    source_.writer.seal();
    begin_ = source_.writer.tail();
    source_.put(RecordKind::kTable, t_, "v2", 11);
    source_.put(RecordKind::kTombstone, v_, "", 12);
    source_.put(RecordKind::kNamespaceTombstone, "b", "", 13);
  }
  Status catch_up_to(ArenaWriter& target, std::uint64_t end, std::uint64_t records_max) {
    return catch_up(source_.writer.view(), &position_, end, records_max, target);
  }

  const std::string t_ = encode(table({"a"}, "t"));
  const std::string v_ = encode(table({"a"}, "v"));
  PlainArena source_;
  std::uint64_t begin_ = 0;
  std::uint64_t position_ = 0;
};

TEST_F(ArenaCopy, CatchesUpWithWhatWasAppendedMeanwhile) {
  PlainArena target;
  ASSERT_OK(fill_from(source_.writer.view(), 10, target.writer));
  EXPECT_EQ(target.find(v_), FindStatus::kFound);
  position_ = begin_;
  const std::uint64_t end = source_.writer.tail();
  ASSERT_OK(catch_up_to(target.writer, end, 2));
  EXPECT_LT(position_, end);
  ASSERT_OK(catch_up_to(target.writer, end, 2));
  EXPECT_EQ(position_, end);
  EXPECT_EQ(target.find(t_), FindStatus::kFound);
  EXPECT_EQ(target.find(v_), FindStatus::kAbsent);
  EXPECT_EQ(target.find("b"), FindStatus::kAbsent);
}

TEST_F(ArenaCopy, ARecordThatDoesNotEndIsNotCopied) {
  PlainArena target;
  ASSERT_OK(fill_from(source_.writer.view(), 10, target.writer));
  position_ = begin_;
  const Status cut = catch_up_to(target.writer, begin_ + kRecordAlignment, 9);
  ASSERT_FALSE(cut.ok());
  EXPECT_EQ(cut.error().kind(), ErrorKind::kCorrupt);
  position_ = source_.writer.view().header().file_bytes;
  const Status beyond = catch_up_to(target.writer, position_ + 8, 9);
  ASSERT_FALSE(beyond.ok());
  EXPECT_EQ(beyond.error().kind(), ErrorKind::kCorrupt);
}

TEST_F(ArenaCopy, AChildWithoutItsNamespaceIsNotCaughtUpWith) {
  PlainArena empty;
  position_ = begin_;
  const Status orphan = catch_up_to(empty.writer, source_.writer.tail(), 9);
  ASSERT_FALSE(orphan.ok());
  EXPECT_EQ(orphan.error().kind(), ErrorKind::kCorrupt);
}

TEST_F(ArenaCopy, WhatDoesNotFitIsNoSpace) {
  PlainArena few_slots(3);
  const Status crowded = fill_from(source_.writer.view(), 10, few_slots.writer);
  ASSERT_FALSE(crowded.ok());
  EXPECT_EQ(crowded.error().kind(), ErrorKind::kNoSpace);

  PlainArena one_slot(2);
  source_.put(RecordKind::kNamespace, "c");
  const Status no_namespaces = fill_from(source_.writer.view(), 10, one_slot.writer);
  ASSERT_FALSE(no_namespaces.ok());
  EXPECT_EQ(no_namespaces.error().kind(), ErrorKind::kNoSpace);

  PlainArena source(64, 64 << 10);
  source.put(RecordKind::kNamespace, "a");
  source.put(RecordKind::kTable, t_, std::string(20'000, 'x'));
  PlainArena few_bytes;
  const Status full = fill_from(source.writer.view(), 10, few_bytes.writer);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().kind(), ErrorKind::kNoSpace);
}

TEST_F(ArenaCopy, AnArenaBeyondTheLimitIsNotMade) {
  const TempDir dir;
  ArenaParameters parameters;
  parameters.index_capacity = 64;
  parameters.record_bytes = kArenaBytesMax;
  const auto made = create_arena(dir.path(), parameters);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().kind(), ErrorKind::kNoSpace);
  EXPECT_TRUE(std::filesystem::is_empty(dir.path()));
}

TEST_F(ArenaCopy, AnArenaIsOnlyWhatItSaysToBe) {
  const ArenaView& view = source_.writer.view();
  EXPECT_TRUE(view.is({{}, {7}, 1}));
  EXPECT_FALSE(view.is({{1}, {7}, 1}));
  EXPECT_FALSE(view.is({{}, {8}, 1}));
  EXPECT_FALSE(view.is({{}, {7}, 2}));
}

TEST_F(ArenaCopy, OnlyWhatAWriterMakesIsAccepted) {
  const auto accepts = [&](RecordKind kind, const std::string& key) {
    return source_.writer.accepts({.kind = kind, .key = key, .location = {}});
  };
  EXPECT_TRUE(accepts(RecordKind::kNamespaceTombstone, "a"));
  EXPECT_TRUE(accepts(RecordKind::kTombstone, t_));
  EXPECT_FALSE(accepts(RecordKind::kNamespace, ""));
  EXPECT_FALSE(accepts(RecordKind::kNamespace, std::string(kKeyBytesMax + 1, 'a')));
  EXPECT_FALSE(accepts(RecordKind::kTable, encode(table({"c"}, "t"))));
  EXPECT_FALSE(accepts(static_cast<RecordKind>(0), "a"));
  EXPECT_EQ(level_count_of(""), 0);
}

/// A writer that got so far has committed: it ends rather than publish something else.
TEST_F(ArenaCopy, AppendingWhatCannotBeIsABug) {
  const auto expect_abort = [&](PlainArena& arena, RecordKind kind, const std::string& key,
                                const std::string& location) {
    EXPECT_EXIT(arena.put(kind, key, location), ::testing::KilledBySignal(SIGABRT), "");
  };
  PlainArena roomy(64, 1 << 20);
  expect_abort(roomy, RecordKind::kTable, t_, "");  // no namespace
  expect_abort(roomy, RecordKind::kNamespace, std::string(kKeyBytesMax + 1, 'a'), "");
  roomy.put(RecordKind::kNamespace, "a");
  expect_abort(roomy, RecordKind::kTable, t_, std::string(kLocationBytesMax + 1, 'x'));
  expect_abort(source_, RecordKind::kTable, t_, std::string(20'000, 'x'));
  PlainArena full(2);
  full.put(RecordKind::kNamespace, "a");
  expect_abort(full, RecordKind::kTable, t_, "");
}

}  // namespace
}  // namespace iceblink::shm
