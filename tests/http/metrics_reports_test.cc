#include <gmock/gmock.h>

#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;

constexpr char kMetrics[] = "/v1/namespaces/ns/tables/t/metrics";

class MetricsReports : public DaemonTest {
 protected:
  void SetUp() override {
    DaemonTest::SetUp();
    create_namespace(R"(["ns"])");
    register_table("ns", "t", write_table("t.json"));
  }
};

TEST_F(MetricsReports, AreCountedByTheirType) {
  auto client = connect();
  // A filter nests once for each of its terms.
  std::string filter = R"({"type":"true"})";
  for (int i = 0; i < 200; ++i) {
    filter = R"({"type":"and","left":{"type":"true"},"right":)" + filter + "}";
  }
  EXPECT_EQ(
      client.post(kMetrics, R"({"report-type":"scan-report","filter":)" + filter + "}").status,
      204);
  EXPECT_EQ(client.post(kMetrics, R"({"report-type":"commit-report","table-name":7})").status, 204);
  EXPECT_EQ(client.post(kMetrics, R"({"report-type":"commit-report"})").status, 204);
  const auto metrics = client.get("/metrics").body;
  EXPECT_THAT(metrics, HasSubstr("\niceblink_scan_reports_total 1\n"));
  EXPECT_THAT(metrics, HasSubstr("\niceblink_commit_reports_total 2\n"));
}

TEST_F(MetricsReports, AreOfATypeThatIsKnownAndATableThatIsThere) {
  auto client = connect();
  for (const char* body :
       {R"({"report-type":"other"})", R"({"table-name":"t"})", "[]", "", R"({"report-type":1})"}) {
    EXPECT_EQ(client.post(kMetrics, body).status, 400) << body;
  }
  EXPECT_THAT(client.post(kMetrics, R"({"report-type":"other"})").error_message(),
              HasSubstr("'other'"));
  const auto missing =
      client.post("/v1/namespaces/ns/tables/u/metrics", R"({"report-type":"scan-report"})");
  EXPECT_EQ(missing.status, 404);
  EXPECT_EQ(missing.error_message(), "Table does not exist: ns.u");
  EXPECT_THAT(client.get("/metrics").body, HasSubstr("\niceblink_scan_reports_total 0\n"));
}

}  // namespace
}  // namespace iceblink::test
