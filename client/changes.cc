// The change feed: from the arena where it reaches back so far, else from the daemon's log.
#include <boost/json/parse.hpp>
#include <charconv>

#include "client/catalog_state.h"
#include "client/guard.h"
#include "client/messages.h"
#include "client/wire.h"
#include "iceberg/utf8.h"

namespace iceblink {
namespace {

std::string to_hex(std::uint64_t value) {
  char digits[17] = {};
  const auto end = std::to_chars(digits, digits + 16, value, 16).ptr;
  const std::string text(digits, end);
  return std::string(16 - text.size(), '0') + text;
}

Error other_incarnation(std::uint64_t asked, std::uint64_t current) {
  return {ErrorKind::kGone,
          "incarnation " + to_hex(asked) + " is gone: this catalog is " + to_hex(current)};
}

/// What a record is of; a tombstone, of what was there before it.
ObjectKind kind_of(const shm::ArenaView& arena, const shm::RecordView& record) {
  const bool is_tombstone = record.kind() == shm::RecordKind::kTombstone;
  const shm::RecordView told = is_tombstone ? arena.record_at(record.previous_offset()) : record;
  return told && told.kind() == shm::RecordKind::kView ? ObjectKind::kView : ObjectKind::kTable;
}

Result<TableChange> change_of(const shm::ArenaView& arena, const shm::RecordView& record) {
  TableChange change;
  change.generation = record.generation();
  change.op = shm::is_tombstone(record.kind()) ? TableChange::Op::kDrop : TableChange::Op::kPut;
  if (shm::is_namespace_class(record.kind())) {
    change.kind = ObjectKind::kNamespace;
    ICEBLINK_ASSIGN_OR_RETURN(change.levels, decode_namespace(record.key()));
    return change;
  }
  change.kind = kind_of(arena, record);
  ICEBLINK_ASSIGN_OR_RETURN(TableIdent ident, decode_table(record.key()));
  change.levels = std::move(ident.levels);
  change.name = std::move(ident.name);
  if (!is_utf8(record.location())) {
    return {ErrorKind::kCorrupt, "the location of " +
                                     format(TableIdent{change.levels, change.name}) +
                                     " in the segment is not UTF-8"};
  }
  change.metadata_location = std::string(record.location());
  return change;
}

/// Collects whole generations from the arena, until there are enough.
class ArenaFeed {
 public:
  ArenaFeed(const shm::ArenaView& arena, std::uint64_t since, std::uint64_t current)
      : arena_(arena), since_(since), current_(current) {}

  void take(const shm::RecordView& record) {
    if (is_full_ || !status_ || record.generation() <= since_ || record.generation() > current_) {
      return;
    }
    auto& changes = changes_;
    if (changes.size() >= Catalog::kChangesPerCall &&
        changes.back().generation != record.generation()) {
      is_full_ = true;
      return;
    }
    auto change = change_of(arena_, record);
    if (change) {
      changes.push_back(std::move(*change));
    } else {
      status_ = change.error();
    }
  }

  [[nodiscard]] Result<Changes> finish(std::uint64_t incarnation) && {
    ICEBLINK_RETURN_IF_ERROR(status_);
    const std::uint64_t reached = is_full_ ? changes_.back().generation : current_;
    return Changes{{reached, incarnation}, std::move(changes_)};
  }

 private:
  const shm::ArenaView& arena_;
  const std::uint64_t since_;
  const std::uint64_t current_;
  std::vector<TableChange> changes_;
  Status status_ = Ok{};
  bool is_full_ = false;
};

Result<Changes> changes_from_arena(const shm::ArenaView& arena, std::uint64_t since,
                                   std::uint64_t current) {
  ArenaFeed feed(arena, since, current);
  const auto status = arena.visit_changes(
      arena.published_tail(), [&](const shm::RecordView& record) { feed.take(record); });
  if (status == shm::FindStatus::kCorrupt) return client::damaged("changes");
  return std::move(feed).finish(arena.header().incarnation);
}

// ---- The daemon's answer. Whatever is not as it must be is one error.

Error not_understood() {
  return {ErrorKind::kInternal, "GET /iceblink/v1/changes: the answer cannot be understood"};
}

Result<std::uint64_t> number_member(const boost::json::object& object, const char* name) {
  const auto* member = object.if_contains(name);
  if (member == nullptr) return not_understood();
  if (member->is_uint64()) return member->get_uint64();
  if (member->is_int64() && member->get_int64() >= 0) {
    return static_cast<std::uint64_t>(member->get_int64());
  }
  return not_understood();
}

Result<std::string> text_member(const boost::json::object& object, const char* name) {
  const auto* member = object.if_contains(name);
  if (member == nullptr || !member->is_string()) return not_understood();
  return std::string(member->get_string());
}

Result<Namespace> levels_member(const boost::json::object& object) {
  const auto* member = object.if_contains("namespace");
  if (member == nullptr || !member->is_array()) return not_understood();
  Namespace levels;
  for (const auto& level : member->get_array()) {
    if (!level.is_string()) return not_understood();
    levels.emplace_back(level.get_string());
  }
  return levels;
}

Result<TableChange> change_of(const boost::json::value& value) {
  if (!value.is_object()) return not_understood();
  const auto& object = value.get_object();
  TableChange change;
  ICEBLINK_ASSIGN_OR_RETURN(change.generation, number_member(object, "generation"));
  ICEBLINK_ASSIGN_OR_RETURN(const std::string kind, text_member(object, "kind"));
  ICEBLINK_ASSIGN_OR_RETURN(const std::string op, text_member(object, "op"));
  ICEBLINK_ASSIGN_OR_RETURN(change.levels, levels_member(object));
  change.op = op == "drop" ? TableChange::Op::kDrop : TableChange::Op::kPut;
  if (kind == "namespace") {
    change.kind = ObjectKind::kNamespace;
    return change;
  }
  change.kind = kind == "view" ? ObjectKind::kView : ObjectKind::kTable;
  ICEBLINK_ASSIGN_OR_RETURN(change.name, text_member(object, "name"));
  if (object.if_contains("metadata-location") != nullptr) {
    ICEBLINK_ASSIGN_OR_RETURN(change.metadata_location, text_member(object, "metadata-location"));
  }
  return change;
}

Result<Changes> changes_of(const std::string& text) {
  boost::system::error_code failed;
  const auto body = boost::json::parse(text, failed);
  if (failed || !body.is_object()) return not_understood();
  const auto& object = body.get_object();
  Changes found;
  ICEBLINK_ASSIGN_OR_RETURN(found.token.generation, number_member(object, "generation"));
  ICEBLINK_ASSIGN_OR_RETURN(const std::string incarnation, text_member(object, "incarnation"));
  const char* const incarnation_end = incarnation.data() + incarnation.size();
  const auto read =
      std::from_chars(incarnation.data(), incarnation_end, found.token.incarnation, 16);
  if (read.ec != std::errc() || read.ptr != incarnation_end) return not_understood();
  const auto* list = object.if_contains("changes");
  if (list == nullptr || !list->is_array()) return not_understood();
  for (const auto& item : list->get_array()) {
    ICEBLINK_ASSIGN_OR_RETURN(TableChange change, change_of(item));
    found.changes.push_back(std::move(change));
  }
  const auto* more = object.if_contains("more");
  if (more != nullptr && more->is_bool() && more->get_bool() && !found.changes.empty()) {
    found.token.generation = found.changes.back().generation;
  }
  return found;
}

}  // namespace

Result<Changes> Catalog::State::changes_from_log(const ChangeToken& token) {
  std::string target = "/iceblink/v1/changes?since=" + std::to_string(token.generation) +
                       "&limit=" + std::to_string(kChangesPerCall);
  if (token.incarnation != 0) target += "&incarnation=" + to_hex(token.incarnation);
  const client::Request request{.method = "GET", .target = std::move(target)};
  ICEBLINK_ASSIGN_OR_RETURN(const auto answer, daemon.call(request, options.write_deadline));
  if (!client::is_success(answer)) return client::error_of(request, answer);
  return changes_of(answer.body);
}

Result<ChangeToken> Catalog::change_token() const noexcept {
  const shm::Segment::Section section(*segment_);
  if (!section.ok()) return section.error();
  return ChangeToken{section.generation(), section.arena().header().incarnation};
}

Result<Changes> Catalog::changes_since(const ChangeToken& token) const noexcept {
  return client::guarded([&]() -> Result<Changes> {
    ICEBLINK_ASSIGN_OR_RETURN(const auto pinned, segment_->pin());
    const shm::ArenaView& arena = pinned.mapping->arena;
    const std::uint64_t incarnation = arena.header().incarnation;
    if (token.incarnation != 0 && token.incarnation != incarnation) {
      return other_incarnation(token.incarnation, incarnation);
    }
    if (token.generation > pinned.generation) {
      return {ErrorKind::kGone, "generation " + std::to_string(token.generation) +
                                    " is above the current one, " +
                                    std::to_string(pinned.generation)};
    }
    if (token.generation >= arena.base_generation()) {
      return changes_from_arena(arena, token.generation, pinned.generation);
    }
    return state_->changes_from_log(token);
  });
}

}  // namespace iceblink
