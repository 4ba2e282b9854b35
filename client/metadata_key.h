// What a parsed metadata file is cached under: the file's location and fingerprint, which together
// name one content for ever. A pointer that was registered unverified has no fingerprint; there the
// record's generation and the store's incarnation stand in for it.
//
// As bytes: kind | fingerprint | generation | incarnation | location. Both numbers are 0 where
// there is a fingerprint, so that names and generations that share a file share its document.
//
// Thread safety: values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "shm/arena_view.h"
#include "shm/key.h"

namespace iceblink::client {

class MetadataKey {
 public:
  /// Of a table's or a view's record in this arena. Throws std::bad_alloc.
  MetadataKey(const shm::RecordView& record, const shm::ArenaView& arena)
      : hash_(hash_of(record, arena)) {
    Head head;
    fill(head, record, arena);
    bytes_.reserve(sizeof(head) + record.location().size());
    bytes_.append(head.bytes, sizeof(head));
    bytes_.append(record.location());
  }

  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t hash() const noexcept { return hash_; }
  [[nodiscard]] std::string_view location() const noexcept {
    return std::string_view(bytes_).substr(sizeof(Head));
  }
  [[nodiscard]] bool is_view() const noexcept { return bytes_[0] == kView; }
  /// All zero: unverified.
  [[nodiscard]] shm::Id fingerprint() const noexcept {
    shm::Id fingerprint;
    std::memcpy(fingerprint.data(), bytes_.data() + kFingerprintAt, fingerprint.size());
    return fingerprint;
  }
  [[nodiscard]] bool is_verified() const noexcept { return fingerprint() != shm::Id{}; }

  friend bool operator==(const MetadataKey& a, const MetadataKey& b) noexcept {
    return a.bytes_ == b.bytes_;
  }

  /// Whether `bytes` are those of the record's key.
  [[nodiscard]] static bool matches(std::string_view bytes, const shm::RecordView& record,
                                    const shm::ArenaView& arena) noexcept {
    Head head;
    fill(head, record, arena);
    const std::string_view location = record.location();
    return bytes.size() == sizeof(head) + location.size() &&
           std::memcmp(bytes.data(), head.bytes, sizeof(head)) == 0 &&
           std::memcmp(bytes.data() + sizeof(head), location.data(), location.size()) == 0;
  }

  /// Of the record's key. The file's own hash where it is known: nothing is hashed then.
  [[nodiscard]] static std::uint64_t hash_of(const shm::RecordView& record,
                                             const shm::ArenaView& arena) noexcept {
    const Halves halves = halves_of(record);
    if ((halves.high | halves.low) != 0) [[likely]]
      return halves.low;
    return shm::key_internal::fold(record.location_hash() ^ arena.header().incarnation,
                                   (record.generation() << 1 | 1) * kSpread);
  }

 private:
  static constexpr char kTable = 't';
  static constexpr char kView = 'v';
  static constexpr std::size_t kFingerprintAt = 8;
  static constexpr std::uint64_t kSpread = 0x9e3779b97f4a7c15;

  struct Head {
    char bytes[40];
  };
  struct Halves {
    std::uint64_t high = 0;
    std::uint64_t low = 0;
  };

  [[nodiscard]] static Halves halves_of(const shm::RecordView& record) noexcept {
    Halves halves;
    std::memcpy(&halves, record.metadata_fingerprint().data(), sizeof(halves));
    return halves;
  }
  static void fill(Head& head, const shm::RecordView& record,
                   const shm::ArenaView& arena) noexcept {
    const Halves halves = halves_of(record);
    const bool is_verified = (halves.high | halves.low) != 0;
    const std::uint64_t fields[] = {halves.high, halves.low, is_verified ? 0 : record.generation(),
                                    is_verified ? 0 : arena.header().incarnation};
    std::memset(head.bytes, 0, kFingerprintAt);
    head.bytes[0] = record.kind() == shm::RecordKind::kView ? kView : kTable;
    std::memcpy(head.bytes + kFingerprintAt, fields, sizeof(fields));
  }

  std::uint64_t hash_;
  std::string bytes_;
};

}  // namespace iceblink::client
