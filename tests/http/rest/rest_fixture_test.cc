// That the checks after each test find what they are there for.
#include "tests/http/rest/rest_fixture.h"

#include <gtest/gtest-spi.h>

#include <boost/json/serialize.hpp>

namespace iceblink::test {
namespace {

class RestFixture : public RestTest {};

TEST_F(RestFixture, FindsAFileThatNoAnswerHasNamed) {
  create_table("tbl");
  const auto stray = warehouse() + "/ns/00007-00000000-0000-4000-8000-000000000000.metadata.json";
  std::filesystem::copy_file(metadata_location(table("tbl")), stray);
  EXPECT_NONFATAL_FAILURE(check_files(), "no answer has named");
  std::filesystem::remove(stray);
}

TEST_F(RestFixture, FindsMetadataThatIsNotValid) {
  auto metadata = create_table("tbl");
  metadata.as_object()["current-schema-id"] = 9;
  const auto path = warehouse() + "/ns/00007-00000000-0000-4000-8000-000000000000.metadata.json";
  put_there(path, boost::json::serialize(metadata));
  EXPECT_NONFATAL_FAILURE(check_files(), "current-schema-id");
  std::filesystem::remove(path);
}

TEST_F(RestFixture, FindsANameThatNoCommitGives) {
  const auto metadata = create_table("tbl");
  const auto path = warehouse() + "/ns/v1.metadata.json";
  put_there(path, boost::json::serialize(metadata));
  EXPECT_NONFATAL_FAILURE(check_files(), "v1.metadata.json");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace iceblink::test
