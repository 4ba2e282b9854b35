#include "daemon/http/content_coding.h"

#include <gtest/gtest.h>

#include "iceberg/metadata_text.h"
#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

TEST(ContentCoding, IsGzipWhereTheClientTakesIt) {
  for (const char* field : {"gzip", "deflate, gzip;q=0.5", "*", "GZIP", "x-gzip"}) {
    EXPECT_TRUE(daemon::http::accepts_gzip(field)) << field;
  }
  for (const char* field : {"", "deflate", "gzip;q=0", "gzip;q=0.0, *", "identity", "*;q=0"}) {
    EXPECT_FALSE(daemon::http::accepts_gzip(field)) << field;
  }
}

using CodedAnswers = DaemonTest;

TEST_F(CodedAnswers, HoldTheSameBytes) {
  auto client = connect();
  create_namespace(R"(["ns"])");
  const auto comment = [](std::size_t bytes) {
    return R"(,"properties":{"comment":")" + std::string(bytes, 'x') + R"("})";
  };
  for (const auto& [name, bytes] : {std::pair{"small", 2'000}, std::pair{"large", 200'000}}) {
    const std::string members = comment(bytes);
    ASSERT_EQ(client.post("/v1/namespaces/ns/tables", table_creation(name, members)).status, 200);
    const std::string target = std::string("/v1/namespaces/ns/tables/") + name;
    const auto plain = client.get(target);
    const auto coded = client.request({.target = target, .headers = {"Accept-Encoding: gzip"}});
    ASSERT_EQ(coded.status, 200);
    EXPECT_EQ(plain.header("content-encoding"), "");
    EXPECT_EQ(coded.header("content-encoding"), "gzip");
    EXPECT_LT(coded.body.size(), plain.body.size());
    const auto text = iceberg::MetadataText::of(std::as_bytes(std::span(coded.body)), 1 << 22);
    ASSERT_TRUE(text.ok());
    EXPECT_EQ(text->view(), plain.body);
  }
}

}  // namespace
}  // namespace iceblink::test
