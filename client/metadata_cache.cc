#include "client/metadata_cache.h"

#include <algorithm>
#include <utility>

#include "iceberg/fingerprint.h"
#include "iceberg/gzip.h"
#include "iceberg/metadata_parser.h"

namespace iceblink::client {
namespace {

using cache::Load;
using iceberg::ByteBuffer;

/// Files of a batch that are read at a time: as many as were a piece of this size the last time.
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;
constexpr std::size_t kFilesOfFirstPiece = 16;
constexpr std::size_t kFilesPerPieceMax = 64;

[[nodiscard]] std::size_t files_of_next_piece(std::span<const FileRead> files) {
  std::size_t bytes = 0;
  for (const FileRead& file : files) bytes += file.content ? file.content->size() : 0;
  const std::size_t fitting = kPieceBytes / (bytes / files.size() + 1);
  return std::clamp<std::size_t>(fitting, 1, kFilesPerPieceMax);
}

/// Tells the cache that a document that it holds has grown.
class Growth final : public WeightObserver {
 public:
  explicit Growth(cache::Payload& payload) noexcept : payload_(payload) {}
  void grew(const MetadataDocument& /*document*/, std::size_t bytes) noexcept override {
    payload_.grew(bytes);
  }

 private:
  cache::Payload& payload_;  // holds the document, which holds this
};

/// What a document takes beside its weight: its observer, its control block, and what the allocator
/// adds to its blocks, of which a small one has seven.
constexpr std::size_t kBesideDocument = cache::allocated_bytes(sizeof(Growth) + 16) + 16 + 7 * 12;

/// What a document of a text that takes so much will take: the text, which it keeps, and the
/// values.
constexpr std::size_t expected_bytes(std::size_t text_bytes) noexcept {
  return text_bytes + text_bytes / 4 + 4096;
}

/// The share of the bytes that one entry may have. No double is as exact as the largest sizes are.
std::size_t share_of(std::size_t bytes_max, double share) noexcept {
  const double bytes = static_cast<double>(bytes_max) * share;
  return bytes < static_cast<double>(bytes_max) ? static_cast<std::size_t>(bytes) : bytes_max;
}

Error content_has_changed(const std::string& location) {
  return {ErrorKind::kGone,
          location + ": the content no longer matches the fingerprint it was registered with"};
}

Error at(const std::string& location, const Error& error) {
  return {error.kind(), location + ": " + error.message()};
}

/// A parsed document, ready to be kept.
struct Document {
  std::shared_ptr<cache::Payload> payload;
  std::size_t bytes = 0;
};

template <typename T>
Result<Document> ready(cache::Store& store, Result<std::shared_ptr<T>> parsed) {
  if (!parsed) return parsed.error();
  Document document{store.make_payload(*parsed), (*parsed)->weight_bytes() + kBesideDocument};
  (*parsed)->set_weight_observer(std::make_shared<Growth>(*document.payload));
  return document;
}

}  // namespace

Result<std::unique_ptr<MetadataCache>> MetadataCache::make(const CatalogOptions& options) {
  const double share = options.metadata_cache_entry_share;
  if (!(share > 0 && share <= 1)) {
    return {ErrorKind::kInvalidArgument,
            "metadata_cache_entry_share: must be above 0 and at most 1"};
  }
  const std::size_t bytes_max = options.metadata_cache_bytes_max;
  // In this order: before a fork the reader's locks are taken first, and it tells the store of
  // bytes while it holds them.
  auto store = cache::Store::make({bytes_max, share_of(bytes_max, share)});
  auto files = FileReader::make(options.files);
  if (!files) return files.error();
  return std::unique_ptr<MetadataCache>(
      new MetadataCache(options, std::move(store), std::move(*files)));
}

MetadataCache::Loaded MetadataCache::load(const MetadataKey& key) {
  cache::Ticket ticket = store_->start(key.hash(), key.bytes(), cache::Store::thread_index());
  if (ticket.value) return {std::move(ticket.value)};
  if (ticket.follows) return await(key, *ticket.follows);
  return {read(key, *ticket.load)};
}

MetadataCache::Loaded MetadataCache::await(const MetadataKey& key, cache::Flight& flight) {
  if (auto outcome = store_->wait(flight)) return {std::move(*outcome), true};
  Load load = store_->start_alone(key.bytes());
  return {read(key, load)};
}

Result<Value> MetadataCache::read(const MetadataKey& key, Load& load) const {
  auto content =
      files_->read(key.location(), limits_.document_bytes_max,
                   [&](std::size_t, std::size_t bytes) { load.set_aside(bytes, bytes); });
  return finish(key, load, std::move(content));
}

Result<Value> MetadataCache::finish(const MetadataKey& key, Load& load,
                                    Result<ByteBuffer> content) const {
  const std::string location = key.location();
  const auto fail = [&](Error error) -> Result<Value> {
    load.fail(error);
    return error;
  };
  if (!content) return fail(content.error());
  if (key.is_verified() && iceberg::fingerprint_of(content->bytes()) != key.fingerprint()) {
    return fail(content_has_changed(location));
  }
  const std::size_t file_bytes = content->size();
  // The file until it is inflated. What is too large says so before others make room for it.
  const auto inflates = [&](std::size_t bytes, std::size_t text_bytes_min) {
    load.set_aside(file_bytes + expected_bytes(bytes), text_bytes_min);
  };
  if (!iceberg::is_gzip(content->bytes())) load.set_aside(expected_bytes(file_bytes), file_bytes);
  using iceberg::parse_table_metadata;
  using iceberg::parse_view_metadata;
  auto document =
      key.is_view() ? ready(*store_, parse_view_metadata(std::move(*content), limits_, inflates))
                    : ready(*store_, parse_table_metadata(std::move(*content), limits_, inflates));
  if (!document) return fail(at(location, document.error()));
  return load.succeed(std::move(document->payload), document->bytes);
}

void MetadataCache::load_many(std::span<const MetadataKey> keys, std::span<Loaded> loaded) {
  std::vector<Awaited> awaited;
  std::size_t piece = kFilesOfFirstPiece;
  for (std::size_t first = 0, count = 0; first < keys.size(); first += count) {
    count = std::min(piece, keys.size() - first);
    load_piece(keys.subspan(first, count), loaded.subspan(first, count), first, awaited, piece);
  }
  // Only now that this call leads no load: two batches may wait for each other's.
  for (const Awaited& each : awaited) {
    loaded[each.index] = await(keys[each.index], *each.flight);
  }
}

void MetadataCache::load_piece(std::span<const MetadataKey> keys, std::span<Loaded> loaded,
                               std::size_t first, std::vector<Awaited>& awaited,
                               std::size_t& next_count) {
  struct Led {
    std::size_t index;
    Load load;
  };
  std::vector<Led> led;
  std::vector<FileRead> files;
  led.reserve(keys.size());
  files.reserve(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    cache::Ticket ticket =
        store_->start(keys[i].hash(), keys[i].bytes(), cache::Store::thread_index());
    if (ticket.value) {
      loaded[i] = {std::move(ticket.value)};
    } else if (ticket.follows) {
      awaited.push_back({first + i, std::move(ticket.follows)});
    } else {
      led.push_back({i, std::move(*ticket.load)});
      files.push_back({keys[i].location()});
    }
  }
  if (files.empty()) return;
  files_->read_many(files, limits_.document_bytes_max, [&](std::size_t index, std::size_t bytes) {
    led[index].load.set_aside(bytes, bytes);
  });
  next_count = files_of_next_piece(files);
  for (std::size_t i = 0; i < led.size(); ++i) {
    const std::size_t index = led[i].index;
    loaded[index] = {finish(keys[index], led[i].load, std::move(files[i].content))};
  }
}

Result<Value> MetadataCache::read_through(const std::string& location) const {
  ICEBLINK_ASSIGN_OR_RETURN(auto content, files_->read(location, limits_.document_bytes_max));
  auto document = iceberg::parse_table_metadata(std::move(content), limits_);
  if (!document) return at(location, document.error());
  return Value(std::move(*document));
}

Error MetadataCache::as_final(const Error& error) {
  return error.kind() == ErrorKind::kGone ? Error(ErrorKind::kCorrupt, error.message()) : error;
}

CacheStats MetadataCache::stats() const noexcept {
  const cache::StoreStats seen = store_->stats();
  return {.miss_count = seen.miss_count,
          .load_count = seen.load_count,
          .load_failure_count = seen.load_failure_count,
          .unkept_count = seen.unkept_count,
          .eviction_count = seen.eviction_count,
          .entry_count = seen.entry_count,
          .kept_bytes = seen.kept_bytes,
          .in_flight_bytes = seen.in_flight_bytes,
          .used_bytes_peak = seen.used_bytes_peak,
          .pinned_bytes = seen.pinned_bytes};
}

}  // namespace iceblink::client
