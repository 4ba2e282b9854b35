// Serves the sample in several sizes until its standard input ends: DIR/segment.<tables> is a
// runtime directory, DIR/lmdb.<tables> the same in LMDB. Prints what the segments weigh (C9), what
// a private map of the largest weighs, and what it was built as.
//
//   catalog_server [DIR TABLES...]
#include <malloc.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <vector>

#include "bench/build_check.h"
#include "bench/lmdb_table.h"
#include "bench/measurement.h"
#include "bench/private_map.h"
#include "bench/publisher_side.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

constexpr int kBeatMs = 250;

std::size_t payload_bytes(const SampleCatalog& catalog) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < catalog.table_count(); ++i) {
    bytes += encode(catalog.ident(i)).size() + catalog.location(i, 0).size();
  }
  return bytes;
}

std::size_t allocated_bytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd;
}

std::size_t private_map_bytes(const SampleCatalog& catalog) {
  const std::size_t before = allocated_bytes();
  MapByBytes map;
  for (std::size_t i = 0; i < catalog.table_count(); ++i) {
    map.emplace(encode(catalog.ident(i)), catalog.location(i, 0));
  }
  return allocated_bytes() - before;
}

std::unique_ptr<PublisherSide> serve(const std::string& dir, std::size_t tables) {
  const SampleCatalog catalog(tables);
  const std::string suffix = std::to_string(tables);
  auto side = std::make_unique<PublisherSide>(dir + "/segment." + suffix, catalog);
  LmdbTable(dir + "/lmdb." + suffix, LmdbTable::Durability::kNone).fill(catalog);
  const auto stats = side->publisher().stats();
  require(stats.table_count == tables, "the segment lacks tables");
  std::printf(
      "{\"tables\": %zu, \"used_bytes\": %lu, \"file_bytes\": %lu, \"payload_bytes\": %zu, "
      "\"private_map_bytes\": %zu}\n",
      tables, stats.arena_used_bytes, stats.arena_bytes, payload_bytes(catalog),
      private_map_bytes(catalog));
  return side;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("%s\n", build_as_json().c_str());
  if (argc < 3) return 0;
  std::vector<std::unique_ptr<PublisherSide>> sides;
  for (int i = 2; i < argc; ++i) sides.push_back(serve(argv[1], std::stoul(argv[i])));
  std::puts("ready");
  std::fflush(stdout);
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  while (::poll(&input, 1, kBeatMs) == 0) {
    for (const auto& side : sides) side->publisher().beat();
  }
  return 0;
}
