#include "iceberg/lazy_table_parts.h"

#include <bit>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace iceblink::iceberg {
namespace {

/// Memory that the values of a token take, about: a summary's entry has four tokens and two views.
constexpr std::size_t kBytesPerToken = 7;

JsonReader::Step member(std::string_view name) noexcept {
  JsonReader::Step step;
  step.key = name;
  return step;
}

template <typename Built>
void destroy(Built* built) noexcept {
  while (built != nullptr) delete std::exchange(built, built->older);
}

}  // namespace

std::size_t find_snapshot(const RawTableParts& raw, std::int64_t snapshot_id) noexcept {
  if (raw.buckets.empty()) return raw.index.size();
  const std::size_t mask = raw.buckets.size() - 1;
  for (std::size_t i = snapshot_bucket(snapshot_id, raw.hash_seed, raw.buckets.size());;
       i = (i + 1) & mask) {
    const std::uint32_t entry = raw.buckets[i];
    if (entry == 0) return raw.index.size();
    if (raw.index[entry - 1].snapshot_id == snapshot_id) return entry - 1;
  }
}

LazyTableParts::~LazyTableParts() {
  // relaxed, all: nobody else has it any more
  destroy(snapshots_.load(std::memory_order_relaxed));
  destroy(single_snapshots_.load(std::memory_order_relaxed));
  destroy(snapshot_log_.load(std::memory_order_relaxed));
  destroy(metadata_log_.load(std::memory_order_relaxed));
}

template <typename T, typename Read>
Result<std::unique_ptr<LazyTableParts::Built<T>>> LazyTableParts::build(TextRange range,
                                                                        JsonReader::Step step,
                                                                        Read read) const {
  const std::string_view text = raw_.text.substr(range.begin, range.bytes);
  JsonTokens tokens;
  ICEBLINK_RETURN_IF_ERROR(tokens.find(text));
  const auto token_count = static_cast<std::size_t>(tokens.end() - tokens.begin());
  auto built = std::make_unique<Built<T>>(Arena(token_count * kBytesPerToken));
  std::vector<MetadataProblem> problems;
  JsonReader reader(text, tokens, raw_.limits, built->arena, JsonReader::Wanted::kFirstProblem,
                    problems);
  reader.set_origin(&step);
  reader.set_text_offset(range.begin);
  built->elements = read(reader, built->arena);
  reader.expect_end();
  if (!problems.empty()) {
    return {reader.error_kind(), problems[0].path + ": " + problems[0].what};
  }
  return built;
}

template <typename T, typename Read>
Result<std::span<const T>> LazyTableParts::get(const TableMetadata& of, Slot<T>& slot,
                                               TextRange range, JsonReader::Step step,
                                               Read read) try {
  if (range.bytes == 0) return std::span<const T>{};
  // SYNC lazy-part: acquires what was built; partner below
  if (const auto* const there = slot.load(std::memory_order_acquire)) return there->elements;
  std::size_t grown_bytes = 0;
  std::span<const T> elements;
  {
    const std::lock_guard lock(lock_);
    // relaxed: stored under the lock
    if (const auto* const there = slot.load(std::memory_order_relaxed)) return there->elements;
    ICEBLINK_ASSIGN_OR_RETURN(auto built, (build<T>(range, step, read)));
    grown_bytes = sizeof(*built) - sizeof(Arena) + built->arena.bytes();
    elements = built->elements;
    // SYNC lazy-part: releases what was built; partner above
    slot.store(built.release(), std::memory_order_release);
  }
  of.charge(grown_bytes);
  return elements;
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

const TableSnapshot* LazyTableParts::find_built(std::int64_t snapshot_id) const noexcept {
  // SYNC lazy-part: acquires what was built; partners get, snapshot
  for (const auto* built = single_snapshots_.load(std::memory_order_acquire); built != nullptr;
       built = built->older) {
    if (built->elements[0].snapshot_id == snapshot_id) return built->elements.data();
  }
  return nullptr;
}

Result<const TableSnapshot*> LazyTableParts::snapshot(const TableMetadata& of,
                                                      std::int64_t snapshot_id) noexcept try {
  const std::size_t position = find_snapshot(raw_, snapshot_id);
  if (position == raw_.index.size()) return nullptr;
  // SYNC lazy-part: acquires what was built; partner get
  if (const auto* const all = snapshots_.load(std::memory_order_acquire)) {
    return &all->elements[position];
  }
  if (const auto* const there = find_built(snapshot_id)) return there;
  std::size_t grown_bytes = 0;
  const TableSnapshot* snapshot = nullptr;
  {
    const std::lock_guard lock(lock_);
    if (const auto* const there = find_built(snapshot_id)) return there;
    const JsonReader::Step list = member("snapshots");
    JsonReader::Step step;
    step.parent = &list;
    step.index = position;
    step.is_array = true;
    ICEBLINK_ASSIGN_OR_RETURN(auto built,
                              (build<TableSnapshot>(raw_.snapshot_ranges[position], step,
                                                    [&](JsonReader& reader, Arena& arena) {
                                                      const TableSnapshot one =
                                                          read_snapshot(reader, of.format_version);
                                                      return arena.copy(std::span(&one, 1));
                                                    })));
    grown_bytes = sizeof(*built) - sizeof(Arena) + built->arena.bytes();
    snapshot = built->elements.data();
    // relaxed: stored under the lock
    built->older = single_snapshots_.load(std::memory_order_relaxed);
    // SYNC lazy-part: releases what was built; partner find_built
    single_snapshots_.store(built.release(), std::memory_order_release);
  }
  of.charge(grown_bytes);
  return snapshot;
} catch (const std::bad_alloc&) {
  return {ErrorKind::kOutOfMemory, "out of memory"};
}

Result<std::span<const TableSnapshot>> LazyTableParts::snapshots(const TableMetadata& of) noexcept {
  const auto read = [&, count = raw_.index.size()](JsonReader& reader, Arena& arena) {
    auto* const snapshots = arena.allocate_array<TableSnapshot>(count);
    std::size_t at = 0;
    reader.read_array([&] {
      const TableSnapshot snapshot = read_snapshot(reader, of.format_version);
      if (at < count) std::construct_at(snapshots + at++, snapshot);
    });
    return std::span<const TableSnapshot>(snapshots, at);
  };
  return get(of, snapshots_, raw_.snapshots, member("snapshots"), read);
}

Result<std::span<const SnapshotLogEntry>> LazyTableParts::snapshot_log(
    const TableMetadata& of) noexcept {
  const auto read = [&](JsonReader& reader, Arena&) {
    return read_snapshot_log(reader, of.last_updated_ms);
  };
  return get(of, snapshot_log_, raw_.snapshot_log, member("snapshot-log"), read);
}

Result<std::span<const MetadataLogEntry>> LazyTableParts::metadata_log(
    const TableMetadata& of) noexcept {
  const auto read = [&](JsonReader& reader, Arena&) {
    return read_metadata_log(reader, of.last_updated_ms);
  };
  return get(of, metadata_log_, raw_.metadata_log, member("metadata-log"), read);
}

}  // namespace iceblink::iceberg
