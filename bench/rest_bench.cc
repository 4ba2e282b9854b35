// C12: what a request costs over the socket, against the same client on a bare server; 304 and
// commits beside. One client that waits for each answer; rounds in turn.
//
//   rest_bench --socket PATH --bare PATH --metadata FILE --rounds N --requests N --cpu N
//
// FILE is made, has about 20 KB, and is registered as the table `ns.t`.
#include <fstream>
#include <string>

#include "bench/http_connection.h"
#include "bench/measurement.h"
#include "bench/sample_metadata.h"

namespace {

using namespace iceblink::bench;

constexpr std::string_view kTable = "/v1/namespaces/ns/tables/t";
constexpr std::string_view kCommitted = "/v1/namespaces/ns/tables/c";

void make_tables(HttpConnection& daemon, const std::string& metadata) {
  SampleMetadataShape shape;
  shape.snapshot_count = 18;
  shape.metadata_log_count = 60;
  std::ofstream(metadata, std::ios::binary) << sample_metadata(shape);
  daemon.request(HttpConnection::post("/v1/namespaces", R"({"namespace":["ns"]})"), "HTTP/1.1 200");
  daemon.request(HttpConnection::post("/v1/namespaces/ns/register",
                                      R"({"name":"t","metadata-location":")" + metadata + R"("})"),
                 "HTTP/1.1 200");
  daemon.request(
      HttpConnection::post("/v1/namespaces/ns/tables",
                           R"({"name":"c","schema":{"type":"struct","schema-id":0,"fields":[)"
                           R"({"id":1,"name":"x","required":false,"type":"long"}]}})"),
      "HTTP/1.1 200");
}

std::string etag_of(std::string_view answer) {
  constexpr std::string_view kName = "ETag: ";
  const auto at = answer.find(kName);
  require(at != std::string_view::npos, "an answer without an ETag");
  return std::string(answer.substr(at + kName.size(), answer.find("\r\n", at) - at - kName.size()));
}

/// Nanoseconds a request, the median of a round.
double measure(HttpConnection& connection, const std::string& request, std::string_view expected,
               std::size_t count) {
  std::vector<std::uint64_t> times(count);
  for (auto& time : times) {
    const std::uint64_t begin = wall_ns();
    connection.request(request, expected);
    time = wall_ns() - begin;
  }
  return quantile(times, 0.5);
}

double measure_commits(HttpConnection& connection, std::size_t& number, std::size_t count) {
  std::vector<std::uint64_t> times(count);
  for (auto& time : times) {
    const std::string request = HttpConnection::post(
        kCommitted, R"({"requirements":[],"updates":[{"action":"set-properties","updates":{"n":")" +
                        std::to_string(++number) + R"("}}]})");
    const std::uint64_t begin = wall_ns();
    connection.request(request, "HTTP/1.1 200");
    time = wall_ns() - begin;
  }
  return quantile(times, 0.5);
}

}  // namespace

int main(int argc, char** argv) {
  pin_to_cpu(static_cast<int>(number(argc, argv, "--cpu", 0)));
  HttpConnection daemon(argument(argc, argv, "--socket", ""));
  HttpConnection bare(argument(argc, argv, "--bare", ""));
  const std::size_t requests = number(argc, argv, "--requests", 2000);
  make_tables(daemon, argument(argc, argv, "--metadata", ""));
  const std::string head = HttpConnection::head(kTable);
  const std::string get = HttpConnection::get(kTable);
  const std::string answer(daemon.request(get, "HTTP/1.1 200"));
  const std::string unchanged =
      HttpConnection::get(kTable, "If-None-Match: " + etag_of(answer) + "\r\n");
  Samples samples;
  samples.add("bytes", static_cast<double>(answer.size()));
  std::size_t commit_number = 0;
  for (std::size_t round = 0; round < number(argc, argv, "--rounds", 11); ++round) {
    samples.add("bare/head", measure(bare, head, "HTTP/1.1 204", requests));
    samples.add("head", measure(daemon, head, "HTTP/1.1 204", requests));
    samples.add("bare/get", measure(bare, get, "HTTP/1.1 204", requests));
    samples.add("get", measure(daemon, get, "HTTP/1.1 200", requests));
    samples.add("unchanged", measure(daemon, unchanged, "HTTP/1.1 304", requests));
    samples.add("commit", measure_commits(daemon, commit_number, requests / 10 + 1));
  }
  samples.print();
  return 0;
}
