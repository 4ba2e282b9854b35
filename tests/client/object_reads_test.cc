// Other schemes, by readers that behave and readers that do not.
#include <functional>
#include <stdexcept>

#include "tests/client/file_fixture.h"

namespace iceblink::client {
namespace {

using namespace testing;
using ::testing::ElementsAre;

class FakeReader : public ObjectReader {
 public:
  using Contents = std::span<Result<std::string>>;
  using Answer = std::function<void(std::span<const std::string>, Contents)>;

  explicit FakeReader(Answer answer = {}) : answer_(std::move(answer)) {}
  void read(std::span<const std::string> locations, std::size_t bytes_max,
            Contents contents) override {
    calls.emplace_back(locations.begin(), locations.end());
    object_bytes_max = bytes_max;
    if (answer_) return answer_(locations, contents);
    for (std::size_t i = 0; i < contents.size(); ++i) contents[i] = "content of " + locations[i];
  }
  std::vector<std::vector<std::string>> calls;
  std::size_t object_bytes_max = 0;

 private:
  Answer answer_;
};

class ObjectReadsTest : public FileTest {
 protected:
  std::unique_ptr<FileReader> reader_of(std::shared_ptr<ObjectReader> objects) {
    FileOptions options;
    options.readers = {{"s3", objects}, {"S3a", objects}};
    options.location_prefixes = {{"s3n://old", "s3://new"}};
    return reader(options);
  }
};

TEST_F(ObjectReadsTest, AsksEachReaderOnceForABatch) {
  const auto s3 = std::make_shared<FakeReader>();
  const auto gs = std::make_shared<FakeReader>();
  FileOptions options;
  options.readers = {{"s3", s3}, {"s3a", s3}, {"gs", gs}};
  const std::string local = dir_.write("f", "local");
  auto files = batch_of({"s3://b/1", "gs://b/2", local, "S3A://b/3", "abfs://b/4"});
  const auto mixed = reader(options);
  mixed->read_many(files, 1000);
  EXPECT_THAT(s3->calls, ElementsAre(ElementsAre("s3://b/1", "S3A://b/3")));
  EXPECT_THAT(gs->calls, ElementsAre(ElementsAre("gs://b/2")));
  EXPECT_EQ(s3->object_bytes_max, 1000u);
  EXPECT_EQ(text_of(files[0].content), "content of s3://b/1");
  EXPECT_EQ(text_of(files[1].content), "content of gs://b/2");
  EXPECT_EQ(text_of(files[2].content), "local");
  EXPECT_EQ(text_of(files[3].content), "content of S3A://b/3");
  EXPECT_EQ(kind_of(files[4].content), ErrorKind::kUnsupported);
  EXPECT_EQ(mixed->stats().file_count, 5u);
}

TEST_F(ObjectReadsTest, ReadsALoneObject) {
  const auto objects = std::make_shared<FakeReader>();
  std::size_t wanted = 0;
  const auto content = reader_of(objects)->read(
      "s3://b/k", 1000, [&](std::size_t, std::size_t bytes) { wanted = bytes; });
  EXPECT_EQ(text_of(content), "content of s3://b/k");
  EXPECT_EQ(wanted, content->size());
}

TEST_F(ObjectReadsTest, TakesAnAuthorityForWhatMakesAnObject) {
  const auto objects = std::make_shared<FakeReader>();
  EXPECT_EQ(kind_of(reader_of(objects)->read("s3:/b/k", 1000)), ErrorKind::kUnsupported);
  EXPECT_TRUE(objects->calls.empty());
}

TEST_F(ObjectReadsTest, AsksForTheMappedObjectAndSpeaksOfTheStoredOne) {
  const auto objects = std::make_shared<FakeReader>([](auto locations, auto contents) {
    contents[0] = Error{ErrorKind::kNotAllowed, "403 for " + locations[0] + ", really"};
  });
  const auto content = reader_of(objects)->read("s3n://old/k", 1000);
  EXPECT_THAT(objects->calls, ElementsAre(ElementsAre("s3://new/k")));
  EXPECT_EQ(text_of(content), "not_allowed: 403 for s3n://old/k, really");
}

TEST_F(ObjectReadsTest, UsesTheWordsOfTheReferenceForAMissingObject) {
  const auto objects = std::make_shared<FakeReader>([](auto, auto contents) {
    contents[0] = Error{ErrorKind::kNotFound, "NoSuchKey"};
  });
  EXPECT_EQ(text_of(reader_of(objects)->read("s3://b/k", 1000)),
            "not_found: Failed to open input stream for file: s3://b/k");
}

TEST_F(ObjectReadsTest, RefusesObjectsAboveTheLimit) {
  const auto objects =
      std::make_shared<FakeReader>([](auto, auto contents) { contents[0] = std::string(11, 'x'); });
  EXPECT_EQ(kind_of(reader_of(objects)->read("s3://b/k", 10)), ErrorKind::kTooLarge);
  EXPECT_EQ(text_of(reader_of(objects)->read("s3://b/k", 11)), std::string(11, 'x'));
}

TEST_F(ObjectReadsTest, SurvivesAReaderThatThrows) {
  const auto objects = std::make_shared<FakeReader>([](auto, auto contents) {
    contents[0] = std::string("an answer");
    throw std::runtime_error("no network");
  });
  auto files = batch_of({"s3://b/1", "s3://b/2", dir_.write("f", "local")});
  reader_of(objects)->read_many(files, 1000);
  EXPECT_EQ(text_of(files[0].content), "io: s3://b/1: its reader failed: no network");
  EXPECT_EQ(kind_of(files[1].content), ErrorKind::kIo);
  EXPECT_EQ(text_of(files[2].content), "local");
}

TEST_F(ObjectReadsTest, SurvivesAReaderThatThrowsSomethingElse) {
  const auto objects = std::make_shared<FakeReader>([](auto, auto) { throw 42; });
  EXPECT_EQ(kind_of(reader_of(objects)->read("s3://b/k", 1000)), ErrorKind::kIo);
}

TEST_F(ObjectReadsTest, SurvivesAReaderThatLeavesObjectsOut) {
  const auto objects = std::make_shared<FakeReader>(
      [](auto, auto contents) { contents[1] = std::string("an answer"); });
  auto files = batch_of({"s3://b/1", "s3://b/2"});
  reader_of(objects)->read_many(files, 1000);
  EXPECT_EQ(text_of(files[0].content), "io: s3://b/1: its reader gave no answer");
  EXPECT_EQ(text_of(files[1].content), "an answer");
}

TEST_F(ObjectReadsTest, NamesAReaderThatCannotBe) {
  const auto some = std::make_shared<FakeReader>();
  const std::vector<std::vector<SchemeReader>> bad = {{{"", some}},
                                                      {{"s3://", some}},
                                                      {{"file", some}},
                                                      {{"s3", nullptr}},
                                                      {{"s3", some}, {"S3", some}}};
  for (const auto& readers : bad) {
    FileOptions options;
    options.readers = readers;
    const auto made = FileReader::make(options);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().kind(), ErrorKind::kInvalidArgument);
    EXPECT_THAT(made.error().message(), HasSubstr("readers: scheme"));
  }
}

}  // namespace
}  // namespace iceblink::client
