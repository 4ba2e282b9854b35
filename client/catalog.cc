#include <iceblink/catalog.h>

#include <algorithm>

#include "client/cache/fork_handlers.h"
#include "client/catalog_state.h"
#include "client/guard.h"
#include "client/listing.h"
#include "shm/control_page.h"

namespace iceblink {

using shm::Segment;

Catalog::Catalog(std::shared_ptr<State> state) noexcept
    : state_(std::move(state)), segment_(state_->segment.get()) {}

Result<Catalog> Catalog::open(const std::string& runtime_dir, CatalogOptions options) noexcept {
  return client::guarded([&]() -> Result<Catalog> {
    if (runtime_dir.empty()) {
      return {ErrorKind::kInvalidArgument, "the runtime directory's name is empty"};
    }
    ICEBLINK_ASSIGN_OR_RETURN(auto segment, Segment::attach(runtime_dir, options.attach_timeout));
    // In this order: before a fork the reader's locks are taken first, and it tells caches of bytes
    // while it holds them.
    static_cast<void>(client::cache::ForkHandlers::instance());
    ICEBLINK_ASSIGN_OR_RETURN(auto made, client::FileReader::make(options.files));
    const std::shared_ptr<client::FileReader> files = std::move(made);
    ICEBLINK_ASSIGN_OR_RETURN(auto metadata, client::MetadataCache::make(options, files));
    return Catalog(
        std::make_shared<State>(std::move(segment), files, std::move(metadata), options));
  });
}

Result<std::vector<std::string>> Catalog::list_namespaces(const Namespace& parent) const noexcept {
  ICEBLINK_ASSIGN_OR_RETURN(const Snapshot now, snapshot());
  return now.list_namespaces(parent);
}

Result<std::vector<std::string>> Catalog::list_tables(const Namespace& levels) const noexcept {
  ICEBLINK_ASSIGN_OR_RETURN(const Snapshot now, snapshot());
  return now.list_tables(levels);
}

Result<std::vector<std::string>> Catalog::list_views(const Namespace& levels) const noexcept {
  ICEBLINK_ASSIGN_OR_RETURN(const Snapshot now, snapshot());
  return now.list_views(levels);
}

Result<Snapshot> Catalog::snapshot() const noexcept {
  auto pinned = segment_->pin();
  if (!pinned) return pinned.error();
  return Snapshot(std::move(pinned->mapping), pinned->generation);
}

Result<std::uint64_t> Catalog::generation() const noexcept {
  const Segment::Section section(*segment_);
  if (!section.ok()) return section.error();
  return section.generation();
}

Result<std::optional<std::uint64_t>> Catalog::wait_for_change(
    std::uint64_t after_generation, std::chrono::milliseconds timeout) const noexcept {
  // A timeout near the clock's end would overflow as a deadline.
  constexpr std::chrono::milliseconds kForEver = std::chrono::hours(24 * 365);
  return client::guarded(
      [&] { return segment_->wait_for_change(after_generation, std::min(timeout, kForEver)); });
}

CatalogStats Catalog::stats() const noexcept {
  const Segment::Stats mapped = segment_->stats();
  const auto called = state_->daemon.stats();
  const auto reads = shm::sum_reads();
  const auto read = [&](shm::ReadOutcome outcome) {
    return reads[static_cast<std::size_t>(outcome)];
  };
  CatalogStats stats;
  stats.reads.absent_count = read(shm::ReadOutcome::kAbsent);
  stats.reads.metadata_hit_count = read(shm::ReadOutcome::kMetadataHit);
  stats.reads.table_hit_count = read(shm::ReadOutcome::kTableHit);
  stats.reads.found_count =
      read(shm::ReadOutcome::kFound) + stats.reads.metadata_hit_count + stats.reads.table_hit_count;
  stats.wait_count = mapped.wait_count;
  stats.wake_count = mapped.wake_count;
  stats.uses_fences = shm::readers_use_fences();
  stats.attach_count = mapped.attach_count;
  stats.retired_count = mapped.retired_count;
  stats.place_check_count = mapped.place_check_count;
  // relaxed: counts, for showing
  stats.ask_count = state_->ask_count.load(std::memory_order_relaxed);
  stats.ask_failure_count = state_->ask_failure_count.load(std::memory_order_relaxed);
  stats.disagreement_count = state_->disagreement_count.load(std::memory_order_relaxed);
  stats.call_count = called.call_count;
  stats.write_count = called.write_count;
  stats.connect_count = called.connect_count;
  stats.files = state_->files->stats();
  stats.metadata_cache = state_->metadata->stats();
  stats.table_cache = state_->tables.stats();
  return stats;
}

DaemonHealth Catalog::health() const noexcept {
  const Segment::Health seen = segment_->health();
  return {seen.daemon_pid, seen.heartbeat_age, seen.heartbeat_age > state_->options.stale_after};
}

Result<SegmentInfo> Catalog::info() const noexcept {
  return client::guarded([&]() -> Result<SegmentInfo> {
    ICEBLINK_ASSIGN_OR_RETURN(const auto pinned, segment_->pin());
    const shm::ArenaHeader& header = pinned.mapping->arena.header();
    SegmentInfo info;
    info.generation = pinned.generation;
    info.epoch = pinned.mapping->epoch;
    info.base_generation = header.base_generation;
    info.incarnation = header.incarnation;
    info.store_uuid = shm::to_string(header.store_uuid);
    // relaxed, all: for showing
    info.table_count = header.table_count.load(std::memory_order_relaxed);
    info.view_count = header.view_count.load(std::memory_order_relaxed);
    info.namespace_count = header.namespace_count.load(std::memory_order_relaxed);
    info.arena_bytes = header.file_bytes;
    info.used_bytes = header.published_tail.load(std::memory_order_relaxed);
    const auto& version = header.daemon_version;
    const auto end = std::find(version.begin(), version.end(), '\0');
    info.daemon_version.assign(version.begin(), end);
    info.daemon_started_s = header.daemon_started_s;
    return info;
  });
}

const std::string& Catalog::runtime_dir() const noexcept {
  return segment_->runtime_dir();
}

}  // namespace iceblink
