// Parsed metadata: from the cache, where it is there; else the long way to the file.
#include <optional>
#include <type_traits>

#include "client/catalog_state.h"
#include "client/either_name.h"
#include "client/guard.h"
#include "client/wire.h"

namespace iceblink {

using client::Lookup;
using client::MetadataCache;
using client::MetadataKey;
using client::Presence;
using client::TableKey;
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
  std::optional<TableKey> key;  // of a table or view
  std::uint64_t generation = 0;
  std::uint64_t heartbeat_ns = 0;
};

template <typename Key>
Result<Sight> look_up(Segment& segment, const Key& key) {
  const Segment::Section section(segment);
  if (!section.ok()) return section.error();
  const Lookup found = client::find_table(section.arena(), key, section.generation());
  Sight sight{found.presence, {}, section.generation(), client::heartbeat_of(section)};
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
      if (value) [[likely]] {
        section.count(shm::ReadOutcome::kMetadataHit);
        return client::cache::cast<T>(std::move(value));
      }
    }
    section.count(record ? shm::ReadOutcome::kFound : shm::ReadOutcome::kAbsent);
  }
  return client::guarded([&]() -> Result<std::shared_ptr<const T>> {
    ICEBLINK_ASSIGN_OR_RETURN(auto resolved, state.load_document(key, kWanted));
    return client::cache::cast<T>(std::move(resolved.document));
  });
}

template <typename Key>
[[gnu::noinline]] Result<Catalog::State::Resolved> Catalog::State::load_document(
    const Key& key, shm::RecordKind wanted) {
  std::optional<MetadataKey> failed;
  std::optional<Error> failure;
  bool may_repeat = false;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    ICEBLINK_ASSIGN_OR_RETURN(Sight seen, look_up(*segment, key));
    if (!seen.key) {
      const TableIdent ident = client::ident_of(key);
      ICEBLINK_RETURN_IF_ERROR(client::explain(seen.presence, ident));
      ICEBLINK_ASSIGN_OR_RETURN(Resolved asked, load_absent(ident, wanted, seen.heartbeat_ns));
      if (asked.document) return asked;
      continue;
    }
    const MetadataKey& file = seen.key->metadata();
    if (file.is_view() != (wanted == shm::RecordKind::kView)) {
      return no_such(client::ident_of(key), wanted);
    }
    if (failed == file && !std::exchange(may_repeat, false)) break;
    auto [value, was_awaited] = metadata->load(file);
    if (value) return Resolved{std::move(*value), std::move(seen.key), {}, seen.generation};
    if (!MetadataCache::may_have_moved(value.error())) return value.error();
    // The pointer may have moved since it was read. And a load that was under way before this call
    // says nothing of the file as it is now, once.
    may_repeat = was_awaited && !failed;
    failed = file;
    failure = value.error();
    static_cast<void>(segment->check_place());
  }
  if (!failure) return no_such(client::ident_of(key), wanted);
  return MetadataCache::as_final(*failure);
}

Result<Catalog::State::Resolved> Catalog::State::load_absent(const TableIdent& ident,
                                                             shm::RecordKind wanted,
                                                             std::uint64_t heartbeat_ns) {
  if (wanted == shm::RecordKind::kView) {
    if (!second_opinion.take_turn(heartbeat_ns) || !daemon_knows(client::view_path(ident))) {
      return client::no_such_view(ident);
    }
    ICEBLINK_RETURN_IF_ERROR(segment->check_place());
    return Resolved{};
  }
  ICEBLINK_ASSIGN_OR_RETURN(std::string location, resolve_absent(ident, heartbeat_ns));
  ICEBLINK_ASSIGN_OR_RETURN(const Sight seen, look_up(*segment, ident));
  if (seen.key) return Resolved{};
  ICEBLINK_ASSIGN_OR_RETURN(Value document, metadata->read_through(location));
  return Resolved{std::move(document), {}, std::move(location), seen.generation};
}

Result<TableDocument> Catalog::resolve_metadata(const TableIdent& ident) const noexcept {
  return State::resolve_document<TableMetadata>(*segment_, *state_, ident);
}

Result<TableDocument> Catalog::resolve_metadata(const PreparedKey& key) const noexcept {
  return State::resolve_document<TableMetadata>(*segment_, *state_, key);
}

Result<ViewDocument> Catalog::resolve_view_metadata(const TableIdent& ident) const noexcept {
  return State::resolve_document<ViewMetadata>(*segment_, *state_, ident);
}

template Result<Catalog::State::Resolved> Catalog::State::load_document(const TableIdent& key,
                                                                        shm::RecordKind wanted);
template Result<Catalog::State::Resolved> Catalog::State::load_document(const PreparedKey& key,
                                                                        shm::RecordKind wanted);

}  // namespace iceblink
