#include "client/object_cache.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "client/cache/cache.h"
#include "client/file_errors.h"
#include "iceberg/manifest/manifest_reader.h"
#include "shm/key.h"
#include "shm/read_section.h"

namespace iceblink::client {
namespace {

using cache::Load;
using cache::Value;
using iceberg::ByteBuffer;

// ---- Keys. As bytes: 'l' | snapshot id, or 'm' | what the list says | path.

std::uint64_t hash_of(std::int64_t snapshot_id) noexcept {
  return shm::key_internal::fold(static_cast<std::uint64_t>(snapshot_id), 0x9e3779b97f4a7c15);
}

std::string key_of(std::int64_t snapshot_id) {
  std::string key(1 + sizeof(snapshot_id), 'l');
  std::memcpy(key.data() + 1, &snapshot_id, sizeof(snapshot_id));
  return key;
}

/// All of a list entry that goes into the entries of its manifest, or that the manifest is checked
/// against, as bytes: what is read for one entry is right for all that say the same.
class Claims {
 public:
  explicit Claims(const ManifestFile& listed) noexcept {
    add(listed.sequence_number);
    add(static_cast<std::int64_t>(listed.content));
    add(listed.manifest_length);
    add(listed.partition_spec_id);
    add(listed.added_snapshot_id);
    add(listed.first_row_id);
    const ManifestCounts& counts = listed.counts;
    for (const auto& count :
         {counts.added_files_count, counts.existing_files_count, counts.deleted_files_count,
          counts.added_rows_count, counts.existing_rows_count, counts.deleted_rows_count}) {
      add(count);
    }
    fields_[kFields] = present_;
  }

  [[nodiscard]] std::string_view bytes() const noexcept {
    return {reinterpret_cast<const char*>(fields_), sizeof(fields_)};
  }

 private:
  static constexpr std::size_t kFields = 12;

  template <typename Integer>
  void add(const std::optional<Integer>& value) noexcept {
    present_ |= std::uint64_t{value.has_value()} << size_;
    fields_[size_++] = static_cast<std::uint64_t>(value.value_or(0));
  }
  void add(std::int64_t value) noexcept { add(std::optional(value)); }

  std::uint64_t fields_[kFields + 1];
  std::uint64_t present_ = 0;
  std::size_t size_ = 0;
};

std::uint64_t hash_of(std::string_view path) noexcept {
  return shm::key_internal::hash_bytes(path, 0);
}

std::string key_of(const ManifestFile& listed) {
  const Claims claims(listed);
  std::string key("m");
  key += claims.bytes();
  key += listed.manifest_path;
  return key;
}

bool is_key_of(std::string_view key, const Claims& claims, std::string_view path) noexcept {
  return key.starts_with('m') && key.substr(1).starts_with(claims.bytes()) &&
         key.substr(1 + claims.bytes().size()) == path;
}

// ---- Loads

constexpr std::int64_t kEntriesPlausible = std::int64_t{1} << 32;

/// What a manifest will take at least, if it is what the list says.
std::size_t bytes_min_of(const ManifestFile& listed) noexcept {
  const ManifestCounts& counts = listed.counts;
  std::int64_t entries = 0;
  for (const auto& count :
       {counts.added_files_count, counts.existing_files_count, counts.deleted_files_count}) {
    entries += std::clamp<std::int64_t>(count.value_or(0), 0, kEntriesPlausible);
  }
  return static_cast<std::size_t>(entries) * sizeof(ManifestEntry);
}

/// What an object takes beside its weight.
constexpr std::size_t kBesideObject = 16 + 4 * 12;

/// Ends a load with what `parse(text, wanted)` makes of the file.
template <typename Parse>
Result<Value> finish(cache::Store& store, Load& load, const FileLoad& file,
                     Result<ByteBuffer> content, Parse&& parse) {
  const auto fail = [&](Error error) -> Result<Value> {
    load.fail(error);
    return error;
  };
  if (!content) return fail(content.error());
  const std::size_t file_bytes = content->capacity();
  const auto wanted = [&](std::size_t bytes, std::size_t document_bytes_min) {
    load.set_aside(file_bytes + bytes, std::max(document_bytes_min, file.value_bytes_min));
  };
  auto parsed = parse(content->view(), wanted);
  if (!parsed) return fail(file_content_error(file.location, parsed.error()));
  const std::size_t bytes = (*parsed)->weight_bytes() + kBesideObject;
  auto payload = store.make_payload(std::move(*parsed));
  return load.succeed(std::move(payload), bytes);
}

template <typename Matches>
Value find(const cache::Store& store, std::uint64_t hash, Matches&& matches) noexcept {
  const shm::MarkedSection section;
  return section.ok() ? store.find(hash, section.thread_index(), matches) : Value();
}

}  // namespace

ObjectCache::ObjectCache(std::shared_ptr<FileReader> files, const MetadataLimits& limits,
                         std::size_t bytes_max)
    : limits_(limits),
      store_(cache::Store::make({bytes_max, bytes_max})),
      loads_(store_, std::move(files), limits.document_bytes_max) {}

Result<ObjectCache::ListPointer> ObjectCache::manifest_list(const TableSnapshot& snapshot) {
  if (snapshot.manifest_list.empty()) return iceberg::embedded_manifest_list(snapshot);
  const std::uint64_t hash = hash_of(snapshot.snapshot_id);
  const std::string key = key_of(snapshot.snapshot_id);
  if (Value value = find(*store_, hash, [&](std::string_view bytes) { return bytes == key; })) {
    return cache::cast<ManifestList>(std::move(value));
  }
  const FileLoad wanted{hash, key, snapshot.manifest_list};
  const auto end = [&](std::size_t, Load& load, Result<ByteBuffer> content) {
    return finish(*store_, load, wanted, std::move(content),
                  [&](std::string_view text, const iceberg::ManifestBytesWanted& told) {
                    return iceberg::read_manifest_list(text, snapshot, limits_, told);
                  });
  };
  return cache::cast<ManifestList>(loads_.load(wanted, end).value);
}

std::vector<Result<ObjectCache::ManifestPointer>> ObjectCache::manifests(
    std::span<const ManifestFile* const> listed, const TableMetadata& table) {
  std::vector<Result<ManifestPointer>> results(listed.size(), ManifestPointer());
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const Claims claims(*listed[i]);
    const std::string_view path = listed[i]->manifest_path;
    Value value = find(*store_, hash_of(path),
                       [&](std::string_view key) { return is_key_of(key, claims, path); });
    if (value) {
      results[i] = cache::cast<Manifest>(std::move(value));
    } else {
      missing.push_back(i);
    }
  }
  std::vector<std::string> keys;
  std::vector<FileLoad> wanted;
  keys.reserve(missing.size());
  wanted.reserve(missing.size());
  for (const std::size_t i : missing) {
    keys.push_back(key_of(*listed[i]));
    const std::string_view path = listed[i]->manifest_path;
    wanted.push_back({hash_of(path), keys.back(), path, bytes_min_of(*listed[i])});
  }
  std::vector<FileLoads::Loaded> loaded(missing.size());
  const auto end = [&](std::size_t index, Load& load, Result<ByteBuffer> content) {
    const ManifestFile& entry = *listed[missing[index]];
    return finish(*store_, load, wanted[index], std::move(content),
                  [&](std::string_view text, const iceberg::ManifestBytesWanted& told) {
                    return iceberg::read_manifest(text, entry, table, limits_, told);
                  });
  };
  if (wanted.size() == 1) {
    loaded[0] = loads_.load(wanted[0], end);
  } else {
    loads_.load_many(wanted, loaded, end);
  }
  for (std::size_t i = 0; i < missing.size(); ++i) {
    results[missing[i]] = cache::cast<Manifest>(std::move(loaded[i].value));
  }
  return results;
}

}  // namespace iceblink::client
