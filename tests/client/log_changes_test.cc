// Changes before the arena's base copy: what the daemon answers of them, and what it should not.
#include "tests/client/fake_daemon.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {
namespace {

constexpr const char* kNotUnderstood = "GET /iceblink/v1/changes: the answer cannot be understood";

class LogChanges : public SegmentTest {
 protected:
  /// Answers each request with what `answer_` is then.
  void serve() {
    daemon_.emplace(dir_.path() + "/catalog.sock", [this](FakePeer& peer) {
      while (true) {
        const std::string request = peer.receive();
        if (request.empty()) return;
        asked_ = request.substr(0, request.find(" HTTP/"));
        peer.answer(status_, answer_);
      }
    });
  }
  /// Of a catalog whose arena begins after `token_`.
  Result<Changes> changes() { return catalog_->changes_since(token_); }

  void SetUp() override {
    SegmentTest::SetUp();
    commit_tables(1);
    catalog_.emplace(open());
    token_ = *catalog_->change_token();
    commit_tables(2);
    flip();
    serve();
  }

  int status_ = 200;
  std::string answer_;
  std::string asked_;
  ChangeToken token_;
  std::optional<Catalog> catalog_;
  std::optional<FakeDaemon> daemon_;
};

TEST_F(LogChanges, AreReadFromTheDaemon) {
  answer_ = R"({"generation":18446744073709551615,"incarnation":"00ff","changes":[
    {"generation":7,"kind":"namespace","op":"put","namespace":["a","b"]},
    {"generation":8,"kind":"table","op":"put","namespace":["a"],"name":"t",
     "metadata-location":"s3://t"},
    {"generation":9,"kind":"view","op":"drop","namespace":["a"],"name":"v"}]})";
  token_.incarnation = 0;
  const auto found = changes();
  ASSERT_OK(found);
  EXPECT_EQ(asked_, "GET /iceblink/v1/changes?since=" + std::to_string(token_.generation) +
                        "&limit=" + std::to_string(Catalog::kChangesPerCall));
  EXPECT_EQ(found->token.generation, 18446744073709551615u);
  EXPECT_EQ(found->token.incarnation, 255u);
  ASSERT_EQ(found->changes.size(), 3u);
  EXPECT_EQ(found->changes[0].kind, ObjectKind::kNamespace);
  EXPECT_EQ(found->changes[0].levels, (Namespace{"a", "b"}));
  EXPECT_EQ(found->changes[1].kind, ObjectKind::kTable);
  EXPECT_EQ(found->changes[1].op, TableChange::Op::kPut);
  EXPECT_EQ(found->changes[1].metadata_location, "s3://t");
  EXPECT_EQ(found->changes[2].kind, ObjectKind::kView);
  EXPECT_EQ(found->changes[2].op, TableChange::Op::kDrop);
  EXPECT_EQ(found->changes[2].name, "v");
  EXPECT_EQ(found->changes[2].metadata_location, "");
}

TEST_F(LogChanges, GoOnAtTheLastOneWhereThereAreMore) {
  const std::string list = R"([{"generation":5,"kind":"namespace","op":"put","namespace":["a"]}])";
  answer_ = R"({"generation":9,"incarnation":"1","more":true,"changes":)" + list + "}";
  EXPECT_EQ(changes()->token.generation, 5u);
  answer_ = R"({"generation":9,"incarnation":"1","more":false,"changes":)" + list + "}";
  EXPECT_EQ(changes()->token.generation, 9u);
  answer_ = R"({"generation":9,"incarnation":"1","more":true,"changes":[]})";
  EXPECT_EQ(changes()->token.generation, 9u);
  answer_ = R"({"generation":9,"incarnation":"1","more":1,"changes":)" + list + "}";
  EXPECT_EQ(changes()->token.generation, 9u);
}

TEST_F(LogChanges, ThatCannotBeUnderstoodAreAnError) {
  const auto with_changes = [](const std::string& list) {
    return R"({"generation":9,"incarnation":"1","changes":)" + list + "}";
  };
  const std::string answers[] = {
      "",
      "[]",
      "{",
      R"({"incarnation":"1","changes":[]})",
      R"({"generation":-1,"incarnation":"1","changes":[]})",
      R"({"generation":"9","incarnation":"1","changes":[]})",
      R"({"generation":9,"changes":[]})",
      R"({"generation":9,"incarnation":1,"changes":[]})",
      R"({"generation":9,"incarnation":"","changes":[]})",
      R"({"generation":9,"incarnation":"1x","changes":[]})",
      R"({"generation":9,"incarnation":"11112222333344445","changes":[]})",
      R"({"generation":9,"incarnation":"1"})",
      with_changes("{}"),
      with_changes("[1]"),
      with_changes(R"([{"kind":"table","op":"put","namespace":["a"],"name":"t"}])"),
      with_changes(R"([{"generation":1,"op":"put","namespace":["a"],"name":"t"}])"),
      with_changes(R"([{"generation":1,"kind":"table","namespace":["a"],"name":"t"}])"),
      with_changes(R"([{"generation":1,"kind":"table","op":"put","name":"t"}])"),
      with_changes(R"([{"generation":1,"kind":"table","op":"put","namespace":"a","name":"t"}])"),
      with_changes(R"([{"generation":1,"kind":"table","op":"put","namespace":[1],"name":"t"}])"),
      with_changes(R"([{"generation":1,"kind":"table","op":"put","namespace":["a"]}])"),
      with_changes(R"([{"generation":1,"kind":"table","op":"put","namespace":["a"],"name":"t",)"
                   R"("metadata-location":null}])"),
  };
  for (const auto& answer : answers) {
    answer_ = answer;
    const auto found = changes();
    ASSERT_FALSE(found.ok()) << answer;
    EXPECT_EQ(found.error().kind(), ErrorKind::kInternal) << answer;
    EXPECT_EQ(found.error().message(), kNotUnderstood) << answer;
  }
}

TEST_F(LogChanges, ThatTheDaemonRefusesAreItsError) {
  status_ = 410;
  answer_ = R"({"error":{"type":"GoneException","message":"the log begins later","code":410}})";
  const auto found = changes();
  ASSERT_THAT(found, IsError(ErrorKind::kGone));
  EXPECT_THAT(found.error().message(), ::testing::HasSubstr("the log begins later"));
}

}  // namespace
}  // namespace iceblink::testing
