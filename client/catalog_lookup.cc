// Reads of single names and of many. What hits stays here; what is absent goes the long way.
#include <boost/json/parse.hpp>

#include "client/catalog_state.h"
#include "client/either_name.h"
#include "client/guard.h"
#include "client/lookup.h"
#include "client/many_keys.h"
#include "client/messages.h"
#include "client/preparing.h"
#include "client/wire.h"

namespace iceblink {

using client::Lookup;
using client::Presence;
using shm::ReadOutcome;
using shm::Segment;

namespace {

using client::explain;
using client::find_either;
using client::heartbeat_of;
using client::ident_of;

bool is_surely_valid(const TableIdent& ident) noexcept {
  return client::is_plainly_valid(ident);
}
bool is_surely_valid(const PreparedKey&) noexcept {
  return true;
}

bool is_object(Presence presence) noexcept {
  return presence == Presence::kTable || presence == Presence::kView;
}

/// What a call that asked for many names found of them, told at its end.
class BatchCount {
 public:
  BatchCount() = default;
  ~BatchCount() {
    shm::ThreadSlot* const slot = shm::thread_slot();
    if (slot == nullptr) return;
    shm::count_reads(*slot, ReadOutcome::kFound, found_);
    shm::count_reads(*slot, ReadOutcome::kAbsent, absent_);
  }
  BatchCount(const BatchCount&) = delete;
  BatchCount& operator=(const BatchCount&) = delete;

  void add(const Lookup& lookup) noexcept { ++(lookup.record ? found_ : absent_); }

 private:
  std::uint64_t found_ = 0;
  std::uint64_t absent_ = 0;
};

std::string path_of(const TableIdent& ident, shm::RecordKind wanted) {
  return wanted == shm::RecordKind::kView ? client::view_path(ident) : client::table_path(ident);
}

}  // namespace

template <typename Key>
inline Result<bool> Catalog::State::exists(Segment& segment, State& state, const Key& key,
                                           shm::RecordKind wanted) noexcept {
  shm::RecordView record;
  std::uint64_t heartbeat_ns = 0;
  {
    const Segment::Section section(segment);
    if (!section.ok()) [[unlikely]]
      return section.error();
    record = find_either(section.arena(), key, section.generation());
    if (record) [[likely]] {
      section.count(ReadOutcome::kFound);
      return record.kind() == wanted;
    }
    section.count(ReadOutcome::kAbsent);
    heartbeat_ns = heartbeat_of(section);
  }
  return exists_otherwise(state, key, wanted, record.miss(), heartbeat_ns);
}

// Apart, so that the way of what is there keeps nothing in memory for it.
template <typename Key>
[[gnu::noinline]] Result<bool> Catalog::State::exists_otherwise(
    State& state, const Key& key, shm::RecordKind wanted, shm::FindStatus miss,
    std::uint64_t heartbeat_ns) noexcept {
  const bool is_valid = is_surely_valid(key);
  const bool is_absent = miss == shm::FindStatus::kAbsent;
  if (is_absent && is_valid && !state.second_opinion.take_turn(heartbeat_ns)) return false;
  return client::guarded([&]() -> Result<bool> {
    const TableIdent ident = ident_of(key);
    ICEBLINK_RETURN_IF_ERROR(explain(is_absent ? Presence::kAbsent : Presence::kCorrupt, ident));
    // The turn is taken, unless the name took the long way to be found valid.
    if (!is_valid && !state.second_opinion.take_turn(heartbeat_ns)) return false;
    return state.daemon_knows(path_of(ident, wanted));
  });
}

template <typename Key>
inline Result<std::string> Catalog::State::resolve(Segment& segment, State& state,
                                                   const Key& key) noexcept {
  return client::guarded([&]() -> Result<std::string> {
    Presence presence = Presence::kAbsent;
    std::uint64_t heartbeat_ns = 0;
    {
      const Segment::Section section(segment);
      if (!section.ok()) [[unlikely]]
        return section.error();
      const Lookup found = client::find_table(section.arena(), key, section.generation());
      presence = found.presence;
      section.count(found.record ? ReadOutcome::kFound : ReadOutcome::kAbsent);
      if (presence == Presence::kTable) [[likely]]
        return std::string(found.record.location());
      heartbeat_ns = heartbeat_of(section);
    }
    const TableIdent ident = ident_of(key);
    if (presence == Presence::kView) return client::no_such_table(ident);
    ICEBLINK_RETURN_IF_ERROR(explain(presence, ident));
    return state.resolve_absent(ident, heartbeat_ns);
  });
}

bool Catalog::State::daemon_knows(const std::string& path) noexcept {
  // relaxed, all: counts, for showing
  ask_count.fetch_add(1, std::memory_order_relaxed);
  const auto answer = client::guarded(
      [&] { return daemon.call({.method = "HEAD", .target = path}, options.ask_deadline); });
  if (answer && client::is_success(*answer)) {
    disagreement_count.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  if (!answer || answer->status != 404) ask_failure_count.fetch_add(1, std::memory_order_relaxed);
  return false;
}

Result<std::string> Catalog::State::resolve_absent(const TableIdent& ident,
                                                   std::uint64_t heartbeat_ns) {
  if (!second_opinion.take_turn(heartbeat_ns) || !daemon_knows(client::table_path(ident))) {
    return client::no_such_table(ident);
  }
  // The daemon answers after it has published: its segment has the table, if it is this one.
  if (segment->check_place().ok()) {
    const Segment::Section section(*segment);
    if (section.ok()) {
      const Lookup found = client::find_table(section.arena(), ident, section.generation());
      if (found.presence == Presence::kTable) return std::string(found.record.location());
    }
  }
  return ask_location(ident);
}

Result<std::string> Catalog::State::ask_location(const TableIdent& ident) {
  const client::Request request{.method = "GET",
                                .target = client::table_path(ident) + "?snapshots=refs"};
  ICEBLINK_ASSIGN_OR_RETURN(const auto answer, daemon.call(request, options.ask_deadline));
  if (!client::is_success(answer)) return client::error_of(request, answer);
  boost::system::error_code failed;
  const auto body = boost::json::parse(answer.body, failed);
  const auto* location =
      !failed && body.is_object() ? body.get_object().if_contains("metadata-location") : nullptr;
  if (location == nullptr || !location->is_string()) {
    return {ErrorKind::kInternal, "GET " + request.target + ": no metadata-location in the answer"};
  }
  return std::string(location->get_string());
}

Result<bool> Catalog::table_exists(const TableIdent& ident) const noexcept {
  return State::exists(*segment_, *state_, ident, shm::RecordKind::kTable);
}

Result<bool> Catalog::table_exists(const PreparedKey& key) const noexcept {
  return State::exists(*segment_, *state_, key, shm::RecordKind::kTable);
}

Result<bool> Catalog::view_exists(const TableIdent& ident) const noexcept {
  return State::exists(*segment_, *state_, ident, shm::RecordKind::kView);
}

Result<bool> Catalog::namespace_exists(const Namespace& levels) const noexcept {
  Presence presence = Presence::kAbsent;
  std::uint64_t heartbeat_ns = 0;
  {
    const Segment::Section section(*segment_);
    if (!section.ok()) return section.error();
    presence = client::find_namespace(section.arena(), levels, section.generation()).presence;
    section.count(presence == Presence::kNamespace ? ReadOutcome::kFound : ReadOutcome::kAbsent);
    heartbeat_ns = heartbeat_of(section);
  }
  if (presence == Presence::kNamespace) return true;
  return client::guarded([&]() -> Result<bool> {
    ICEBLINK_RETURN_IF_ERROR(explain(presence, levels));
    return state_->second_opinion.take_turn(heartbeat_ns) &&
           state_->daemon_knows(client::namespace_path(levels));
  });
}

Result<std::string> Catalog::resolve_location(const TableIdent& ident) const noexcept {
  return State::resolve(*segment_, *state_, ident);
}

Result<std::string> Catalog::resolve_location(const PreparedKey& key) const noexcept {
  return State::resolve(*segment_, *state_, key);
}

Result<std::vector<std::optional<std::string>>> Catalog::resolve_locations(
    std::span<const TableIdent> idents) const noexcept {
  return client::guarded([&]() -> Result<std::vector<std::optional<std::string>>> {
    ICEBLINK_ASSIGN_OR_RETURN(const auto pinned, segment_->pin());
    std::vector<std::optional<std::string>> locations(idents.size());
    Status status = Ok{};
    BatchCount count;
    client::find_tables(pinned.mapping->arena, idents, pinned.generation,
                        [&](std::size_t index, const Lookup& found) {
                          count.add(found);
                          if (found.presence == Presence::kTable) {
                            locations[index].emplace(found.record.location());
                          } else if (found.presence != Presence::kView) {
                            status = explain(found.presence, idents[index]);
                          }
                          return status.ok();
                        });
    if (!status) return status.error();
    return locations;
  });
}

Status Catalog::tables_exist(std::span<const TableIdent> idents,
                             std::span<bool> exist) const noexcept {
  return client::guarded([&]() -> Status {
    if (exist.size() != idents.size()) {
      return {ErrorKind::kInvalidArgument, "tables_exist: both spans must have one length"};
    }
    ICEBLINK_ASSIGN_OR_RETURN(const auto pinned, segment_->pin());
    Status status = Ok{};
    BatchCount count;
    client::find_tables(pinned.mapping->arena, idents, pinned.generation,
                        [&](std::size_t index, const Lookup& found) {
                          count.add(found);
                          exist[index] = found.presence == Presence::kTable;
                          if (is_object(found.presence)) return true;
                          const bool is_absent = found.presence == Presence::kAbsent &&
                                                 client::is_plainly_valid(idents[index]);
                          if (!is_absent) status = explain(found.presence, idents[index]);
                          return status.ok();
                        });
    return status;
  });
}

Result<PreparedKey> Catalog::prepare(const TableIdent& ident) const noexcept {
  return client::guarded([&]() -> Result<PreparedKey> {
    std::uint64_t seed = 0;
    {
      const Segment::Section section(*segment_);
      if (!section.ok()) return section.error();
      seed = section.arena().hash_seed();
    }
    return client::prepare(ident, seed);
  });
}

}  // namespace iceblink
