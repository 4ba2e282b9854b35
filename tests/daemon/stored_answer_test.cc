#include <gtest/gtest.h>

#include "tests/daemon/catalog_fixture.h"

namespace iceblink::daemon {
namespace {

IdempotencyKey key_of(std::uint8_t number) {
  IdempotencyKey key{};
  key[15] = number;
  return key;
}

StoredAnswer answer_until(std::int64_t expires_at_ms, std::string text = "{}") {
  StoredAnswer answer;
  answer.status = 200;
  answer.form = StoredAnswer::Form::kJson;
  answer.binding[3] = 5;
  answer.expires_at_ms = expires_at_ms;
  answer.text = std::move(text);
  answer.row = row_at("/t/metadata/00001-x.metadata.json");
  answer.row.generation = 77;
  return answer;
}

class StoredAnswers : public ::testing::Test {
 protected:
  void put(std::uint8_t number, const StoredAnswer& answer) {
    auto writing = std::move(store_->write()).value();
    ASSERT_TRUE(writing->put_answer(key_of(number), answer));
    ASSERT_TRUE(writing->commit({}));
  }
  std::optional<StoredAnswer> find(std::uint8_t number, std::int64_t now_ms) {
    auto found = read(*store_)->find_answer(key_of(number), now_ms);
    if (!found) throw std::runtime_error(found.error().message());
    return *found;
  }
  bool has_room(std::int64_t now_ms) {
    auto writing = std::move(store_->write()).value();
    const auto has_room = writing->can_put_answer(now_ms);
    if (!has_room) throw std::runtime_error(has_room.error().message());
    if (auto done = writing->commit({}); !done) throw std::runtime_error(done.error().message());
    return *has_room;
  }

  test::ScratchDir dir_;
  static StoreOptions three_answers() {
    StoreOptions options;
    options.answers_max = 3;
    return options;
  }
  std::unique_ptr<Store> store_ = open_store(dir_ / "data", three_answers());
};

TEST_F(StoredAnswers, AreFoundWholeUntilTheyExpire) {
  const auto generation = read(*store_)->generation();
  put(1, answer_until(1000, std::string(100'000, 'x')));
  const auto found = find(1, 999);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->status, 200);
  EXPECT_EQ(found->form, StoredAnswer::Form::kJson);
  EXPECT_EQ(found->binding[3], 5);
  EXPECT_EQ(found->expires_at_ms, 1000);
  EXPECT_EQ(found->text, std::string(100'000, 'x'));
  EXPECT_EQ(found->row.location, "/t/metadata/00001-x.metadata.json");
  EXPECT_EQ(found->row.generation, 77u);
  EXPECT_FALSE(find(1, 1000));
  EXPECT_FALSE(find(2, 0));
  EXPECT_EQ(read(*store_)->generation(), generation);  // nothing of the catalog has changed
}

TEST_F(StoredAnswers, SurviveARestart) {
  put(1, answer_until(1000));
  store_.reset();
  store_ = open_store(dir_ / "data", three_answers());
  EXPECT_TRUE(find(1, 999));
}

TEST_F(StoredAnswers, GiveTheirRoomBackWhenTheyHaveExpired) {
  put(1, answer_until(1001));
  put(2, answer_until(1002));
  put(3, answer_until(1003));
  EXPECT_FALSE(has_room(1000));
  EXPECT_TRUE(has_room(1001));
  EXPECT_FALSE(find(1, 0));  // erased
  EXPECT_TRUE(find(2, 0));
}

TEST_F(StoredAnswers, ReplaceTheOneOfTheSameKeyWithItsExpiry) {
  put(1, answer_until(1000, "old"));
  put(1, answer_until(2000, "new"));
  put(2, answer_until(3000));
  EXPECT_TRUE(has_room(0));  // two of three
  EXPECT_TRUE(has_room(1500));
  ASSERT_TRUE(find(1, 1500));
  EXPECT_EQ(find(1, 1500)->text, "new");
}

}  // namespace
}  // namespace iceblink::daemon
