// The manifest lists and manifests of one table handle, parsed: lists by snapshot id, manifests by
// path and by all that the list says of them.
//
// Thread safety: all of it. A hit writes nothing that another thread reads.
//
// Invariant: only whole objects are kept, and manifests under the claims that they were checked
// against.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/metadata/manifest.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>
#include <iceblink/stats.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "client/cache/allocated_bytes.h"
#include "client/cache/store.h"
#include "client/file_loads.h"
#include "client/file_reader.h"

namespace iceblink::client {

class ObjectCache {
 public:
  using ListPointer = std::shared_ptr<const ManifestList>;
  using ManifestPointer = std::shared_ptr<const Manifest>;

  /// `bytes_max` 0: nothing is kept. Throws std::bad_alloc.
  ObjectCache(std::shared_ptr<FileReader> files, const MetadataLimits& limits,
              std::size_t bytes_max);
  ~ObjectCache() { store_->close(); }
  ObjectCache(const ObjectCache&) = delete;
  ObjectCache& operator=(const ObjectCache&) = delete;

  // Errors as Table has them. All throw std::bad_alloc.

  [[nodiscard]] Result<ListPointer> manifest_list(const TableSnapshot& snapshot);
  /// Each with its own result; what is not kept is read together.
  [[nodiscard]] std::vector<Result<ManifestPointer>> manifests(
      std::span<const ManifestFile* const> listed, const TableMetadata& table);

  [[nodiscard]] CacheStats stats() const noexcept { return store_->stats(); }

  /// Of one that is empty, beside `bytes_max`.
  static constexpr std::size_t kOwnBytes =
      cache::allocated_bytes(sizeof(cache::Store) + 64) + 64 + cache::allocated_bytes(256);

 private:
  const MetadataLimits limits_;
  const std::shared_ptr<cache::Store> store_;
  FileLoads loads_;
};

}  // namespace iceblink::client
