#include "iceberg/location.h"

#include <gmock/gmock.h>

namespace iceblink::iceberg {
namespace {

using ::testing::HasSubstr;

TEST(Location, TakesAPlainPathAsItIs) {
  for (const char* path : {"/a", "/a b/%20+#?\xc3\xa4", "/a//metadata/x", "/a:b", "//a"}) {
    EXPECT_EQ(*local_path(path), path);
  }
}

TEST(Location, AllFormsOfAFileUriAreTheSameFile) {
  for (const char* uri : {"file:/p/q", "file:///p/q", "file://localhost/p/q", "FILE:/p/q",
                          "file://LOCALHOST/p/q", "file:/p/%71"}) {
    EXPECT_EQ(*local_path(uri), "/p/q") << uri;
  }
}

TEST(Location, DecodesUrisOnce) {
  EXPECT_EQ(*local_path("file:///a%20b"), "/a b");
  EXPECT_EQ(*local_path("file:///a%2520b"), "/a%20b");
  EXPECT_EQ(*local_path("file:///a+b#c?d"), "/a+b#c?d");
  EXPECT_EQ(*local_path("file:///%C3%a4"), "/\xc3\xa4");
  EXPECT_EQ(*local_path("file:////a"), "//a");
}

TEST(Location, RefusesBrokenEscapesAndNul) {
  for (const char* uri :
       {"file:///a%", "file:///a%2", "file:///a%zz", "file:///a%2z", "file:///a%00b"}) {
    EXPECT_EQ(local_path(uri).error().kind(), ErrorKind::kInvalidArgument) << uri;
    EXPECT_THAT(local_path(uri).error().message(), HasSubstr(uri));
  }
  EXPECT_EQ(local_path(std::string("/a\0b", 4)).error().kind(), ErrorKind::kInvalidArgument);
}

TEST(Location, RefusesOtherHostsAndSchemesByName) {
  EXPECT_EQ(local_path("file://data/p").error().kind(), ErrorKind::kUnsupported);
  EXPECT_THAT(local_path("file://data/p").error().message(), HasSubstr("host 'data'"));
  for (const char* uri : {"s3://b/k", "s3a://b/k", "gs://b/k", "hdfs:/p", "local:////p"}) {
    EXPECT_EQ(local_path(uri).error().kind(), ErrorKind::kUnsupported) << uri;
  }
  EXPECT_THAT(local_path("s3://b/k").error().message(), HasSubstr("scheme 's3'"));
}

TEST(Location, RefusesRelativePaths) {
  for (const char* location :
       {"", "a/b", "./a", "file:a", "file:", "file://", "file://localhost", "1a:/b", ":/a"}) {
    EXPECT_EQ(local_path(location).error().kind(), ErrorKind::kInvalidArgument) << location;
  }
}

}  // namespace
}  // namespace iceblink::iceberg
