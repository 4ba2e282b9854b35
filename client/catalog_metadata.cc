// Parsed metadata: from the cache, where it is there; else the long way to the file.
#include <optional>
#include <type_traits>

#include "client/catalog_state.h"
#include "client/either_name.h"
#include "client/guard.h"
#include "client/many_keys.h"
#include "client/wire.h"

namespace iceblink {

using client::Lookup;
using client::MetadataCache;
using client::MetadataKey;
using client::Presence;
using client::Value;
using shm::Segment;

namespace {

/// Each begins with another pointer than the one before, so this many are a table in a storm.
constexpr int kAttemptsMax = 16;

using TableDocument = std::shared_ptr<const TableMetadata>;
using ViewDocument = std::shared_ptr<const ViewMetadata>;

template <typename T>
Result<std::shared_ptr<const T>> typed(Result<Value> value) noexcept {
  if (!value) return value.error();
  return client::cache::cast<T>(std::move(*value));
}

Error no_such(const TableIdent& ident, shm::RecordKind wanted) {
  return wanted == shm::RecordKind::kView ? client::no_such_view(ident)
                                          : client::no_such_table(ident);
}

/// What the segment says of a name now.
struct Sight {
  Presence presence = Presence::kAbsent;
  std::optional<MetadataKey> key;  // of a table or view
  std::uint64_t heartbeat_ns = 0;
};

template <typename Key>
Result<Sight> look_up(Segment& segment, const Key& key) {
  const Segment::Section section(segment);
  if (!section.ok()) return section.error();
  const Lookup found = client::find_table(section.arena(), key, section.generation());
  Sight sight{found.presence, {}, client::heartbeat_of(section)};
  if (found.record) sight.key.emplace(found.record, section.arena());
  return sight;
}

}  // namespace

template <typename T, typename Key>
inline Result<std::shared_ptr<const T>> Catalog::State::resolve_document(Segment& segment,
                                                                         State& state,
                                                                         const Key& key) noexcept {
  constexpr auto kWanted =
      std::is_same_v<T, ViewMetadata> ? shm::RecordKind::kView : shm::RecordKind::kTable;
  {
    const Segment::Section section(segment);
    if (!section.ok()) [[unlikely]]
      return section.error();
    const shm::RecordView record = client::find_either(section.arena(), key, section.generation());
    if (record && record.kind() == kWanted) [[likely]] {
      Value value = state.metadata->find(record, section.mapping(), section.thread_index());
      if (value) [[likely]]
        return client::cache::cast<T>(std::move(value));
    }
  }
  return typed<T>(client::guarded([&] { return state.load_document(key, kWanted); }));
}

template <typename Key>
[[gnu::noinline]] Result<Value> Catalog::State::load_document(const Key& key,
                                                              shm::RecordKind wanted) {
  std::optional<MetadataKey> failed;
  std::optional<Error> failure;
  bool may_repeat = false;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    ICEBLINK_ASSIGN_OR_RETURN(const Sight seen, look_up(*segment, key));
    if (!seen.key) {
      const TableIdent ident = client::ident_of(key);
      ICEBLINK_RETURN_IF_ERROR(client::explain(seen.presence, ident));
      ICEBLINK_ASSIGN_OR_RETURN(Value value, load_absent(ident, wanted, seen.heartbeat_ns));
      if (value) return value;
      continue;
    }
    if (seen.key->is_view() != (wanted == shm::RecordKind::kView)) {
      return no_such(client::ident_of(key), wanted);
    }
    if (failed == seen.key && !std::exchange(may_repeat, false)) break;
    auto [value, was_awaited] = metadata->load(*seen.key);
    if (value || !MetadataCache::may_have_moved(value.error())) return value;
    // The pointer may have moved since it was read. And a load that was under way before this call
    // says nothing of the file as it is now, once.
    may_repeat = was_awaited && !failed;
    failed = seen.key;
    failure = value.error();
    static_cast<void>(segment->check_place());
  }
  if (!failure) return no_such(client::ident_of(key), wanted);
  return MetadataCache::as_final(*failure);
}

Result<Value> Catalog::State::load_absent(const TableIdent& ident, shm::RecordKind wanted,
                                          std::uint64_t heartbeat_ns) {
  if (wanted == shm::RecordKind::kView) {
    if (!second_opinion.take_turn(heartbeat_ns) || !daemon_knows(client::view_path(ident))) {
      return client::no_such_view(ident);
    }
    ICEBLINK_RETURN_IF_ERROR(segment->check_place());
    return Value();
  }
  ICEBLINK_ASSIGN_OR_RETURN(const std::string location, resolve_absent(ident, heartbeat_ns));
  ICEBLINK_ASSIGN_OR_RETURN(const Sight seen, look_up(*segment, ident));
  if (seen.key) return Value();
  return metadata->read_through(location);
}

namespace {

/// Many names at one generation.
class DocumentBatch {
 public:
  DocumentBatch(std::span<const TableIdent> idents, MetadataCache& cache)
      : idents_(idents), cache_(cache), results_(idents.size(), TableDocument()) {}

  /// False: some file is not what this generation says of it. What is read once more may be.
  bool resolve(const shm::PinnedView& view) {
    keys_.clear();
    indexes_.clear();
    take_hits(view);
    std::vector<MetadataCache::Loaded> loaded(keys_.size(), {Value(), false});
    cache_.load_many(keys_, loaded);
    bool all_are_right = true;
    for (std::size_t i = 0; i < loaded.size(); ++i) {
      Result<Value>& value = loaded[i].value;
      if (!value && MetadataCache::may_have_moved(value.error())) {
        all_are_right = false;
        was_awaited_ = was_awaited_ || loaded[i].was_awaited;
        value = MetadataCache::as_final(value.error());
      }
      results_[indexes_[i]] = typed<TableMetadata>(std::move(value));
    }
    return all_are_right;
  }
  [[nodiscard]] bool was_awaited() const noexcept { return was_awaited_; }
  [[nodiscard]] std::vector<Result<TableDocument>> take() { return std::move(results_); }

 private:
  void take_hits(const shm::PinnedView& view) {
    client::find_tables(view.mapping->arena, idents_, view.generation,
                        [&](std::size_t index, const Lookup& found) {
                          results_[index] = look(view, index, found);
                          return true;
                        });
  }
  Result<TableDocument> look(const shm::PinnedView& view, std::size_t index, const Lookup& found) {
    if (found.presence != Presence::kTable) {
      if (found.presence != Presence::kView) {
        ICEBLINK_RETURN_IF_ERROR(client::explain(found.presence, idents_[index]));
      }
      return client::no_such_table(idents_[index]);
    }
    // A section for each: what is retired meanwhile does not wait for the whole batch.
    if (const shm::MarkedSection section; section.ok()) {
      Value value = cache_.find(found.record, *view.mapping, section.thread_index());
      if (value) return client::cache::cast<TableMetadata>(std::move(value));
    }
    keys_.emplace_back(found.record, view.mapping->arena);
    indexes_.push_back(index);
    return TableDocument();
  }

  const std::span<const TableIdent> idents_;
  MetadataCache& cache_;
  std::vector<Result<TableDocument>> results_;
  std::vector<MetadataKey> keys_;  // not in the cache
  std::vector<std::size_t> indexes_;
  bool was_awaited_ = false;
};

}  // namespace

Result<TableDocument> Catalog::resolve_metadata(const TableIdent& ident) const noexcept {
  return State::resolve_document<TableMetadata>(*segment_, *state_, ident);
}

Result<TableDocument> Catalog::resolve_metadata(const PreparedKey& key) const noexcept {
  return State::resolve_document<TableMetadata>(*segment_, *state_, key);
}

Result<ViewDocument> Catalog::resolve_view_metadata(const TableIdent& ident) const noexcept {
  return State::resolve_document<ViewMetadata>(*segment_, *state_, ident);
}

Result<std::vector<Result<TableDocument>>> Catalog::resolve_metadata(
    std::span<const TableIdent> idents) const noexcept {
  return client::guarded([&]() -> Result<std::vector<Result<TableDocument>>> {
    DocumentBatch batch(idents, *state_->metadata);
    std::optional<std::uint64_t> generation;
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      ICEBLINK_ASSIGN_OR_RETURN(const auto pinned, segment_->pin());
      // The same generation again says something else only where another call's load was awaited.
      const bool is_news = pinned.generation != generation || (attempt == 1 && batch.was_awaited());
      if (!is_news || batch.resolve(pinned)) break;
      generation = pinned.generation;
      static_cast<void>(segment_->check_place());
    }
    return batch.take();
  });
}

}  // namespace iceblink
