// What /metrics serves, and who refers to it.
#include <gmock/gmock.h>

#include <boost/json/parse.hpp>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "tests/http/exposition_reader.h"
#include "tests/http/request_bodies.h"
#include "tests/http/test_daemon.h"

namespace iceblink::test {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

std::string source_file(const std::string& path) {
  std::ifstream file(std::string(ICEBLINK_SOURCE_DIR) + "/" + path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

class Metrics : public DaemonTest {
 protected:
  Exposition scrape() { return read_exposition(connect().get("/metrics").body); }
};

TEST_F(Metrics, AreNamedAsPrometheusHasThem) {
  const Exposition exposition = scrape();
  EXPECT_GT(exposition.families.size(), 50u);
  for (const auto& [name, family] : exposition.families) {
    EXPECT_TRUE(name.starts_with("iceblink_") || name.starts_with("process_")) << name;
    EXPECT_FALSE(family.help.empty()) << name;
    EXPECT_THAT(family.type, AnyOf("counter", "gauge", "histogram")) << name;
    EXPECT_EQ(name.ends_with("_total"), family.type == "counter") << name;
    for (const char* const unit : {"_ms", "_us", "_ns", "_kb", "_mb", "_milliseconds"}) {
      EXPECT_THAT(name, Not(EndsWith(unit)));
    }
    EXPECT_FALSE(family.samples.empty() && name != "iceblink_http_refused_requests_total") << name;
  }
}

TEST_F(Metrics, HaveHistogramsThatAddUp) {
  create_namespace(R"(["a"])");
  const Exposition exposition = scrape();
  std::size_t histogram_count = 0;
  for (const auto& [name, family] : exposition.families) {
    if (family.type != "histogram") continue;
    ++histogram_count;
    double last = 0;
    double last_bound = 0;
    for (const Sample& sample : family.samples) {
      if (sample.name == name + "_sum" || sample.name == name + "_count") {
        EXPECT_GE(sample.value, 0);
        last = last_bound = 0;
        continue;
      }
      ASSERT_EQ(sample.name, name + "_bucket");
      auto labels = sample.labels;
      const std::string bound = labels.at("le");
      labels.erase("le");
      EXPECT_GE(sample.value, last) << name << " le=" << bound;
      last = sample.value;
      if (bound == "+Inf") {
        EXPECT_EQ(sample.value, exposition.value(name + "_count", labels)) << name;
      } else {
        EXPECT_GT(std::stod(bound), last_bound) << name;
        last_bound = std::stod(bound);
      }
    }
  }
  EXPECT_GE(histogram_count, 10u);
}

TEST_F(Metrics, CountACommit) {
  const Exposition before = scrape();
  create_namespace(R"(["a"])");
  auto client = connect();
  ASSERT_EQ(client.post("/v1/namespaces/a/tables", table_creation("t")).status, 200);
  const Exposition after = scrape();
  const auto moved = [&](const char* name) { return after.value(name) - before.value(name); };
  EXPECT_EQ(moved("iceblink_commits_total"), 2);
  EXPECT_EQ(moved("iceblink_generation"), 2);
  EXPECT_EQ(moved("iceblink_namespaces"), 1);
  EXPECT_EQ(moved("iceblink_tables"), 1);
  for (const char* const name :
       {"iceblink_commit_duration_seconds_count", "iceblink_commit_queue_wait_seconds_count",
        "iceblink_commit_transaction_seconds_count", "iceblink_store_sync_seconds_count",
        "iceblink_commit_group_lists_sum", "iceblink_commit_group_operations_sum"}) {
    EXPECT_EQ(moved(name), 2) << name;
  }
  EXPECT_EQ(moved("iceblink_metadata_write_seconds_count"), 1);
  EXPECT_EQ(moved("iceblink_metadata_sync_seconds_count"), 1);
  EXPECT_GT(moved("iceblink_commit_duration_seconds_sum"), 0);
  EXPECT_GT(moved("iceblink_arena_used_bytes"), 0);
}

TEST_F(Metrics, CountAConflictByItsReason) {
  create_namespace(R"(["a"])");
  const Exposition before = scrape();
  EXPECT_EQ(connect().post("/v1/namespaces", R"({"namespace":["a"]})").status, 409);
  EXPECT_EQ(connect().del("/v1/namespaces/nobody").status, 404);
  const Exposition after = scrape();
  const auto moved = [&](const std::string& reason) {
    const std::string name = "iceblink_commit_conflicts_total";
    return after.value(name, {{"reason", reason}}) - before.value(name, {{"reason", reason}});
  };
  EXPECT_EQ(moved("already_exists"), 1);
  EXPECT_EQ(moved("no_such_namespace"), 1);
  EXPECT_EQ(moved("requirement_failed"), 0);
  EXPECT_EQ(after.value("iceblink_refused_total"), 2);
}

TEST_F(Metrics, CountARequirementThatFailed) {
  create_namespace(R"(["a"])");
  auto client = connect();
  ASSERT_EQ(client.post("/v1/namespaces/a/tables", table_creation("t")).status, 200);
  EXPECT_EQ(client
                .post("/v1/namespaces/a/tables/t",
                      R"({"requirements":[{"type":"assert-create"}],"updates":[]})")
                .status,
            409);
  const Exposition after = scrape();
  EXPECT_EQ(after.value("iceblink_commit_conflicts_total", {{"reason", "requirement_failed"}}), 1);
}

TEST_F(Metrics, CountRefusedRequestsByClassAndReason) {
  connect().get("/nowhere");
  connect().post("/v1/namespaces", "{");
  const Exposition after = scrape();
  const std::string name = "iceblink_http_refused_requests_total";
  EXPECT_EQ(after.value(name, {{"class", "4xx"}, {"reason", "NoSuchEndpointException"}}), 1);
  EXPECT_EQ(after.value("iceblink_http_answers_total", {{"class", "4xx"}}), 2);
  EXPECT_EQ(after.value_or_zero(name, {{"class", "5xx"}, {"reason", "InternalServerError"}}), 0);
}

TEST_F(Metrics, TimeRequestsByWhatTheyAreFor) {
  create_namespace(R"(["a"])");
  connect().head("/v1/namespaces/a/tables/t");
  connect().get("/v1/namespaces/a");
  connect().get("/v1/namespaces");
  connect().get("/iceblink/v1/changes?since=1");
  connect().post("/iceblink/v1/batch", R"({"op":"create-namespace","namespace":["b"]})");
  const Exposition after = scrape();
  for (const char* const route : {"exists", "load", "list", "changes", "write", "batch"}) {
    EXPECT_EQ(after.value("iceblink_http_request_duration_seconds_count", {{"route", route}}), 1)
        << route;
  }
}

TEST_F(Metrics, SayWhatTheKernelKnows) {
  const Exposition exposition = scrape();
  EXPECT_GT(exposition.value("process_resident_memory_bytes"), 1 << 20);
  EXPECT_GT(exposition.value("process_open_fds"), 5);
  EXPECT_GT(exposition.value("process_start_time_seconds"), 1.6e9);
  for (const char* const dir : {"data", "runtime"}) {
    const double free = exposition.value("iceblink_disk_free_bytes", {{"dir", dir}});
    EXPECT_GT(free, 0);
    EXPECT_LE(free, exposition.value("iceblink_disk_size_bytes", {{"dir", dir}}));
  }
  EXPECT_GT(exposition.value("iceblink_store_map_bytes"),
            exposition.value("iceblink_store_used_bytes"));
  EXPECT_GT(exposition.value("iceblink_store_used_bytes"), 0);
}

TEST_F(Metrics, CountHowTheStoresMapGrows) {
  auto settings = settings_in(scratch());
  settings.data_dir += "-small";
  settings.runtime_dir += "-small";
  settings.map_bytes = std::uint64_t{1} << 20;
  start(settings);
  create_namespace(R"(["a"])");
  const Exposition before = scrape();
  EXPECT_EQ(before.value("iceblink_store_map_bytes"), 1 << 20);
  std::string batch;
  for (int i = 0; i < 2000; ++i) {
    batch += R"({"op":"register","namespace":["a"],"unverified":true,"name":"t)" +
             std::to_string(i) + R"(","metadata-location":"/)" + std::string(500, 'x') + "\"}\n";
  }
  ASSERT_EQ(connect().post("/iceblink/v1/batch", batch).status, 200);
  const Exposition after = scrape();
  EXPECT_GE(after.value("iceblink_store_map_growths_total"), 1);
  EXPECT_GT(after.value("iceblink_store_map_bytes"), 1 << 20);
  EXPECT_GT(after.value("iceblink_store_used_bytes"), 1 << 20);
  EXPECT_EQ(after.value("iceblink_tables"), 2000);
}

TEST_F(Metrics, HoldNoNames) {
  create_namespace(R"(["secretive"])");
  register_table("secretive", "hidden", write_table("t"));
  const std::string text = connect().get("/metrics").body;
  EXPECT_THAT(text, Not(HasSubstr("secretive")));
  EXPECT_THAT(text, Not(HasSubstr("hidden")));
}

TEST_F(Metrics, AreAllExplainedInTheDocumentation) {
  connect().get("/nowhere");  // so that refusals are served, too
  const std::string document = source_file("docs/observability.md");
  const Exposition exposition = scrape();
  for (const auto& [name, family] : exposition.families) {
    EXPECT_THAT(document, HasSubstr("`" + name + "`"));
  }
  static const std::regex mention("`((?:iceblink|process)_[a-z0-9_]+)`");
  for (std::sregex_iterator it(document.begin(), document.end(), mention), end; it != end; ++it) {
    EXPECT_TRUE(exposition.families.contains((*it)[1])) << (*it)[1] << " is not served";
  }
}

void collect_expressions(const boost::json::value& value, std::vector<std::string>& out) {
  if (const auto* const array = value.if_array()) {
    for (const auto& element : *array) collect_expressions(element, out);
  } else if (const auto* const object = value.if_object()) {
    for (const auto& [key, member] : *object) {
      if ((key == "expr" || key == "query") && member.is_string()) {
        out.emplace_back(member.as_string());
      }
      collect_expressions(member, out);
    }
  }
}

TEST_F(Metrics, AreWhatTheDashboardAsksFor) {
  connect().get("/nowhere");  // so that refusals are served, too
  const auto dashboard = boost::json::parse(source_file("systemd/grafana/iceblink.json"));
  EXPECT_GE(dashboard.at("schemaVersion").to_number<int>(), 36);
  std::vector<std::string> expressions;
  collect_expressions(dashboard, expressions);
  EXPECT_GT(expressions.size(), 25u);
  const auto served = scrape().sample_names();
  static const std::regex name("(?:iceblink|process)_[a-z0-9_]+");
  std::set<std::string> asked;
  for (const std::string& expression : expressions) {
    for (std::sregex_iterator it(expression.begin(), expression.end(), name), end; it != end;
         ++it) {
      asked.insert(it->str());
    }
  }
  EXPECT_GT(asked.size(), 25u);
  for (const std::string& metric : asked) EXPECT_THAT(served, Contains(metric));
}

}  // namespace
}  // namespace iceblink::test
