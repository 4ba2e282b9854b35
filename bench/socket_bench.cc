// C6a, through the whole daemon: pointer moves a second over its socket, one a request, by many
// connections that each wait for their answer.
//
//   socket_bench --runtime-dir DIR --tables N --connections N --rounds N --milliseconds N
#include <iceblink/catalog.h>

#include <atomic>
#include <thread>

#include "bench/http_connection.h"
#include "bench/measurement.h"
#include "bench/sample_catalog.h"
#include "shm/layout.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

std::string move_line(const SampleCatalog& catalog, std::size_t index, std::size_t version) {
  const TableIdent ident = catalog.ident(index);
  return R"({"op":"register","namespace":[")" + ident.levels[0] + R"(",")" + ident.levels[1] +
         R"("],"name":")" + ident.name + R"(","metadata-location":")" +
         catalog.location(index, version) + R"(","overwrite":true,"unverified":true})";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string dir = argument(argc, argv, "--runtime-dir", "");
  const SampleCatalog sample(number(argc, argv, "--tables", 10'000));
  const std::size_t connections = number(argc, argv, "--connections", 64);
  const std::uint64_t duration_ns = number(argc, argv, "--milliseconds", 2000) * 1'000'000;
  const Catalog catalog = take(Catalog::open(dir));
  std::vector<std::size_t> versions(connections, 0);
  Samples samples;
  for (std::size_t round = 0; round < number(argc, argv, "--rounds", 5); ++round) {
    std::atomic<std::size_t> commits = 0;
    const std::uint64_t begin = wall_ns();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < connections; ++i) {
      threads.emplace_back([&, i] {
        HttpConnection connection(dir + "/" + shm::kSocketName);
        std::size_t done = 0;
        for (; wall_ns() - begin < duration_ns; ++done) {
          connection.request(
              HttpConnection::post("/iceblink/v1/batch", move_line(sample, i, ++versions[i])),
              "HTTP/1.1 200");
          const auto seen = catalog.resolve_location(sample.ident(i));
          require(seen.ok() && *seen == sample.location(i, versions[i]),
                  "an answered write is not visible");
        }
        commits.fetch_add(done, std::memory_order_relaxed);
      });
    }
    for (auto& thread : threads) thread.join();
    samples.add("socket", static_cast<double>(commits.load(std::memory_order_relaxed)) * 1e9 /
                              static_cast<double>(wall_ns() - begin));
  }
  samples.print();
  return 0;
}
