// Table handles, and what many names at once are resolved to.
#include "client/batch_resolver.h"
#include "client/catalog_state.h"
#include "client/either_name.h"
#include "client/guard.h"

namespace iceblink {

using client::BatchResolver;
using client::TableCache;
using client::TableKey;
using shm::Segment;

namespace {

using MetadataPointer = std::shared_ptr<const TableMetadata>;
using TablePointer = TableCache::Pointer;

/// Of the metadata cache.
struct DocumentSource {
  static constexpr auto kHit = shm::ReadOutcome::kMetadataHit;

  client::MetadataCache& cache;

  [[nodiscard]] MetadataPointer find(const shm::RecordView& record, const shm::Mapping& mapping,
                                     std::uint32_t thread_index) const noexcept {
    return client::cache::cast<TableMetadata>(cache.find(record, mapping, thread_index));
  }
  /// Loading looks there, too.
  [[nodiscard]] static MetadataPointer find_kept(const TableKey& /*key*/) noexcept { return {}; }
  [[nodiscard]] static Result<MetadataPointer> make(std::size_t /*index*/, const TableKey& /*key*/,
                                                    std::uint64_t /*generation*/,
                                                    MetadataPointer metadata) {
    return metadata;
  }
};

/// Of the cache of handles.
struct HandleSource {
  static constexpr auto kHit = shm::ReadOutcome::kTableHit;

  TableCache& cache;
  std::span<const TableIdent> idents;

  [[nodiscard]] TablePointer find(const shm::RecordView& record, const shm::Mapping& mapping,
                                  std::uint32_t thread_index) const noexcept {
    return cache.find(record, mapping, thread_index);
  }
  [[nodiscard]] TablePointer find_kept(const TableKey& key) const noexcept {
    return cache.find_kept(key);
  }
  [[nodiscard]] Result<TablePointer> make(std::size_t index, const TableKey& key,
                                          std::uint64_t generation,
                                          MetadataPointer metadata) const {
    return cache.get(key, idents[index], generation, std::move(metadata));
  }
};

}  // namespace

template <typename Key>
inline Result<TablePointer> Catalog::State::load_table(Segment& segment, State& state,
                                                       const Key& key) noexcept {
  {
    const Segment::Section section(segment);
    if (!section.ok()) [[unlikely]]
      return section.error();
    const shm::RecordView record = client::find_either(section.arena(), key, section.generation());
    if (record && record.kind() == shm::RecordKind::kTable) [[likely]] {
      TablePointer table = state.tables.find(record, section.mapping(), section.thread_index());
      if (table) [[likely]] {
        section.count(shm::ReadOutcome::kTableHit);
        return table;
      }
    }
    section.count(record ? shm::ReadOutcome::kFound : shm::ReadOutcome::kAbsent);
  }
  return client::guarded([&] { return state.make_table(key); });
}

template <typename Key>
TablePointer Catalog::State::find_kept_table(const Key& key) {
  std::optional<TableKey> seen;
  {
    const Segment::Section section(*segment);
    if (!section.ok()) return {};
    const shm::RecordView record = client::find_either(section.arena(), key, section.generation());
    if (!record || record.kind() != shm::RecordKind::kTable) return {};
    seen.emplace(record, section.arena());
  }
  return tables.find_kept(*seen);
}

template <typename Key>
[[gnu::noinline]] Result<TablePointer> Catalog::State::make_table(const Key& key) {
  // Before the metadata, which may be kept no longer than the handle.
  if (TablePointer kept = find_kept_table(key)) return kept;
  ICEBLINK_ASSIGN_OR_RETURN(Resolved resolved, load_document(key, shm::RecordKind::kTable));
  const TableIdent& ident = client::ident_of(key);
  auto document = client::cache::cast<TableMetadata>(std::move(resolved.document));
  if (resolved.key) return tables.get(*resolved.key, ident, resolved.generation, document);
  return tables.make(ident, std::move(resolved.location), resolved.generation, document);
}

Result<TablePointer> Catalog::load_table(const TableIdent& ident) const noexcept {
  return State::load_table(*segment_, *state_, ident);
}

Result<TablePointer> Catalog::load_table(const PreparedKey& key) const noexcept {
  return State::load_table(*segment_, *state_, key);
}

Result<std::vector<Result<TablePointer>>> Catalog::load_tables(
    std::span<const TableIdent> idents) const noexcept {
  return client::guarded([&] {
    return BatchResolver<Table, HandleSource>(idents, *state_->metadata, {state_->tables, idents})
        .resolve(*segment_);
  });
}

Result<std::vector<Result<MetadataPointer>>> Catalog::resolve_metadata(
    std::span<const TableIdent> idents) const noexcept {
  return client::guarded([&] {
    return BatchResolver<TableMetadata, DocumentSource>(idents, *state_->metadata,
                                                        {*state_->metadata})
        .resolve(*segment_);
  });
}

}  // namespace iceblink
