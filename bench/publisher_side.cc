#include "bench/publisher_side.h"

#include <filesystem>

#include "bench/measurement.h"

namespace iceblink::bench {
namespace {

shm::Change change_of(const PublisherSide::Move& move) {
  return {.kind = shm::RecordKind::kTable,
          .key = move.key,
          .location = move.location,
          .format_version = 2};
}

}  // namespace

std::unique_ptr<shm::Publisher> publish(const std::string& runtime_dir,
                                        const shm::CatalogSource& source) {
  std::filesystem::create_directories(runtime_dir);
  shm::PublisherOptions options;
  options.runtime_dir = runtime_dir;
  options.store_uuid[0] = 7;
  options.hash_seed = kHashSeed;
  options.daemon_version = "bench";
  auto publisher = take(shm::Publisher::open(options));
  require_ok(publisher->start(source, 1));
  publisher->beat();
  return publisher;
}

PublisherSide::PublisherSide(const std::string& runtime_dir, SampleCatalog catalog)
    : catalog_(catalog), publisher_(bench::publish(runtime_dir, SampleSource(catalog_))) {}

PublisherSide::Move PublisherSide::prepare_one(std::size_t table_index, std::size_t version) const {
  return {encode(catalog_.ident(table_index)), catalog_.location(table_index, version)};
}

std::vector<PublisherSide::Move> PublisherSide::prepare(std::size_t count, std::uint64_t seed,
                                                        std::size_t among) const {
  std::vector<Move> moves;
  moves.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t random = scramble(seed + i);
    const std::size_t index = (random % among) * (catalog_.table_count() / among);
    moves.push_back(prepare_one(index, (random >> 32) % 100'000));
  }
  return moves;
}

void PublisherSide::reserve(const Move& move) {
  const shm::Change change = change_of(move);
  require_ok(publisher_->reserve({&change, 1}));
}

std::uint64_t PublisherSide::publish(const Move& move) {
  const shm::Change change = change_of(move);
  publisher_->publish(++generation_, {&change, 1});
  return generation_;
}

}  // namespace iceblink::bench
