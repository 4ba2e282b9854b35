// Files below allowed directories, and every way out of them.
#include <sys/stat.h>

#include "tests/client/file_fixture.h"

namespace iceblink::client {
namespace {

using namespace testing;

class FileRootsTest : public FileTest, public ::testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    for (const char* name : {"in", "in/deep", "out"}) {
      std::filesystem::create_directory(dir_.path() + "/" + name);
    }
    dir_.write("in/f", "inside");
    dir_.write("in/deep/f", "deep inside");
    dir_.write("out/f", "outside");
    allow({in_});
  }
  void allow(std::vector<std::string> roots) {
    FileOptions options;
    options.read_roots = std::move(roots);
    options.use_io_uring = GetParam();
    reader_ = reader(options);
  }
  void link(const std::string& target, const std::string& name) {
    ASSERT_EQ(::symlink(target.c_str(), (dir_.path() + "/" + name).c_str()), 0);
  }
  /// By itself and in a batch: the two open files in different ways.
  Result<iceberg::ByteBuffer> read(const std::string& location) {
    auto files = batch_of({location, location});
    reader_->read_many(files, kBytesMax);
    auto content = reader_->read(location, kBytesMax);
    EXPECT_EQ(text_of(files[0].content), text_of(content));
    EXPECT_EQ(text_of(files[1].content), text_of(content));
    return content;
  }
  void expect_refused(const std::string& location) {
    const auto content = read(location);
    EXPECT_EQ(kind_of(content), ErrorKind::kNotAllowed) << location << ": " << text_of(content);
    EXPECT_THAT(text_of(content), HasSubstr(location));
  }
  void expect_read(const std::string& location, const std::string& text) {
    EXPECT_EQ(text_of(read(location)), text) << location;
  }

  const std::string in_ = dir_.path() + "/in";
  std::unique_ptr<FileReader> reader_;
};
INSTANTIATE_TEST_SUITE_P(Ring, FileRootsTest, ::testing::Bool(), [](const auto& param) {
  return param.param ? "WithRing" : "WithoutRing";
});

TEST_P(FileRootsTest, ReadsBelowThem) {
  expect_read(in_ + "/f", "inside");
  expect_read(in_ + "/deep/f", "deep inside");
  expect_read(in_ + "//deep/./f", "deep inside");
  expect_read("/" + in_ + "/f", "inside");
  expect_read("file://" + in_ + "/f", "inside");
}

TEST_P(FileRootsTest, RefusesWhatIsElsewhere) {
  expect_refused(dir_.path() + "/out/f");
  expect_refused(in_ + "side/f");
  expect_refused("/etc/hostname");
  expect_refused("/");
  expect_refused(dir_.path());
}

TEST_P(FileRootsTest, DoesNotTellWhatIsElsewhere) {
  expect_refused(dir_.path() + "/out/none");
  expect_refused(in_ + "/../out/none");
}

TEST_P(FileRootsTest, RefusesToClimbOut) {
  expect_refused(in_ + "/../out/f");
  expect_refused(in_ + "/deep/../../out/f");
  expect_refused(in_ + "/../in/f");
  expect_refused("file://" + in_ + "/%2e%2e/out/f");
  expect_read(in_ + "/deep/../f", "inside");
}

TEST_P(FileRootsTest, RefusesLinksThatLeadOut) {
  link("../out/f", "in/file_link");
  link("../out", "in/directory_link");
  link(dir_.path() + "/out/f", "in/absolute_link");
  link("/proc/self/root", "in/root_link");
  expect_refused(in_ + "/file_link");
  expect_refused(in_ + "/directory_link/f");
  expect_refused(in_ + "/absolute_link");
  expect_refused(in_ + "/root_link/etc/hostname");
}

TEST_P(FileRootsTest, FollowsRelativeLinksThatStayInside) {
  link("deep/f", "in/file_link");
  link("../f", "in/deep/up");
  link("deep", "in/directory_link");
  expect_read(in_ + "/file_link", "deep inside");
  expect_read(in_ + "/deep/up", "inside");
  expect_read(in_ + "/directory_link/f", "deep inside");
}

TEST_P(FileRootsTest, RefusesAbsoluteLinksEvenWhenTheyLeadBackInside) {
  link(in_ + "/f", "in/absolute_link");
  expect_refused(in_ + "/absolute_link");
}

TEST_P(FileRootsTest, MayBeLinksThemselves) {
  link("in", "root_link");
  allow({dir_.path() + "/root_link/"});
  expect_read(dir_.path() + "/root_link/f", "inside");
  expect_read(in_ + "/f", "inside");
  expect_refused(dir_.path() + "/root_link/../out/f");
  expect_refused(dir_.path() + "/out/f");
}

TEST_P(FileRootsTest, AreOpenedOnce) {
  std::filesystem::rename(in_, dir_.path() + "/moved");
  std::filesystem::rename(dir_.path() + "/out", in_);
  expect_read(in_ + "/f", "inside");
}

TEST_P(FileRootsTest, AreTriedInTurnWhenTheyLieInEachOther) {
  link("../../out", "in/deep/out_link");
  link("../f", "in/deep/up");
  allow({in_ + "/deep", in_, in_ + "/deep/out_link"});
  expect_read(in_ + "/deep/up", "inside");
  expect_read(in_ + "/deep/out_link/f", "outside");
}

TEST_P(FileRootsTest, KeepTheOtherErrorsAsTheyAre) {
  EXPECT_EQ(kind_of(read(in_ + "/none")), ErrorKind::kNotFound);
  EXPECT_EQ(kind_of(read(in_)), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of(read(in_ + "/deep")), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of(read("relative")), ErrorKind::kInvalidArgument);
  EXPECT_EQ(kind_of(read("s3://b/k")), ErrorKind::kUnsupported);
}

TEST_P(FileRootsTest, BindWhatAPrefixIsMappedTo) {
  FileOptions options;
  options.read_roots = {in_};
  options.location_prefixes = {{"s3://in", in_}, {"s3://out", dir_.path() + "/out"}};
  reader_ = reader(options);
  expect_read("s3://in/f", "inside");
  expect_refused("s3://in/../out/f");
  expect_refused("s3://out/f");
  EXPECT_THAT(text_of(reader_->read("s3://out/f", kBytesMax)), Not(HasSubstr(dir_.path())));
}

TEST_F(FileTest, NamesARootThatCannotBe) {
  const struct {
    std::string root;
    ErrorKind kind;
  } cases[] = {{"", ErrorKind::kInvalidArgument},
               {"relative/root", ErrorKind::kInvalidArgument},
               {dir_.path() + "/none", ErrorKind::kNotFound},
               {dir_.write("file", ""), ErrorKind::kInvalidArgument}};
  const std::size_t before = descriptor_count();
  for (const auto& bad : cases) {
    FileOptions options;
    options.read_roots = {dir_.path(), bad.root};
    const auto made = FileReader::make(options);
    ASSERT_FALSE(made.ok()) << bad.root;
    EXPECT_EQ(made.error().kind(), bad.kind) << bad.root;
    EXPECT_THAT(made.error().message(), HasSubstr("read_roots: '" + bad.root + "'"));
  }
  EXPECT_EQ(descriptor_count(), before);
}

}  // namespace
}  // namespace iceblink::client
