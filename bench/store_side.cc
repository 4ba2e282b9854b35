#include "bench/store_side.h"

#include <filesystem>
#include <future>

#include "bench/measurement.h"

namespace iceblink::bench {
namespace {

constexpr std::size_t kOperationsPerCommit = 50'000;

}  // namespace

StoreSide::StoreSide(const std::string& data_dir, const std::string& runtime_dir) {
  std::filesystem::create_directories(runtime_dir);
  daemon::StoreOptions store_options;
  store_options.data_dir = data_dir;
  store_ = take(daemon::Store::open(store_options));
  shm::PublisherOptions options;
  options.runtime_dir = runtime_dir;
  options.store_uuid = store_->store_uuid();
  options.incarnation = store_->incarnation();
  options.hash_seed = store_->hash_seed();
  options.daemon_version = "bench";
  publisher_ = take(shm::Publisher::open(options));
  const auto reading = take(store_->read());
  require_ok(publisher_->start(*reading, store_->incarnation()));
  committer_ =
      std::make_unique<daemon::Committer>(*store_, *publisher_, daemon::CommitterOptions{});
}

std::uint64_t StoreSide::commit(std::vector<daemon::Operation> operations) {
  std::promise<daemon::CommitAnswer> promise;
  auto answer = promise.get_future();
  committer_->submit({std::move(operations), std::nullopt}, [&promise](daemon::CommitAnswer given) {
    promise.set_value(std::move(given));
  });
  const daemon::CommitAnswer given = answer.get();
  if (const auto* refused = std::get_if<daemon::Refused>(&given)) fail(refused->error.message());
  return std::get<daemon::Committed>(given).generation;
}

void StoreSide::fill(const SampleCatalog& catalog) {
  std::vector<daemon::Operation> operations;
  const auto add = [&](daemon::Operation operation) {
    operations.push_back(std::move(operation));
    if (operations.size() == kOperationsPerCommit) commit(std::exchange(operations, {}));
  };
  for (const auto& levels : catalog.domains()) add(daemon::CreateNamespace{levels, {}});
  for (std::size_t i = 0; i < catalog.namespace_count(); ++i) {
    add(daemon::CreateNamespace{catalog.levels(i), {}});
  }
  for (std::size_t i = 0; i < catalog.table_count(); ++i) {
    daemon::Register table;
    table.ident = catalog.ident(i);
    table.row.location = catalog.location(i, 0);
    table.row.format_version = 2;
    add(std::move(table));
  }
  if (!operations.empty()) commit(std::move(operations));
}

std::string StoreSide::location_of(const TableIdent& ident) const {
  const auto reading = take(store_->read());
  const auto row = take(reading->find_table(ident));
  return row ? row->location : "";
}

}  // namespace iceblink::bench
