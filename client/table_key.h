// What a table handle is cached under: the name it was asked for by, and the metadata file that the
// name stood for (client/metadata_key.h). So names that share a file do not share a handle.
//
// As bytes: length of the name (2 bytes) | encoded name | the metadata file's key.
//
// Thread safety: values and pure functions.
#pragma once

#include <iceblink/identifier.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "client/metadata_key.h"
#include "shm/arena_view.h"
#include "shm/key.h"

namespace iceblink::client {

class TableKey {
 public:
  /// Of a table's record in this arena. Throws std::bad_alloc.
  TableKey(const shm::RecordView& record, const shm::ArenaView& arena)
      : hash_(hash_of(record, arena)), metadata_(record, arena) {
    const std::string_view name = record.key();
    const auto name_bytes = static_cast<std::uint16_t>(name.size());
    bytes_.reserve(sizeof(name_bytes) + name.size() + metadata_.bytes().size());
    bytes_.append(reinterpret_cast<const char*>(&name_bytes), sizeof(name_bytes));
    bytes_.append(name);
    bytes_.append(metadata_.bytes());
  }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] const MetadataKey& metadata() const noexcept { return metadata_; }

  /// Whether `bytes` are those of the record's key.
  [[nodiscard]] static bool matches(std::string_view bytes, const shm::RecordView& record,
                                    const shm::ArenaView& arena) noexcept {
    const std::string_view name = record.key();
    std::uint16_t name_bytes = 0;
    std::memcpy(&name_bytes, bytes.data(), sizeof(name_bytes));
    if (name_bytes != name.size()) return false;
    const std::string_view rest = bytes.substr(sizeof(name_bytes));
    return rest.starts_with(name) && MetadataKey::matches(rest.substr(name_bytes), record, arena);
  }

  /// Of the record's key: the file's hash, spread by the name's ends, so that many names on one
  /// file are found apart.
  [[nodiscard]] static std::uint64_t hash_of(const shm::RecordView& record,
                                             const shm::ArenaView& arena) noexcept {
    const std::string_view name = record.key();
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    const std::size_t taken = name.size() < sizeof(last) ? name.size() : sizeof(last);
    std::memcpy(&first, name.data(), taken);
    std::memcpy(&last, name.data() + name.size() - taken, taken);
    return shm::key_internal::fold(MetadataKey::hash_of(record, arena) ^ last,
                                   (first ^ name.size()) | kSpread);
  }

 private:
  static constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;

  std::uint64_t hash_;
  MetadataKey metadata_;
  std::string bytes_;
};

}  // namespace iceblink::client
