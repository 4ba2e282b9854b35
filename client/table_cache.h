// L1.5: the table handles of a process. A handle stands for a name and for the metadata file that
// the name stood for (client/table_key.h), so it can be evicted and never be stale, and is never
// returned for another name.
//
// Thread safety: all of it. A hit writes nothing that another thread reads.
//
// Invariant: a handle is charged from the start with its metadata, which the cache of those counts
// on its own, and with all that its object cache may take. What the metadata grows by later is
// charged, too.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/options.h>
#include <iceblink/result.h>
#include <iceblink/stats.h>
#include <iceblink/table.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "client/cache/cache.h"
#include "client/file_reader.h"
#include "client/table_key.h"
#include "shm/segment.h"

namespace iceblink::client {

class TableCache {
 public:
  using Pointer = std::shared_ptr<const Table>;

  /// Throws std::bad_alloc.
  TableCache(const CatalogOptions& options, std::shared_ptr<FileReader> files);

  /// The handle of a table's record, or null: then ask get(). Inside a marked section of the
  /// calling thread (`thread_index`) only; `record` is of `mapping`.
  [[nodiscard]] Pointer find(const shm::RecordView& record, const shm::Mapping& mapping,
                             std::uint32_t thread_index) const noexcept {
    const cache::Stamp stamp = cache::Stamp{mapping.serial} << 32 | record.offset_units();
    return handles_.find(
        TableKey::hash_of(record, mapping.arena), stamp, thread_index,
        [&](std::string_view bytes) { return TableKey::matches(bytes, record, mapping.arena); });
  }

  /// The handle under this key, where it is kept but this thread's stripe has not seen it yet.
  [[nodiscard]] Pointer find_kept(const TableKey& key) const noexcept {
    return cache::cast<Table>(
        handles_.store().find_kept(key.hash(), key.bytes(), cache::Store::thread_index()));
  }

  /// The handle under this key; if there is none yet, one that is made of `metadata`, the file that
  /// the key names. kOutOfMemory. Throws std::bad_alloc.
  [[nodiscard]] Result<Pointer> get(const TableKey& key, const TableIdent& ident,
                                    std::uint64_t generation,
                                    std::shared_ptr<const TableMetadata> metadata);
  /// A handle that is not kept. Throws std::bad_alloc.
  [[nodiscard]] Pointer make(const TableIdent& ident, std::string metadata_location,
                             std::uint64_t generation,
                             std::shared_ptr<const TableMetadata> metadata) const;

  [[nodiscard]] CacheStats stats() const noexcept { return handles_.store().stats(); }

 private:
  const MetadataLimits limits_;
  const std::size_t object_bytes_max_;
  const std::shared_ptr<FileReader> files_;
  cache::Cache<Table> handles_;
};

}  // namespace iceblink::client
