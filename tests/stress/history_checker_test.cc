// The checker on histories made by hand: it says nothing about a right one, and finds each kind of
// wrong one.
#include <gmock/gmock.h>

#include "stress/checker.h"

namespace iceblink::stress {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Answer::Kind;

struct More {
  std::uint64_t acknowledged = 0, from = 0, ended_ns = 1000;
};

class HistoryChecker : public ::testing::Test {
 protected:
  HistoryChecker() {
    // What each test begins with: two namespaces, two tables, a group, at generations 1 to 4.
    begin(0, {{own_, 1}, {grouped_, 1}});
    log(1, {{own_, 1}, {grouped_, 1}});
    end(Outcome::kDone, 1);
    a_first_ = put(2, a_);
    b_first_ = put(3, b_);
    group_first_ = put_group(4);
    checker_.settle();
    checker_.open_stream(1);
    answer(Kind::kStart, 0);
  }

  std::uint64_t begin(unsigned writer, std::vector<Effect> effects, std::uint64_t at_ns = 10) {
    WriterRecord record;
    record.number = ++number_ + first_number_of(writer);
    record.at_ns = at_ns;
    for (const Effect& effect : effects) record.effects[record.effect_count++] = effect;
    writer_ = writer;
    checker_.take(writer, record);
    return record.number;
  }
  void end(Outcome outcome, std::uint64_t generation) {
    WriterRecord record;
    record.type = WriterRecord::Type::kEnded;
    record.number = number_ + first_number_of(writer_);
    record.outcome = outcome;
    record.generation = generation;
    checker_.take(writer_, record);
  }
  void log(std::uint64_t generation, std::vector<Change> changes) {
    checker_.log(generation, changes);
  }
  /// A table gets a new value, acknowledged, and in the log.
  Value put(std::uint64_t generation, Key key, std::uint64_t at_ns = 10) {
    const Value value = number_ + 1 + first_number_of(0);
    begin(0, {{key, value}}, at_ns);
    log(generation, {{key, value}});
    end(Outcome::kDone, generation);
    return value;
  }
  Value put_group(std::uint64_t generation) {
    const Value value = number_ + 1 + first_number_of(0);
    std::vector<Effect> effects;
    std::vector<Change> changes;
    for (const Key key : keys_.group(group_)) {
      effects.push_back({key, value});
      changes.push_back({key, value});
    }
    begin(0, effects);
    log(generation, changes);
    end(Outcome::kDone, generation);
    return value;
  }

  void answer(Kind kind, std::uint64_t generation, std::vector<Effect> sights = {},
              More more = {}) {
    Answer said;
    said.kind = kind;
    said.generation = generation;
    said.acknowledged = more.acknowledged;
    said.from = more.from;
    said.ended_ns = more.ended_ns;
    for (const Effect& sight : sights) said.add(sight.key, sight.value);
    ASSERT_TRUE(checker_.can_judge(said));
    checker_.judge(1, said);
  }
  void feed(std::uint64_t from, std::uint64_t to,
            std::vector<std::pair<std::uint64_t, Change>> all) {
    Answer said;
    said.kind = Kind::kChanges;
    said.from = from;
    said.generation = to;
    std::uint64_t index = 0;
    std::uint64_t last = 0;
    for (const auto& [generation, change] : all) {
      index = generation == last ? index + 1 : 0;
      last = generation;
      said.changes.sum += change_hash(generation, index, change.key, change.value);
      ++said.changes.count;
    }
    checker_.judge(1, said);
  }

  /// What is wrong, all in all; and nothing else.
  void expect_wrong(Wrong kind) {
    EXPECT_EQ(findings_.count(), 1U) << ::testing::PrintToString(findings_.lines());
    EXPECT_EQ(findings_.count(kind), 1U) << ::testing::PrintToString(findings_.lines());
  }
  void expect_right() { EXPECT_THAT(findings_.lines(), IsEmpty()); }

  const KeySpace keys_{2};
  const Key own_ = keys_.namespace_key(keys_.estate(0).own);
  const Key grouped_ = keys_.namespace_key(keys_.group_namespace());
  const Key a_ = keys_.estate(0).own_objects[0];
  const Key b_ = keys_.estate(0).own_objects[1];
  const Key c_ = keys_.estate(0).own_objects[2];
  const Key list_ = keys_.table_list(keys_.estate(0).own);
  const Key group_ = keys_.estate(0).group;
  Findings findings_;
  Checker checker_{keys_, findings_};
  std::uint64_t number_ = 0;
  unsigned writer_ = 0;
  Value a_first_ = 0, b_first_ = 0, group_first_ = 0;
};

TEST_F(HistoryChecker, AcceptsWhatIsRight) {
  answer(Kind::kAt, 2, {{a_, a_first_}, {b_, kAbsent}, {list_, 1 | 2}});
  answer(Kind::kAt, 4,
         {{a_, a_first_}, {b_, b_first_}, {list_, 1 | 2 | 4}, {group_, group_first_}});
  const Value second = put(5, a_);
  answer(Kind::kHeld, 4, {{a_, a_first_}});
  answer(Kind::kWithin, 5, {{a_, second}, {b_, b_first_}}, {.acknowledged = 5});
  answer(Kind::kAt, 5);
  answer(Kind::kWaited, 5, {}, {.acknowledged = 4, .from = 4});
  answer(Kind::kWaited, 0, {}, {.acknowledged = 5, .from = 5});
  feed(2, 5,
       {{3, {b_, b_first_}},
        {4, {keys_.group(group_)[0], group_first_}},
        {4, {keys_.group(group_)[1], group_first_}},
        {4, {keys_.group(group_)[2], group_first_}},
        {4, {keys_.group(group_)[3], group_first_}},
        {4, {keys_.group(group_)[4], group_first_}},
        {5, {a_, second}}});
  begin(0, {{a_, kAbsent}});
  log(6, {{a_, kAbsent}});
  end(Outcome::kDone, 6);
  answer(Kind::kAt, 6, {{a_, kAbsent}, {list_, 1 | 4}}, {.acknowledged = 6});
  checker_.settle();
  EXPECT_EQ(checker_.open_operations(), 0U);
  EXPECT_EQ(checker_.judged().acknowledged, 6U);
  expect_right();
}

TEST_F(HistoryChecker, WaitsForTheLogBeforeItJudges) {
  Answer early;
  early.kind = Kind::kAt;
  early.generation = 5;
  EXPECT_FALSE(checker_.can_judge(early));
  checker_.reach(5);
  EXPECT_TRUE(checker_.can_judge(early));
}

TEST_F(HistoryChecker, FindsAnOldValueInASnapshot) {
  put(5, a_);
  answer(Kind::kAt, 5, {{a_, a_first_}});
  expect_wrong(Wrong::kValue);
  EXPECT_THAT(findings_.lines(), ElementsAre(HasSubstr("own0.t0 = 0/2")));
}

TEST_F(HistoryChecker, FindsAValueThatComesTooSoonInASnapshot) {
  const Value second = put(5, a_);
  answer(Kind::kAt, 4, {{a_, second}});
  expect_wrong(Wrong::kValue);
}

TEST_F(HistoryChecker, FindsAGroupThatIsMixed) {
  put_group(5);
  answer(Kind::kAt, 5, {{group_, kMixed}});
  expect_wrong(Wrong::kMixed);
}

TEST_F(HistoryChecker, FindsSightsOfOneCallThatWereNeverTogether) {
  const Value second = put(5, a_);
  const Value third = put(6, b_);
  put(7, a_);
  answer(Kind::kWithin, 7, {{a_, second}, {b_, b_first_}});  // at 5
  answer(Kind::kWithin, 7, {{a_, second}, {b_, third}});     // at 6
  expect_right();
  put(8, b_);
  const Value last = put(9, a_);
  answer(Kind::kWithin, 9, {{a_, last}, {b_, third}});
  expect_wrong(Wrong::kMixed);
}

TEST_F(HistoryChecker, FindsAListThatLeavesOneOut) {
  answer(Kind::kAt, 4, {{list_, 1 | 2}});
  expect_wrong(Wrong::kValue);
}

TEST_F(HistoryChecker, FindsAGenerationThatWentBack) {
  answer(Kind::kAt, 4);
  answer(Kind::kAt, 3);
  expect_wrong(Wrong::kWentBack);
}

TEST_F(HistoryChecker, FindsALookupThatWentBack) {
  const Value second = put(5, a_);
  answer(Kind::kWithin, 5, {{a_, second}});
  answer(Kind::kWithin, 5, {{a_, a_first_}});
  expect_wrong(Wrong::kWentBack);
}

TEST_F(HistoryChecker, LetsAChildGoOnFromWhereItsParentWas) {
  checker_.open_stream(2);
  Answer start;
  start.generation = 4;
  checker_.judge(2, start);
  Answer back;
  back.kind = Kind::kAt;
  back.generation = 3;
  checker_.judge(2, back);
  expect_wrong(Wrong::kWentBack);
}

TEST_F(HistoryChecker, FindsAnAcknowledgedCommitThatIsNotSeen) {
  put(5, a_);
  answer(Kind::kWithin, 5, {{a_, a_first_}}, {.acknowledged = 5});
  expect_wrong(Wrong::kNotFresh);
}

TEST_F(HistoryChecker, FindsAGenerationBelowAnAcknowledgedOne) {
  put(5, a_);
  answer(Kind::kAt, 4, {}, {.acknowledged = 5});
  expect_wrong(Wrong::kNotFresh);
}

TEST_F(HistoryChecker, FindsAValueSeenBeforeItsOperationBegan) {
  const Value second = put(5, a_, 2000);
  answer(Kind::kAt, 5, {{a_, second}}, {.ended_ns = 1999});
  expect_wrong(Wrong::kTooEarly);
}

TEST_F(HistoryChecker, FindsAFeedThatLeavesOneOut) {
  const Value second = put(5, a_);
  const Value third = put(6, a_);
  feed(4, 6, {{5, {a_, second}}, {6, {a_, third}}});
  expect_right();
  feed(4, 6, {{6, {a_, third}}});
  expect_wrong(Wrong::kFeed);
}

TEST_F(HistoryChecker, FindsAFeedThatIsOutOfOrder) {
  const Value second = put(5, a_);
  const Value third = put(6, b_);
  feed(4, 6, {{5, {b_, third}}, {6, {a_, second}}});
  expect_wrong(Wrong::kFeed);
}

TEST_F(HistoryChecker, FindsAWaitThatNobodyEnded) {
  answer(Kind::kWaited, 0, {}, {.acknowledged = 4, .from = 3});
  expect_wrong(Wrong::kNotWoken);
}

TEST_F(HistoryChecker, FindsALostCommit) {
  begin(0, {{a_, 77 + first_number_of(0)}});
  end(Outcome::kDone, 5);
  checker_.settle();
  expect_right();  // the log may not be there yet
  checker_.reach(5);
  checker_.settle();
  expect_wrong(Wrong::kLost);
}

TEST_F(HistoryChecker, FindsACommitAcknowledgedAtAnotherGenerationThanItsOwn) {
  const Value value = begin(0, {{a_, 5 + first_number_of(0)}});
  ASSERT_EQ(value, 5 + first_number_of(0));
  log(5, {{a_, value}});
  log(6, {});
  end(Outcome::kDone, 6);
  checker_.settle();
  expect_wrong(Wrong::kLost);
}

TEST_F(HistoryChecker, AcceptsAnAnswerGivenAgainLater) {
  begin(0, {{a_, 5 + first_number_of(0)}});
  log(5, {{a_, 5 + first_number_of(0)}});
  put(6, b_);
  writer_ = 0;
  --number_;
  end(Outcome::kDoneBefore, 6);
  checker_.settle();
  expect_right();
}

TEST_F(HistoryChecker, FindsARefusedOperationThatWasDone) {
  begin(0, {{a_, 5 + first_number_of(0)}});
  log(5, {{a_, 5 + first_number_of(0)}});
  end(Outcome::kNotDone, 5);
  checker_.settle();
  expect_wrong(Wrong::kPhantom);
}

TEST_F(HistoryChecker, FindsARefusedOperationThatIsDoneLater) {
  begin(0, {{a_, 5 + first_number_of(0)}});
  end(Outcome::kNotDone, 4);
  checker_.settle();
  log(5, {{a_, 5 + first_number_of(0)}});
  expect_wrong(Wrong::kPhantom);
}

TEST_F(HistoryChecker, FindsAChangeThatNobodyMade) {
  log(5, {{a_, 99 + first_number_of(0)}});
  expect_wrong(Wrong::kPhantom);
}

TEST_F(HistoryChecker, GivesADropToWhoCanHaveDoneIt) {
  begin(0, {{a_, kAbsent}});
  end(Outcome::kNotDone, 0);
  begin(0, {{a_, kAbsent}, {b_, kAbsent}});
  end(Outcome::kUnknown, 4);
  begin(0, {{a_, kAbsent}});
  end(Outcome::kDone, 5);
  log(5, {{a_, kAbsent}});
  checker_.settle();
  expect_right();
}

TEST_F(HistoryChecker, FindsAnOperationDoneTwice) {
  begin(0, {{a_, 5 + first_number_of(0)}});
  log(5, {{a_, 5 + first_number_of(0)}});
  log(6, {{a_, 5 + first_number_of(0)}});
  expect_wrong(Wrong::kPhantom);
}

TEST_F(HistoryChecker, LetsAnUnansweredOperationBeDoneOrNot) {
  begin(0, {{a_, 5 + first_number_of(0)}, {b_, 5 + first_number_of(0)}});
  end(Outcome::kUnknown, 4);
  begin(0, {{a_, 6 + first_number_of(0)}, {b_, 6 + first_number_of(0)}});
  log(5, {{a_, 6 + first_number_of(0)}, {b_, 6 + first_number_of(0)}});
  end(Outcome::kUnknown, 5);
  checker_.settle();
  EXPECT_EQ(checker_.judged().unknown_done, 1U);
  EXPECT_EQ(checker_.judged().unknown_not_done, 1U);
  expect_right();
}

TEST_F(HistoryChecker, FindsHalfAnUnansweredOperation) {
  begin(0, {{a_, 5 + first_number_of(0)}, {b_, 5 + first_number_of(0)}});
  log(5, {{a_, 5 + first_number_of(0)}});
  end(Outcome::kUnknown, 5);
  checker_.settle();
  expect_wrong(Wrong::kHalfDone);
}

TEST_F(HistoryChecker, FindsAnOperationInTwoGenerations) {
  begin(0, {{a_, 5 + first_number_of(0)}, {b_, 5 + first_number_of(0)}});
  log(5, {{a_, 5 + first_number_of(0)}});
  log(6, {{b_, 5 + first_number_of(0)}});
  expect_wrong(Wrong::kHalfDone);
}

TEST_F(HistoryChecker, TakesAFileNameThatTheDaemonChose) {
  const Key file = keys_.estate(0).file_objects[0];
  begin(0, {{file, kFileBit}});
  log(5, {{file, kFileBit | 4711}});
  end(Outcome::kDone, 5);
  checker_.settle();
  answer(Kind::kAt, 5, {{file, kFileBit | 4711}});
  expect_right();
  answer(Kind::kAt, 5, {{file, kFileBit | 4712}});
  expect_wrong(Wrong::kValue);
}

TEST_F(HistoryChecker, EmptiesAListWithItsNamespace) {
  begin(0, {{a_, kAbsent}, {b_, kAbsent}, {own_, kAbsent}});
  log(5, {{a_, kAbsent}, {b_, kAbsent}, {own_, kAbsent}});
  end(Outcome::kDone, 5);
  answer(Kind::kAt, 4, {{list_, 1 | 2 | 4}, {own_, 1}});
  answer(Kind::kAt, 5, {{list_, 0}, {own_, 0}});
  expect_right();
}

TEST_F(HistoryChecker, TellsViewsFromTables) {
  const Value view = (5 + first_number_of(0)) | kViewBit;
  begin(0, {{c_, view}});
  log(5, {{c_, view}});
  answer(Kind::kAt, 5,
         {{c_, view}, {list_, 1 | 2 | 4}, {keys_.view_list(keys_.estate(0).own), 1 | 8}});
  expect_right();
}

TEST_F(HistoryChecker, KeepsWhatASlowReaderMaySpeakOf) {
  Answer held;
  held.kind = Kind::kHeld;
  held.generation = 4;
  held.oldest = 4;
  held.ended_ns = 1000;
  held.add(a_, a_first_);
  checker_.judge(1, held);
  for (std::uint64_t g = 5; g < 5 + 3 * Checker::kMargin; ++g) put(g, a_);
  checker_.settle();
  checker_.trim();
  checker_.judge(1, held);
  expect_right();
  EXPECT_GT(checker_.history().version_count(), 3 * Checker::kMargin);
  checker_.close_stream(1);
  checker_.trim();
  EXPECT_LT(checker_.history().version_count(), 2 * Checker::kMargin);
}

}  // namespace
}  // namespace iceblink::stress
