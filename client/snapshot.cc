#include <iceblink/snapshot.h>

#include "client/guard.h"
#include "client/listing.h"
#include "client/lookup.h"
#include "client/many_keys.h"
#include "client/messages.h"
#include "client/preparing.h"
#include "shm/attachment.h"

namespace iceblink {
namespace {

using client::Lookup;
using client::Presence;

// The way of what is not simply there.
template <typename Identifier>
[[gnu::noinline]] Status explain(const Lookup& found, const Identifier& identifier) noexcept {
  return client::guarded([&]() -> Status {
    if (found.presence == Presence::kCorrupt) return client::damaged(format(identifier));
    return client::check(identifier);
  });
}

template <typename Identifier>
inline Result<bool> exists(const Lookup& found, Presence wanted,
                           const Identifier& identifier) noexcept {
  if (found.presence == wanted) return true;
  if (found.presence == Presence::kTable || found.presence == Presence::kView) return false;
  if (found.presence == Presence::kAbsent && client::is_plainly_valid(identifier)) return false;
  if (const Status status = explain(found, identifier); !status) return status.error();
  return false;
}

// Apart, so that the way of what is there stays short.
[[gnu::noinline]] Result<std::optional<TableView>> nothing_at(const TableIdent& ident,
                                                              shm::RecordView miss) noexcept {
  const Lookup found = client::lookup_of(miss);
  const bool is_absent = found.presence == Presence::kAbsent && client::is_plainly_valid(ident);
  if (!is_absent) ICEBLINK_RETURN_IF_ERROR(explain(found, ident));
  return std::optional<TableView>();
}

inline bool is_object(const Lookup& found) noexcept {
  return found.presence == Presence::kTable || found.presence == Presence::kView;
}

}  // namespace

std::array<std::uint8_t, 16> TableView::table_uuid() const noexcept {
  return record_->table_uuid;
}

std::array<std::uint8_t, 16> TableView::metadata_fingerprint() const noexcept {
  return record_->metadata_fingerprint;
}

Snapshot::Snapshot(std::shared_ptr<const shm::Mapping> mapping, std::uint64_t generation) noexcept
    : mapping_(std::move(mapping)), arena_(&mapping_->arena), generation_(generation) {}

Result<std::optional<TableView>> Snapshot::find(const TableIdent& ident) const noexcept {
  const shm::RecordView record = client::find_exact_inline(*arena_, ident, generation_);
  if (record) [[likely]]
    return std::optional(TableViewMaker::make(record));
  return nothing_at(ident, record);
}

Result<std::optional<TableView>> Snapshot::find(const PreparedKey& key) const noexcept {
  const Lookup found = client::find_table(*arena_, key, generation_);
  if (is_object(found)) [[likely]]
    return std::optional(TableViewMaker::make(found.record));
  if (found.presence == Presence::kCorrupt) {
    return client::guarded([&]() -> Result<std::optional<TableView>> {
      return client::damaged(client::name_of(key));
    });
  }
  return std::optional<TableView>();
}

Status Snapshot::find_many(std::span<const TableIdent> idents,
                           std::span<std::optional<TableView>> found) const noexcept {
  if (found.size() != idents.size()) {
    return {ErrorKind::kInvalidArgument, "find_many: both spans must have one length"};
  }
  Status status = Ok{};
  client::find_tables(*arena_, idents, generation_, [&](std::size_t index, const Lookup& lookup) {
    if (is_object(lookup)) {
      found[index] = TableViewMaker::make(lookup.record);
      return true;
    }
    found[index].reset();
    if (lookup.presence == Presence::kAbsent && client::is_plainly_valid(idents[index]))
      return true;
    status = explain(lookup, idents[index]);
    return status.ok();
  });
  return status;
}

Result<bool> Snapshot::table_exists(const TableIdent& ident) const noexcept {
  return exists(client::find_table(*arena_, ident, generation_), Presence::kTable, ident);
}

Result<bool> Snapshot::view_exists(const TableIdent& ident) const noexcept {
  return exists(client::find_table(*arena_, ident, generation_), Presence::kView, ident);
}

Result<bool> Snapshot::namespace_exists(const Namespace& levels) const noexcept {
  return exists(client::find_namespace(*arena_, levels, generation_), Presence::kNamespace, levels);
}

Result<std::vector<std::string>> Snapshot::list_namespaces(const Namespace& parent) const noexcept {
  return client::guarded([&] { return client::names_of_children(*arena_, parent, generation_); });
}

Result<std::vector<std::string>> Snapshot::list_tables(const Namespace& levels) const noexcept {
  return client::guarded(
      [&] { return client::names_of_kind(*arena_, levels, shm::RecordKind::kTable, generation_); });
}

Result<std::vector<std::string>> Snapshot::list_views(const Namespace& levels) const noexcept {
  return client::guarded(
      [&] { return client::names_of_kind(*arena_, levels, shm::RecordKind::kView, generation_); });
}

Result<PreparedKey> Snapshot::prepare(const TableIdent& ident) const noexcept {
  return client::guarded([&] { return client::prepare(ident, arena_->hash_seed()); });
}

}  // namespace iceblink
