// L0: the parsed metadata files of a process. What is cached is named by {location, fingerprint}
// (client/metadata_key.h), so it can be evicted and never be stale.
//
// Thread safety: all of it. A hit writes nothing that another thread reads.
//
// Invariant: a document under a key with a fingerprint was parsed from bytes that have it.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/options.h>
#include <iceblink/result.h>
#include <iceblink/stats.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/cache/cache.h"
#include "client/file_loads.h"
#include "client/metadata_key.h"
#include "shm/segment.h"

namespace iceblink::client {

/// A TableMetadata or a ViewMetadata, as the key says.
using cache::Value;

class MetadataCache {
 public:
  /// kInvalidArgument: a share that is none.
  [[nodiscard]] static Result<std::unique_ptr<MetadataCache>> make(
      const CatalogOptions& options, std::shared_ptr<FileReader> files);

  /// The document that the record of a table or view names, or null: then ask load(). Inside a
  /// marked section of the calling thread (`thread_index`) only; `record` is of `mapping`.
  [[nodiscard]] Value find(const shm::RecordView& record, const shm::Mapping& mapping,
                           std::uint32_t thread_index) const noexcept {
    const cache::Stamp stamp = cache::Stamp{mapping.serial} << 32 | record.offset_units();
    return store_->find(
        MetadataKey::hash_of(record, mapping.arena), stamp, thread_index,
        [&](std::string_view bytes) { return MetadataKey::matches(bytes, record, mapping.arena); });
  }

  using Loaded = FileLoads::Loaded;

  /// Errors: those of FileReader::read, kGone (the content is not what was registered), and of the
  /// parser; kUnsupported: this very load asks for it again, through an ObjectReader. Messages but
  /// that begin with the location. Throws std::bad_alloc.
  [[nodiscard]] Loaded load(const MetadataKey& key);
  /// All of them, read together in pieces; `loaded` is as long as `keys`. Throws std::bad_alloc.
  void load_many(std::span<const MetadataKey> keys, std::span<Loaded> loaded);
  /// Reads a table's file that no record names; nothing is kept.
  [[nodiscard]] Result<Value> read_through(const std::string& location) const;

  /// Whether a file that failed so may be read under its name once that points elsewhere.
  [[nodiscard]] static bool may_have_moved(const Error& error) noexcept {
    return error.kind() == ErrorKind::kNotFound || error.kind() == ErrorKind::kGone;
  }
  /// The error as callers of the catalog know it: content that changed is damage.
  [[nodiscard]] static Error as_final(const Error& error);

  [[nodiscard]] CacheStats stats() const noexcept { return store_->stats(); }

  ~MetadataCache() { store_->close(); }
  MetadataCache(const MetadataCache&) = delete;
  MetadataCache& operator=(const MetadataCache&) = delete;

 private:
  MetadataCache(const CatalogOptions& options, std::shared_ptr<cache::Store> store,
                std::shared_ptr<FileReader> files) noexcept
      : limits_(options.metadata_limits),
        store_(std::move(store)),
        files_(std::move(files)),
        loads_(store_, files_, limits_.document_bytes_max) {}

  /// Ends the load with the file's content, or with why there is none.
  [[nodiscard]] Result<Value> finish(const MetadataKey& key, cache::Load& load,
                                     Result<iceberg::ByteBuffer> content) const;

  const MetadataLimits limits_;
  const std::shared_ptr<cache::Store> store_;
  const std::shared_ptr<FileReader> files_;
  FileLoads loads_;
};

}  // namespace iceblink::client
