#include "shm/arena_view.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace iceblink::shm {

Result<ArenaView> ArenaView::open(std::span<const std::byte> bytes, std::string_view name) {
  const auto corrupt = [&](const std::string& what) -> Error {
    return {ErrorKind::kCorrupt, std::string(name) + ": " + what};
  };
  if (bytes.size() < kArenaHeaderBytes) {
    return corrupt("an arena has at least " + std::to_string(kArenaHeaderBytes) +
                   " bytes, this has " + std::to_string(bytes.size()));
  }
  const auto* header = reinterpret_cast<const ArenaHeader*>(bytes.data());
  if (header->magic != kArenaMagic) return corrupt("not an iceblink arena (wrong magic)");
  if (header->byte_order != kByteOrderMark) {
    return Error{ErrorKind::kIncompatible, std::string(name) + ": written with another byte order"};
  }
  if (header->layout_version != kLayoutVersion) {
    return Error{ErrorKind::kIncompatible, std::string(name) + ": has layout version " +
                                               std::to_string(header->layout_version) +
                                               ", this program reads version " +
                                               std::to_string(kLayoutVersion)};
  }
  if (XXH3_64bits(bytes.data(), offsetof(ArenaHeader, checksum)) != header->checksum) {
    return corrupt("the header's checksum does not match");
  }
  if ((header->features_required & ~kKnownRequiredFeatures) != 0) {
    return Error{ErrorKind::kIncompatible, std::string(name) + ": needs feature bits " +
                                               std::to_string(header->features_required) +
                                               ", this program knows " +
                                               std::to_string(kKnownRequiredFeatures)};
  }
  if (header->file_bytes != bytes.size()) {
    return corrupt("has " + std::to_string(bytes.size()) + " bytes, its header says " +
                   std::to_string(header->file_bytes));
  }
  // From here on the checksum vouches for the writer's own arithmetic; check it all the same.
  const std::uint64_t blocks = (header->index_capacity + kSlotsPerBlock - 1) / kSlotsPerBlock;
  if (header->index_offset != kArenaHeaderBytes || header->index_capacity == 0 ||
      header->index_capacity > kArenaBytesMax / sizeof(Slot) ||
      header->sums_offset != header->index_offset + header->index_capacity * sizeof(Slot) ||
      header->records_offset != header->sums_offset + blocks * sizeof(std::uint64_t) ||
      header->records_offset > header->base_copy_end ||
      header->base_copy_end > header->file_bytes || header->file_bytes > kArenaBytesMax) {
    return corrupt("the header's offsets contradict each other");
  }
  ArenaView view;
  view.bytes_ = bytes.data();
  view.header_ = header;
  view.slots_ = reinterpret_cast<const Atomic<Slot>*>(bytes.data() + header->index_offset);
  view.capacity_ = header->index_capacity;
  view.records_offset_ = header->records_offset;
  view.last_offset_ = header->file_bytes - sizeof(Record);
  view.file_bytes_ = header->file_bytes;
  view.hash_seed_ = header->hash_seed;
  view.base_generation_ = header->base_generation;
  return view;
}

bool ArenaView::is(const ArenaExpectation& expected) const noexcept {
  return header_->control_id == expected.control_id && header_->store_uuid == expected.store_uuid &&
         header_->epoch == expected.epoch;
}

std::uint32_t ArenaView::checksum_of(const Record& record, std::size_t key_bytes,
                                     std::size_t location_bytes) noexcept {
  // Everything but the checksum itself, padding included (it is zero).
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(&record);
  constexpr std::size_t kBefore = offsetof(Record, checksum);
  constexpr std::size_t kAfter = kBefore + sizeof(record.checksum);
  const std::uint64_t end = record_span(key_bytes, location_bytes, false);
  const std::uint64_t head = XXH3_64bits(bytes, kBefore);
  return static_cast<std::uint32_t>(XXH3_64bits_withSeed(bytes + kAfter, end - kAfter, head));
}

// Apart from find(), whose common case it is not.
RecordView ArenaView::walk_back(RecordView record, std::uint64_t generation) const noexcept {
  while (record.generation() > generation) {
    const std::uint64_t previous = record.previous_offset();
    if (previous == 0) return RecordView(FindStatus::kAbsent);
    if (previous >= record.offset()) return RecordView(FindStatus::kCorrupt);
    const RecordView older = record_at(previous);
    if (!older || older.generation() > record.generation() || older.key() != record.key()) {
      return RecordView(FindStatus::kCorrupt);
    }
    record = older;
  }
  return is_tombstone(record.kind()) ? RecordView(FindStatus::kAbsent) : record;
}

const ChildHeads* ArenaView::child_heads(const RecordView& record) const noexcept {
  const std::uint64_t offset = record.location_hash();
  if (!is_namespace_class(record.kind()) || offset < records_offset_ ||
      offset % alignof(ChildHeads) != 0 || offset > file_bytes_ - sizeof(ChildHeads)) {
    return nullptr;
  }
  return reinterpret_cast<const ChildHeads*>(bytes_ + offset);
}

}  // namespace iceblink::shm
