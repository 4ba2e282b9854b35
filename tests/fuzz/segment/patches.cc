#include "tests/fuzz/segment/patches.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "shm/arena_view.h"
#include "shm/arena_writer.h"
#include "shm/key.h"

namespace iceblink::test {
namespace {

using shm::ArenaHeader;
using shm::ControlPage;
using shm::Record;

constexpr std::size_t kPatchesMax = 64;
constexpr std::size_t kArenaBytesMax = 1 << 16;

/// Fields of a record that lead somewhere, or say how long something is.
struct Field {
  std::size_t offset;
  std::size_t size;
};
constexpr Field kRecordFields[] = {
    {offsetof(Record, location_hash), 8},  {offsetof(Record, generation), 8},
    {offsetof(Record, checksum), 4},       {offsetof(Record, previous), 4},
    {offsetof(Record, next_sibling), 4},   {offsetof(Record, key_bytes), 2},
    {offsetof(Record, location_bytes), 2}, {offsetof(Record, kind), 1},
    {offsetof(Record, format_version), 1}, {offsetof(Record, level_count), 1},
};

class Damaging {
 public:
  Damaging(const SmallSegment& segment, std::span<const std::uint8_t> input)
      : segment_(segment),
        input_(input),
        damaged_{.control = ExactBytes(segment.control.span()),
                 .arena = ExactBytes(segment.arena.span()),
                 .patched = {}} {}

  DamagedSegment run() {
    const auto resealed = take<std::uint8_t>();
    for (std::size_t i = 0; i < kPatchesMax && !input_.empty(); ++i) patch();
    if ((resealed & kResealedRecords) != 0) seal_records();
    if ((resealed & kResealedSums) != 0) seal_sums();
    if ((resealed & kResealedHeader) != 0) seal_header();
    if ((resealed & kResealedControl) != 0) seal_control();
    return std::move(damaged_);
  }

 private:
  template <typename Number>
  Number take() {
    Number number{};
    const std::size_t size = std::min(sizeof(number), input_.size());
    if (size > 0) std::memcpy(&number, input_.data(), size);
    input_ = input_.subspan(size);
    return number;
  }

  void patch() {
    const auto kind = take<std::uint8_t>();
    const auto at = take<std::uint16_t>();
    switch (kind % 12) {
      case 0:
        return write_control(at % 256, take<std::uint8_t>());
      case 1:
        return write_control(at % 26 * 8, take<std::uint64_t>());
      case 2:
        return write_arena(at, take<std::uint8_t>());
      case 3:
        return write_arena(std::size_t{at} * 4, take<std::uint32_t>());
      case 4:
        return write_arena(std::size_t{at} * 8, take<std::uint64_t>());
      case 5:
        return write_arena(at % 34 * 8, take<std::uint64_t>());  // the header's words
      case 6:
        return add_to_header(at % 34 * 8, static_cast<std::int8_t>(take<std::uint8_t>()));
      case 7:
        return write_record_field(at);
      case 8:
        return point_slot(at, take<std::uint16_t>());
      case 9:
        return rename(at);
      case 10:
        damaged_.arena.resize(std::size_t{at} % kArenaBytesMax);
        damaged_.patched.emplace_back(0, kArenaBytesMax);
        return;
      default:
        return damaged_.control.resize(at % (2 * shm::kControlBytes));
    }
  }

  template <typename Number>
  void write_control(std::size_t at, Number number) {
    const auto bytes = damaged_.control.span();
    if (at + sizeof(number) <= bytes.size()) std::memcpy(&bytes[at], &number, sizeof(number));
  }

  void write_bytes(std::size_t at, const void* from, std::size_t size) {
    const auto bytes = damaged_.arena.span();
    if (size == 0 || at > bytes.size() || size > bytes.size() - at) return;
    std::memcpy(&bytes[at], from, size);
    damaged_.patched.emplace_back(at, at + size);
  }
  template <typename Number>
  void write_arena(std::size_t at, Number number) {
    write_bytes(at, &number, sizeof(number));
  }

  void add_to_header(std::size_t at, std::int8_t difference) {
    const auto bytes = damaged_.arena.span();
    std::uint64_t word = 0;
    if (at + sizeof(word) > bytes.size()) return;
    std::memcpy(&word, &bytes[at], sizeof(word));
    write_arena(at, word + static_cast<std::uint64_t>(std::int64_t{difference}));
  }

  std::size_t record_at(std::uint16_t at) const {
    return segment_.record_offsets[at % segment_.record_offsets.size()];
  }

  void write_record_field(std::uint16_t at) {
    const Field& field = kRecordFields[(at >> 8) % std::size(kRecordFields)];
    const auto value = take<std::uint64_t>();  // of a little-endian host, as the layout says
    write_bytes(record_at(at) + field.offset, &value, field.size);
  }

  /// A slot names any record, under that record's tag or another's.
  void point_slot(std::uint16_t at, std::uint16_t which) {
    const std::size_t slot = at % kSmallIndexCapacity;
    const auto& key = segment_.versions[(which >> 8) % segment_.versions.size()].key;
    write_slot(slot, shm::make_slot(shm::hash_encoded(key, kSmallHashSeed), record_at(which)));
  }

  void write_slot(std::size_t slot, shm::Slot value) {
    write_arena(shm::kArenaHeaderBytes + slot * sizeof(shm::Slot), value);
  }

  /// Another key, under which the index finds the record.
  void rename(std::uint16_t at) {
    const std::size_t offset = record_at(at);
    const std::size_t size = std::min<std::size_t>((at >> 8) % 32, input_.size());
    const std::string key(reinterpret_cast<const char*>(input_.data()), size);
    input_ = input_.subspan(size);
    write_bytes(offset + shm::kRecordKeyOffset, key.data(), key.size());
    write_arena(offset + offsetof(Record, key_bytes), static_cast<std::uint16_t>(key.size()));
    write_arena(offset + offsetof(Record, level_count), shm::level_count_of(key));
    const std::uint64_t hash = shm::hash_encoded(key, kSmallHashSeed);
    write_slot(shm::home_slot(hash, kSmallIndexCapacity), shm::make_slot(hash, offset));
  }

  void seal_records() {
    const auto bytes = damaged_.arena.span();
    for (const std::size_t offset : segment_.record_offsets) {
      if (offset + sizeof(Record) > bytes.size()) return;
      std::uint16_t key_bytes = 0;
      std::uint16_t location_bytes = 0;
      std::memcpy(&key_bytes, &bytes[offset + offsetof(Record, key_bytes)], sizeof(key_bytes));
      std::memcpy(&location_bytes, &bytes[offset + offsetof(Record, location_bytes)],
                  sizeof(location_bytes));
      if (shm::record_span(key_bytes, location_bytes, false) > bytes.size() - offset) continue;
      const auto* record = reinterpret_cast<const Record*>(&bytes[offset]);
      const auto checksum = shm::ArenaView::checksum_of(*record, key_bytes, location_bytes);
      std::memcpy(&bytes[offset + offsetof(Record, checksum)], &checksum, sizeof(checksum));
    }
  }

  void seal_sums() {
    const auto bytes = damaged_.arena.span();
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kSmallIndexCapacity; ++i) {
      shm::Slot slot = 0;
      const std::size_t at = shm::kArenaHeaderBytes + i * sizeof(slot);
      if (at + 2 * sizeof(slot) > bytes.size()) return;
      std::memcpy(&slot, &bytes[at], sizeof(slot));
      sum += shm::slot_digest(i, slot);
    }
    std::memcpy(&bytes[shm::kArenaHeaderBytes + kSmallIndexCapacity * sizeof(shm::Slot)], &sum,
                sizeof(sum));
  }

  void seal_header() {
    const auto bytes = damaged_.arena.span();
    if (bytes.size() < sizeof(ArenaHeader)) return;
    const std::uint64_t checksum = XXH3_64bits(bytes.data(), offsetof(ArenaHeader, checksum));
    std::memcpy(&bytes[offsetof(ArenaHeader, checksum)], &checksum, sizeof(checksum));
    std::uint64_t tail = 0;
    std::memcpy(&tail, &bytes[offsetof(ArenaHeader, published_tail)], sizeof(tail));
    const std::uint64_t limit = shm::checked_offset(tail & shm::kOffsetMask);
    std::memcpy(&bytes[offsetof(ArenaHeader, append_limit)], &limit, sizeof(limit));
  }

  void seal_control() {
    const auto bytes = damaged_.control.span();
    constexpr std::size_t kFrom = sizeof(ControlPage::magic);
    constexpr std::size_t kTo = offsetof(ControlPage, checksum);
    if (bytes.size() < sizeof(ControlPage)) return;
    const std::uint64_t checksum = XXH3_64bits(&bytes[kFrom], kTo - kFrom);
    std::memcpy(&bytes[kTo], &checksum, sizeof(checksum));
  }

  const SmallSegment& segment_;
  std::span<const std::uint8_t> input_;
  DamagedSegment damaged_;
};

}  // namespace

bool DamagedSegment::is_patched(std::size_t from, std::size_t to) const noexcept {
  return std::any_of(patched.begin(), patched.end(),
                     [&](const auto& range) { return range.first < to && from < range.second; });
}

DamagedSegment damage(const SmallSegment& segment, std::span<const std::uint8_t> input) {
  return Damaging(segment, input).run();
}

}  // namespace iceblink::test
