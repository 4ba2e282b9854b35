#include "shm/arena_builder.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <vector>

#include "shm/fault_point.h"

namespace iceblink::shm {
namespace {

Change change_of(const RecordView& record) {
  return {.kind = record.kind(),
          .key = record.key(),
          .location = record.location(),
          .table_uuid = record.table_uuid(),
          .metadata_fingerprint = record.metadata_fingerprint(),
          .format_version = record.format_version(),
          .generation = record.generation()};
}

std::uint64_t bytes_for(const Change& change) {
  return record_span(change.key.size(), change.location.size(), is_namespace_class(change.kind));
}

Status add(const Change& change, ArenaWriter& arena) {
  if (arena.free_bytes() < bytes_for(change) || arena.free_slots() == 0) {
    return {ErrorKind::kNoSpace, "the new arena is smaller than the catalog has become"};
  }
  arena.store_slot(arena.append(change));
  return Ok{};
}

Error damaged(const ArenaView& source) {
  return {ErrorKind::kCorrupt,
          "arena." + std::to_string(source.header().epoch) + " is damaged: it cannot be copied"};
}

// What a record of `source` says, which may be anything where that is damaged.
Status copy(const RecordView& record, const ArenaView& source, ArenaWriter& arena) {
  const Change change = change_of(record);
  return arena.accepts(change) ? add(change, arena) : damaged(source);
}

// Breadth first, so that a namespace comes before its children.
Status fill_namespaces(const ArenaView& source, std::uint64_t generation, ArenaWriter& arena) {
  std::deque<std::string_view> parents{std::string_view{}};  // keys point into the source
  while (!parents.empty()) {
    Status status = Ok{};
    const FindStatus visited =
        source.visit_namespaces(parents.front(), generation, [&](const RecordView& record) {
          if (!status) return;
          status = copy(record, source, arena);
          parents.push_back(record.key());
        });
    if (visited != FindStatus::kFound) return damaged(source);
    ICEBLINK_RETURN_IF_ERROR(status);
    parents.pop_front();
  }
  return Ok{};
}

// In the order of the index, which touches each record once and needs no lookup.
Status fill_tables(const ArenaView& source, std::uint64_t generation, ArenaWriter& arena) {
  for (const auto& entry : source.slots()) {
    // SYNC slot-publish: acquires the record it names; partner ArenaWriter::store_slot
    const Slot slot = entry.load(std::memory_order_acquire);
    if (slot == 0) continue;
    const Found found = source.find_version(slot & kOffsetMask, generation);
    if (found.status == FindStatus::kCorrupt) return damaged(source);
    if (found.status == FindStatus::kAbsent || is_namespace_class(found.record.kind())) continue;
    ICEBLINK_RETURN_IF_ERROR(copy(found.record, source, arena));
  }
  return Ok{};
}

}  // namespace

WritableArena::~WritableArena() {
  if (is_made && !is_published) ::unlink(path.c_str());
}

Result<CatalogSize> measure(const CatalogSource& source) {
  CatalogSize size;
  ICEBLINK_RETURN_IF_ERROR(source.for_each([&](const Change& change) -> Status {
    ++size.keys;
    size.record_bytes += bytes_for(change);
    return Ok{};
  }));
  return size;
}

CatalogSize measure(const ArenaWriter& arena) noexcept {
  const std::uint64_t used = arena.tail() - arena.view().header().records_offset;
  return {.keys = arena.table_count() + arena.view_count() + arena.namespace_count(),
          // A live namespace's later version lacks the heads that its first record in a new
          // arena has.
          .record_bytes = used - std::min(used, arena.garbage_bytes()) +
                          arena.namespace_count() * sizeof(ChildHeads)};
}

std::uint64_t index_capacity_for(std::uint64_t keys, std::uint64_t extra) noexcept {
  return (keys + extra) * 8 / 5 + 64;
}

bool index_is_crowded(const ArenaWriter& arena) noexcept {
  return arena.used_slots() * 5 > arena.view().header().index_capacity * 4;
}

std::uint64_t size_arena(const ArenaDemand& demand, std::uint64_t file_bytes_max,
                         ArenaParameters* parameters) noexcept {
  constexpr std::uint64_t kTypicalRecordBytes = 256;
  std::uint64_t headroom = std::max(demand.headroom_bytes, kHeadroomBytesFloor);
  while (true) {
    parameters->index_capacity =
        index_capacity_for(demand.live.keys, demand.need_slots + headroom / kTypicalRecordBytes);
    parameters->record_bytes =
        demand.live.record_bytes + demand.need_bytes + demand.need_bytes / 4 + headroom;
    const std::uint64_t size = arena_file_bytes(*parameters);
    if (size <= file_bytes_max || headroom == kHeadroomBytesFloor) return size;
    headroom = std::max(headroom / 2, kHeadroomBytesFloor);
  }
}

std::uint64_t free_bytes_of(const std::string& directory) noexcept {
  struct statvfs status {};
  if (::statvfs(directory.c_str(), &status) != 0 || status.f_blocks == 0) {
    return 4 * kArenaBytesMax;
  }
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

Result<std::unique_ptr<WritableArena>> create_arena(const std::string& directory,
                                                    const ArenaParameters& parameters) {
  auto arena = std::make_unique<WritableArena>();
  arena->path = directory + "/" + kArenaPrefix + std::to_string(parameters.epoch);
  arena->epoch = parameters.epoch;
  const std::uint64_t size = arena_file_bytes(parameters);
  if (size > kArenaBytesMax) {
    return {ErrorKind::kNoSpace, arena->path + ": would need " + std::to_string(size) +
                                     " bytes, the limit is " + std::to_string(kArenaBytesMax)};
  }
  ICEBLINK_FAULT_POINT("arena.before-create");
  ICEBLINK_ASSIGN_OR_RETURN(arena->mapping, WriteMapping::create(arena->path, size));
  arena->is_made = true;
  arena->writer = ArenaWriter(arena->mapping.bytes(), parameters);
  ICEBLINK_FAULT_POINT("arena.after-create");
  return arena;
}

Status fill_from(const CatalogSource& source, ArenaWriter& arena) {
  ICEBLINK_FAULT_POINT("arena.before-fill");
  ICEBLINK_RETURN_IF_ERROR(
      source.for_each([&](const Change& change) { return add(change, arena); }));
  arena.seal();
  ICEBLINK_FAULT_POINT("arena.after-fill");
  return Ok{};
}

Status fill_from(const ArenaView& source, std::uint64_t generation, ArenaWriter& arena) {
  ICEBLINK_FAULT_POINT("arena.before-fill");
  ICEBLINK_RETURN_IF_ERROR(fill_namespaces(source, generation, arena));
  ICEBLINK_RETURN_IF_ERROR(fill_tables(source, generation, arena));
  arena.seal();
  ICEBLINK_FAULT_POINT("arena.after-fill");
  return Ok{};
}

Status catch_up(const ArenaView& source, std::uint64_t* position, std::uint64_t end,
                std::uint64_t records_max, ArenaWriter& arena) {
  for (std::uint64_t count = 0; *position < end && count < records_max; ++count) {
    const RecordView record = source.record_at(*position);
    if (!record || record.span_bytes() > end - *position) return damaged(source);
    ICEBLINK_RETURN_IF_ERROR(copy(record, source, arena));
    *position += record.span_bytes();
  }
  return Ok{};
}

Result<std::vector<std::string>> list_arenas(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    auto name = entry->path().filename().string();
    if (name.starts_with(kArenaPrefix)) names.push_back(std::move(name));
  }
  if (error) return system_error(directory, error.value());
  return names;
}

}  // namespace iceblink::shm
