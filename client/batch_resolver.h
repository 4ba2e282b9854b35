// Many names at one generation: what caches have of them, and the rest read together.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "client/either_name.h"
#include "client/many_keys.h"
#include "client/metadata_cache.h"
#include "client/table_key.h"
#include "shm/segment.h"

namespace iceblink::client {

/// `T`: what a table's name is resolved to. `Source` has
///   std::shared_ptr<const T> find(const shm::RecordView&, const shm::Mapping&, thread_index)
/// for what a cache has, inside a marked section, which is counted as `kHit`,
///   std::shared_ptr<const T> find_kept(const TableKey&)
/// for what it has kept and this thread has not seen yet, and
///   Result<std::shared_ptr<const T>> make(index, const TableKey&, generation, TableMetadata)
/// for the rest.
template <typename T, typename Source>
class BatchResolver {
 public:
  using Pointer = std::shared_ptr<const T>;

  BatchResolver(std::span<const TableIdent> idents, MetadataCache& metadata, Source source)
      : idents_(idents),
        metadata_(metadata),
        source_(std::move(source)),
        results_(idents.size(), Pointer()) {}

  /// All names, at a generation of `segment`: a later one than at first, where files that were
  /// registered then are no longer what they were. The errors of pin(). Throws std::bad_alloc.
  [[nodiscard]] Result<std::vector<Result<Pointer>>> resolve(shm::Segment& segment) {
    std::optional<std::uint64_t> generation;
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      ICEBLINK_ASSIGN_OR_RETURN(const auto pinned, segment.pin());
      // The same generation again says something else only where another call's load was awaited.
      const bool is_news = pinned.generation != generation || (attempt == 1 && was_awaited_);
      if (!is_news || resolve_at(pinned)) break;
      generation = pinned.generation;
      static_cast<void>(segment.check_place());
    }
    return std::move(results_);
  }

 private:
  /// False: some file is not what this generation says of it. What is read once more may be.
  bool resolve_at(const shm::PinnedView& view) {
    keys_.clear();
    indexes_.clear();
    take_hits(view);
    std::vector<MetadataKey> files;
    files.reserve(keys_.size());
    for (const TableKey& key : keys_) files.push_back(key.metadata());
    std::vector<MetadataCache::Loaded> loaded(keys_.size());
    metadata_.load_many(files, loaded);
    bool all_are_right = true;
    for (std::size_t i = 0; i < loaded.size(); ++i) {
      Result<Pointer>& result = results_[indexes_[i]];
      Result<Value>& value = loaded[i].value;
      if (value) {
        result = source_.make(indexes_[i], keys_[i], view.generation,
                              cache::cast<TableMetadata>(std::move(*value)));
        continue;
      }
      if (MetadataCache::may_have_moved(value.error())) {
        all_are_right = false;
        was_awaited_ = was_awaited_ || loaded[i].was_awaited;
      }
      result = MetadataCache::as_final(value.error());
    }
    return all_are_right;
  }

  void take_hits(const shm::PinnedView& view) {
    find_tables(view.mapping->arena, idents_, view.generation,
                [&](std::size_t index, const Lookup& found) {
                  results_[index] = look(view, index, found);
                  return true;
                });
    is_counted_ = true;
  }
  Result<Pointer> look(const shm::PinnedView& view, std::size_t index, const Lookup& found) {
    if (Pointer value = look_in_cache(view, found)) return value;
    if (found.presence != Presence::kTable) {
      if (found.presence != Presence::kView) {
        ICEBLINK_RETURN_IF_ERROR(explain(found.presence, idents_[index]));
      }
      return no_such_table(idents_[index]);
    }
    TableKey key(found.record, view.mapping->arena);
    if (Pointer kept = source_.find_kept(key)) return kept;
    keys_.push_back(std::move(key));
    indexes_.push_back(index);
    return Pointer();
  }

  /// In a section of its own: what is retired meanwhile does not wait for the whole batch.
  Pointer look_in_cache(const shm::PinnedView& view, const Lookup& found) const {
    using shm::ReadOutcome;
    const shm::MarkedSection section;
    if (!section.ok()) return {};
    Pointer value;
    if (found.presence == Presence::kTable) {
      value = source_.find(found.record, *view.mapping, section.thread_index());
    }
    const ReadOutcome missed = found.record ? ReadOutcome::kFound : ReadOutcome::kAbsent;
    if (!is_counted_) section.count(value ? Source::kHit : missed);
    return value;
  }

  /// Each begins with another generation than the one before, so this many are a storm.
  static constexpr int kAttemptsMax = 16;

  const std::span<const TableIdent> idents_;
  MetadataCache& metadata_;
  Source source_;
  std::vector<Result<Pointer>> results_;
  std::vector<TableKey> keys_;  // not in the cache
  std::vector<std::size_t> indexes_;
  bool was_awaited_ = false;
  bool is_counted_ = false;  // each name, once a call
};

}  // namespace iceblink::client
