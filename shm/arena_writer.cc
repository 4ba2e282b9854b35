#include "shm/arena_writer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace iceblink::shm {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

std::uint64_t sum_blocks(std::uint64_t index_capacity) {
  return (index_capacity + kSlotsPerBlock - 1) / kSlotsPerBlock;
}

std::uint64_t records_offset(std::uint64_t index_capacity) {
  return kArenaHeaderBytes + index_capacity * sizeof(Slot) +
         sum_blocks(index_capacity) * sizeof(std::uint64_t);
}

}  // namespace

std::uint64_t arena_file_bytes(const ArenaParameters& parameters) noexcept {
  return align_up(records_offset(parameters.index_capacity) + parameters.record_bytes, kPageBytes);
}

std::uint64_t checked_offset(std::uint64_t offset) noexcept {
  return (key_internal::mix(offset, 0, key_internal::kNameClass) << 48) | offset;
}

std::uint64_t slot_digest(std::uint64_t slot_index, Slot slot) noexcept {
  return slot == 0 ? 0 : key_internal::mix(slot_index + 1, slot, key_internal::kLevelClass);
}

ArenaWriter::ArenaWriter(std::span<std::byte> bytes, const ArenaParameters& parameters)
    : bytes_(bytes.data()), header_(reinterpret_cast<ArenaHeader*>(bytes.data())) {
  ArenaHeader& header = *header_;
  header.magic = kArenaMagic;
  header.layout_version = kLayoutVersion;
  header.byte_order = kByteOrderMark;
  header.control_id = parameters.control_id;
  header.store_uuid = parameters.store_uuid;
  header.incarnation = parameters.incarnation;
  header.epoch = parameters.epoch;
  header.daemon_pid = parameters.daemon_pid;
  header.daemon_started_s = parameters.daemon_started_s;
  header.base_generation = parameters.base_generation;
  header.hash_seed = parameters.hash_seed;
  header.file_bytes = bytes.size();
  header.index_offset = kArenaHeaderBytes;
  header.index_capacity = parameters.index_capacity;
  header.sums_offset = kArenaHeaderBytes + parameters.index_capacity * sizeof(Slot);
  header.records_offset = records_offset(parameters.index_capacity);
  header.base_copy_end = header.records_offset;
  const std::size_t version_bytes =
      std::min(parameters.daemon_version.size(), header.daemon_version.size() - 1);
  std::memcpy(header.daemon_version.data(), parameters.daemon_version.data(), version_bytes);
  slots_ = reinterpret_cast<Atomic<Slot>*>(bytes_ + header.index_offset);
  sums_ = reinterpret_cast<Atomic<std::uint64_t>*>(bytes_ + header.sums_offset);
  tail_ = header.records_offset;
  header.checksum = XXH3_64bits(bytes_, offsetof(ArenaHeader, checksum));
  auto view = ArenaView::open(bytes, "new arena");
  if (!view) std::abort();  // the arithmetic above is wrong
  view_ = *view;
  parent_key_.reserve(kKeyBytesMax);  // so that publishing allocates nothing
}

void ArenaWriter::seal() noexcept {
  header_->base_copy_end = tail_;
  header_->checksum = XXH3_64bits(bytes_, offsetof(ArenaHeader, checksum));
}

ArenaWriter::Place ArenaWriter::locate(std::string_view key, std::uint64_t hash) noexcept {
  const std::uint64_t capacity = header_->index_capacity;
  std::uint64_t at = home_slot(hash, capacity);
  for (std::uint64_t probes = 1; probes <= capacity; ++probes) {
    // relaxed: this thread stored it, or took over under the publisher's mutex from who did
    const Slot slot = slots_[at].load(std::memory_order_relaxed);
    longest_probe_ = std::max(longest_probe_, probes);
    if (slot == 0) return {at, {}};
    if ((slot >> 48) == tag_of(hash)) {
      const RecordView record = view_.record_at(slot & kOffsetMask);
      if (!record) std::abort();
      if (record.key() == key) return {at, record};
    }
    if (++at == capacity) at = 0;
  }
  std::abort();  // one slot always stays empty
}

ChildHeads* ArenaWriter::find_children_of(std::string_view namespace_key) noexcept {
  if (namespace_key.empty()) return &header_->root_children;
  if (parent_heads_ != nullptr && namespace_key == parent_key_) return parent_heads_;
  const Place place = locate(namespace_key, hash_encoded(namespace_key, header_->hash_seed));
  const ChildHeads* heads = place.newest ? view_.child_heads(place.newest) : nullptr;
  if (heads == nullptr) return nullptr;
  parent_key_.assign(namespace_key);
  parent_heads_ =
      reinterpret_cast<ChildHeads*>(bytes_ + (reinterpret_cast<const std::byte*>(heads) - bytes_));
  return parent_heads_;
}

bool ArenaWriter::accepts(const Change& change) noexcept {
  switch (change.kind) {
    case RecordKind::kTable:
    case RecordKind::kView:
    case RecordKind::kNamespace:
    case RecordKind::kTombstone:
    case RecordKind::kNamespaceTombstone:
      break;
    default:
      return false;
  }
  const bool names_namespace = change.key.find(kKeyNameSeparator) == std::string_view::npos;
  return !change.key.empty() && change.key.size() <= kKeyBytesMax &&
         names_namespace == is_namespace_class(change.kind) &&
         find_children_of(parent_of(change.key)) != nullptr;
}

void ArenaWriter::link_into_parent(const Change& change, Record* record,
                                   std::uint64_t offset) noexcept {
  ChildHeads* heads = find_children_of(parent_of(change.key));
  if (heads == nullptr) std::abort();  // a child without its namespace
  auto& head = is_namespace_class(change.kind) ? heads->namespaces : heads->tables;
  // relaxed: only this thread stores it
  const std::uint64_t next = head.load(std::memory_order_relaxed);
  record->next_sibling = static_cast<std::uint32_t>(next / kRecordAlignment);
  record->checksum = ArenaView::checksum_of(*record, change.key.size(), record->location_bytes);
  // SYNC child-publish: releases the record; partner ArenaView::visit_children
  head.store(offset, std::memory_order_release);
}

void ArenaWriter::fetch_slot(std::uint64_t hash) const noexcept {
  constexpr int kForWriting = 1;
  const std::uint64_t home = home_slot(hash, header_->index_capacity);
  __builtin_prefetch(&slots_[home], kForWriting);
  __builtin_prefetch(&sums_[home / kSlotsPerBlock], kForWriting);
}

void ArenaWriter::fetch_record(std::uint64_t hash, std::size_t key_bytes) const noexcept {
  constexpr std::uint64_t kLineBytes = 64;
  constexpr std::uint64_t kProbesMax = 8;  // further slots have not been fetched either
  const std::uint64_t home = home_slot(hash, header_->index_capacity);
  const std::uint64_t end = std::min(home + kProbesMax, header_->index_capacity);
  for (std::uint64_t at = home; at < end; ++at) {
    // relaxed: this thread stored it, or took over under the publisher's mutex from who did
    const Slot slot = slots_[at].load(std::memory_order_relaxed);
    if (slot == 0) return;
    if ((slot >> 48) != tag_of(hash)) continue;
    const std::byte* const record = bytes_ + (slot & kOffsetMask);
    __builtin_prefetch(record);
    __builtin_prefetch(record + kLineBytes);
    __builtin_prefetch(record + kRecordKeyOffset + key_bytes);
    return;
  }
}

ArenaWriter::Pending ArenaWriter::append(const Change& change, std::uint64_t hash) noexcept {
  const bool is_namespace = is_namespace_class(change.kind);
  const std::string_view location = is_tombstone(change.kind) ? "" : change.location;
  const std::uint64_t span_max = record_span(change.key.size(), location.size(), is_namespace);
  const std::uint64_t offset = tail_;
  if (span_max > free_bytes() || change.key.size() > kKeyBytesMax ||
      location.size() > kLocationBytesMax) {
    std::abort();
  }

  auto* record = reinterpret_cast<Record*>(bytes_ + offset);
  auto* text = reinterpret_cast<char*>(record) + kRecordKeyOffset;
  std::memcpy(text, change.key.data(), change.key.size());
  if (!location.empty()) std::memcpy(text + change.key.size(), location.data(), location.size());
  record->table_uuid = change.table_uuid;
  record->metadata_fingerprint = change.metadata_fingerprint;
  record->generation = change.generation;
  record->key_bytes = static_cast<std::uint16_t>(change.key.size());
  record->location_bytes = static_cast<std::uint16_t>(location.size());
  record->kind = change.kind;
  record->format_version = change.format_version;
  record->level_count = level_count_of(change.key);
  if (!is_namespace) record->location_hash = key_internal::hash_bytes(location, 0);

  // The older version comes from far away, in a large catalog: last.
  const Place place = locate(change.key, hash);
  const bool first = !place.newest;
  if (first && free_slots() == 0) std::abort();
  const std::uint64_t span = record_span(change.key.size(), location.size(), first && is_namespace);
  record->previous =
      first ? 0 : static_cast<std::uint32_t>(place.newest.offset() / kRecordAlignment);
  if (is_namespace) {
    record->location_hash =
        first ? offset + span - sizeof(ChildHeads) : place.newest.location_hash();
  }
  tail_ += span;
  if (first) {
    ++used_slots_;
    link_into_parent(change, record, offset);
  } else {
    if (!is_tombstone(place.newest.kind())) garbage_bytes_ += place.newest.span_bytes();
    record->checksum = ArenaView::checksum_of(*record, change.key.size(), location.size());
    count(place.newest.kind(), -1);
  }
  if (is_tombstone(change.kind)) garbage_bytes_ += span;
  count(change.kind, +1);
  return {place.slot_index, make_slot(hash, offset)};
}

void ArenaWriter::store_slot(Pending pending) noexcept {
  const std::uint64_t index = pending.slot_index;
  // relaxed, both: only this thread stores them; the sum is read by the verifier alone
  const Slot old = slots_[index].load(std::memory_order_relaxed);
  auto& sum = sums_[index / kSlotsPerBlock];
  const std::uint64_t new_sum = sum.load(std::memory_order_relaxed) - slot_digest(index, old) +
                                slot_digest(index, pending.slot);
  // SYNC slot-publish: releases the record it names; partner ArenaView::find
  slots_[index].store(pending.slot, std::memory_order_release);
  sum.store(new_sum, std::memory_order_relaxed);
}

void ArenaWriter::announce_append(std::uint64_t bytes) noexcept {
  // relaxed: read by the verifier, which judges only an arena at rest
  header_->append_limit.store(checked_offset(tail_ + bytes), std::memory_order_relaxed);
}

void ArenaWriter::publish_tail(std::uint64_t generation) noexcept {
  // relaxed: for showing
  header_->table_count.store(table_count_, std::memory_order_relaxed);
  header_->view_count.store(view_count_, std::memory_order_relaxed);
  header_->namespace_count.store(namespace_count_, std::memory_order_relaxed);
  // SYNC tail-publish: releases the records below; partner ArenaView::published_tail
  header_->published_tail.store(tail_, std::memory_order_release);
  // relaxed, both: released by the root; in this order for the verifier
  header_->published_generation.store(generation, std::memory_order_relaxed);
  header_->append_limit.store(checked_offset(tail_), std::memory_order_relaxed);
}

void ArenaWriter::count(RecordKind kind, std::int64_t by) noexcept {
  switch (kind) {
    case RecordKind::kTable:
      table_count_ += static_cast<std::uint64_t>(by);
      break;
    case RecordKind::kView:
      view_count_ += static_cast<std::uint64_t>(by);
      break;
    case RecordKind::kNamespace:
      namespace_count_ += static_cast<std::uint64_t>(by);
      break;
    case RecordKind::kTombstone:
    case RecordKind::kNamespaceTombstone:
      break;
  }
}

}  // namespace iceblink::shm
