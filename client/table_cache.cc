#include "client/table_cache.h"

#include <limits>
#include <utility>

#include "client/object_cache.h"

namespace iceblink::client {
namespace {

/// Tells the cache that the metadata of a handle that it holds has grown.
class HandleGrowth final : public WeightObserver {
 public:
  explicit HandleGrowth(std::weak_ptr<cache::Payload> payload) noexcept
      : payload_(std::move(payload)) {}
  void grew(const MetadataDocument& /*document*/, std::size_t bytes) noexcept override {
    if (const auto payload = payload_.lock()) payload->grew(bytes);
  }

 private:
  const std::weak_ptr<cache::Payload> payload_;
};

/// A handle with its subscription to its metadata's growth.
class WatchedTable {
 public:
  explicit WatchedTable(std::shared_ptr<const Table> table) noexcept : table_(std::move(table)) {}
  ~WatchedTable() {
    if (observer_) table_->metadata().remove_weight_observer(*observer_);
  }
  WatchedTable(const WatchedTable&) = delete;
  WatchedTable& operator=(const WatchedTable&) = delete;

  [[nodiscard]] const Table& table() const noexcept { return *table_; }
  /// Before anything of it is kept. Throws std::bad_alloc.
  void watch(const std::shared_ptr<cache::Payload>& payload) {
    auto observer = std::make_shared<HandleGrowth>(payload);
    table_->metadata().add_weight_observer(observer);
    observer_ = std::move(observer);
  }

 private:
  const std::shared_ptr<const Table> table_;
  std::shared_ptr<WeightObserver> observer_;
};

/// What a handle takes beside its metadata, its object cache's room and its strings.
constexpr std::size_t kHandleBytes =
    cache::allocated_bytes(sizeof(Table) + 16) + cache::allocated_bytes(sizeof(WatchedTable) + 16) +
    cache::allocated_bytes(sizeof(HandleGrowth) + 16) + ObjectCache::kOwnBytes;

std::size_t bytes_of(const TableIdent& ident) noexcept {
  std::size_t bytes = cache::allocated_bytes(ident.name);
  bytes += cache::allocated_bytes(ident.levels.capacity() * sizeof(std::string));
  for (const auto& level : ident.levels) bytes += cache::allocated_bytes(level);
  return bytes;
}

}  // namespace

TableCache::TableCache(const CatalogOptions& options, std::shared_ptr<FileReader> files)
    : limits_(options.metadata_limits),
      object_bytes_max_(options.object_cache_bytes_max),
      files_(std::move(files)),
      handles_({options.table_cache_bytes_max, options.table_cache_bytes_max}) {}

TableCache::Pointer TableCache::make(const TableIdent& ident, std::string metadata_location,
                                     std::uint64_t generation,
                                     std::shared_ptr<const TableMetadata> metadata) const {
  return std::make_shared<const Table>(
      ident, std::move(metadata_location), generation, std::move(metadata),
      std::make_unique<ObjectCache>(files_, limits_, object_bytes_max_));
}

Result<TableCache::Pointer> TableCache::get(const TableKey& key, const TableIdent& ident,
                                            std::uint64_t generation,
                                            std::shared_ptr<const TableMetadata> metadata) {
  // The metadata is here already, so nobody waits for a file under two keys.
  const auto load = [&](cache::Load& /*load*/) -> Result<cache::Loaded<Table>> {
    const auto watched = std::make_shared<WatchedTable>(
        make(ident, std::string(key.metadata().location()), generation, metadata));
    const Table& table = watched->table();
    auto payload = handles_.store().make_payload(std::shared_ptr<const void>(watched, &table));
    watched->watch(payload);  // before the weight is read, so that no growth is missed
    const std::size_t own_bytes = metadata->weight_bytes() + kHandleBytes +
                                  bytes_of(table.identifier()) +
                                  cache::allocated_bytes(table.metadata_location());
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();
    const std::size_t bytes =
        own_bytes > kMost - object_bytes_max_ ? kMost : own_bytes + object_bytes_max_;
    return cache::Loaded<Table>{std::move(payload), bytes};
  };
  return handles_.get(key.hash(), key.bytes(), cache::Store::thread_index(), load);
}

}  // namespace iceblink::client
