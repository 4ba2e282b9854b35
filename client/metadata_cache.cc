#include "client/metadata_cache.h"

#include <algorithm>
#include <utility>

#include "client/file_errors.h"
#include "iceberg/fingerprint.h"
#include "iceberg/gzip.h"
#include "iceberg/metadata_parser.h"

namespace iceblink::client {
namespace {

using cache::Load;
using iceberg::ByteBuffer;

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
/// adds to its blocks, of which a small one has eight.
constexpr std::size_t kBesideDocument =
    cache::allocated_bytes(sizeof(Growth) + 16) +
    cache::allocated_bytes(sizeof(std::vector<std::shared_ptr<Growth>>)) +
    cache::allocated_bytes(sizeof(std::shared_ptr<Growth>)) + 16 + 8 * 12;

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

FileLoad load_of(const MetadataKey& key) noexcept {
  return {key.hash(), key.bytes(), key.location(), 0, true};
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
  (*parsed)->add_weight_observer(std::make_shared<Growth>(*document.payload));
  return document;
}

}  // namespace

Result<std::unique_ptr<MetadataCache>> MetadataCache::make(const CatalogOptions& options,
                                                           std::shared_ptr<FileReader> files) {
  const double share = options.metadata_cache_entry_share;
  if (!(share > 0 && share <= 1)) {
    return {ErrorKind::kInvalidArgument,
            "metadata_cache_entry_share: must be above 0 and at most 1"};
  }
  const std::size_t bytes_max = options.metadata_cache_bytes_max;
  auto store = cache::Store::make({bytes_max, share_of(bytes_max, share)});
  return std::unique_ptr<MetadataCache>(
      new MetadataCache(options, std::move(store), std::move(files)));
}

MetadataCache::Loaded MetadataCache::load(const MetadataKey& key) {
  return loads_.load(load_of(key),
                     [&](std::size_t, Load& load, Result<ByteBuffer> content) -> Result<Value> {
                       return finish(key, load, std::move(content));
                     });
}

void MetadataCache::load_many(std::span<const MetadataKey> keys, std::span<Loaded> loaded) {
  std::vector<FileLoad> wanted;
  wanted.reserve(keys.size());
  for (const MetadataKey& key : keys) wanted.push_back(load_of(key));
  loads_.load_many(wanted, loaded,
                   [&](std::size_t index, Load& load, Result<ByteBuffer> content) -> Result<Value> {
                     return finish(keys[index], load, std::move(content));
                   });
}

Result<Value> MetadataCache::finish(const MetadataKey& key, Load& load,
                                    Result<ByteBuffer> content) const {
  const std::string location(key.location());
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
  if (!document) return fail(file_content_error(location, document.error()));
  return load.succeed(std::move(document->payload), document->bytes);
}

Result<Value> MetadataCache::read_through(const std::string& location) const {
  ICEBLINK_ASSIGN_OR_RETURN(auto content, files_->read(location, limits_.document_bytes_max));
  auto document = iceberg::parse_table_metadata(std::move(content), limits_);
  if (!document) return file_content_error(location, document.error());
  return Value(std::move(*document));
}

Error MetadataCache::as_final(const Error& error) {
  return error.kind() == ErrorKind::kGone ? Error(ErrorKind::kCorrupt, error.message()) : error;
}

}  // namespace iceblink::client
