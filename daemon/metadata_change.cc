#include "daemon/metadata_change.h"

#include <algorithm>
#include <utility>

#include "daemon/metadata_document.h"
#include "daemon/new_location.h"
#include "daemon/random.h"
#include "daemon/refusals.h"
#include "daemon/stored_location.h"
#include "daemon/wall_clock.h"
#include "iceberg/byte_buffer.h"
#include "iceberg/commit/new_metadata.h"
#include "iceberg/metadata_parser.h"

namespace iceblink::daemon {
namespace {

using TableCreation = std::shared_ptr<const iceberg::TableCreationRequest>;
using TableCommitPtr = std::shared_ptr<const iceberg::TableCommitRequest>;
using ViewCreation = std::shared_ptr<const iceberg::ViewCreationRequest>;
using ViewCommitPtr = std::shared_ptr<const iceberg::ViewCommitRequest>;

ObjectKind kind_of(const MetadataChange& change) noexcept {
  const bool is_view = std::holds_alternative<ViewCreation>(change.what) ||
                       std::holds_alternative<ViewCommitPtr>(change.what);
  return is_view ? ObjectKind::kView : ObjectKind::kTable;
}

bool is_creation(const MetadataChange& change) noexcept {
  return std::holds_alternative<TableCreation>(change.what) ||
         std::holds_alternative<ViewCreation>(change.what);
}

const iceberg::TableCommit& table_commit_of(const MetadataChange& change) {
  if (const auto* const alone = std::get_if<TableCommitPtr>(&change.what)) {
    return (*alone)->commit;
  }
  const auto& part = std::get<MetadataChange::TransactionPart>(change.what);
  return part.request->table_changes[part.index];
}

bool asserts_creation(const MetadataChange& change) {
  if (is_creation(change) || kind_of(change) == ObjectKind::kView) return false;
  return std::ranges::any_of(table_commit_of(change).requirements, [](const auto& requirement) {
    return std::holds_alternative<iceberg::AssertCreate>(requirement);
  });
}

/// Of a commit, for each byte of its base: the text, what is parsed of it, and the next text.
constexpr std::uint64_t kBytesInHandPerByte = 5;

/// With its slash.
std::string directory_of(const std::string& location) {
  return location.substr(0, location.rfind('/') + 1);
}

// In words of the commit: nothing was done, and a client must be able to tell.
Refused refused_for(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kConflict:
      return {Refusal::kCommitFailed, error};
    case ErrorKind::kCorrupt:
    case ErrorKind::kTooLarge:
      return {Refusal::kNone, {ErrorKind::kInvalidArgument, error.message()}};
    case ErrorKind::kOutOfMemory:
      return {Refusal::kNone, {ErrorKind::kBusy, error.message()}};
    default:
      return {Refusal::kNone, error};
  }
}

}  // namespace

/// What stands in the catalog under a name, and in its file.
struct ChangeMaker::Base {
  std::optional<TableRow> row;
  bool has_namespace = false;
  bool has_namesake = false;  // of the other kind
  std::uint64_t generation = 0;
};

bool is_lost_race(const Refused& refused, std::span<const MetadataChange> changes) noexcept {
  if (refused.refusal == Refusal::kStaleBase) return true;
  // The requirement of this one says it in its own words, once the new base is read.
  return refused.refusal == Refusal::kAlreadyExists && refused.operation_index < changes.size() &&
         asserts_creation(changes[refused.operation_index]);
}

Result<ChangeMaker::Base> ChangeMaker::read_base(const TableIdent& ident, ObjectKind kind) const {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, store_.read());
  Base base;
  base.generation = reading->generation();
  ICEBLINK_ASSIGN_OR_RETURN(auto table, reading->find_table(ident));
  ICEBLINK_ASSIGN_OR_RETURN(auto view, reading->find_view(ident));
  ICEBLINK_ASSIGN_OR_RETURN(const auto properties, reading->find_namespace(ident.levels));
  base.has_namespace = properties.has_value();
  const bool is_view = kind == ObjectKind::kView;
  base.row = is_view ? std::move(view) : std::move(table);
  base.has_namesake = is_view ? table.has_value() : view.has_value();
  return base;
}

std::variant<PreparedChanges, Refused> ChangeMaker::prepare(
    std::span<const MetadataChange> changes) const {
  PreparedChanges prepared;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (auto refused = prepare_one(changes[i], prepared)) {
      refused->operation_index = i;
      refused->generation = prepared.generation;
      return std::move(*refused);
    }
    // A list has one answer, which shows none of the files.
    if (changes.size() > 1) prepared.changed.back().json = {};
  }
  return prepared;
}

std::optional<Refused> ChangeMaker::prepare_one(const MetadataChange& change,
                                                PreparedChanges& prepared) const {
  if (const Status status = validate(change.ident); !status) return refused_for(status.error());
  auto base = read_base(change.ident, kind_of(change));
  if (!base) return refused_for(base.error());
  prepared.generation = std::max(prepared.generation, base->generation);
  return is_creation(change) ? create(change, *base, prepared)
                             : commit(change, std::move(*base), prepared);
}

std::optional<Refused> ChangeMaker::create(const MetadataChange& change, const Base& base,
                                           PreparedChanges& prepared) const {
  const ObjectKind kind = kind_of(change);
  if (!base.has_namespace) return no_such_namespace(change.ident.levels);
  if (base.row) return already_exists(kind, change.ident);
  if (base.has_namesake) return has_namesake(other_than(kind), change.ident);
  iceberg::CommitContext context;
  context.now_ms = now_ms();
  const auto uuid = random_uuid();
  if (!uuid) return refused_for(uuid.error());
  context.fresh_uuid = *uuid;
  const std::string location = new_location(warehouse_, change.ident, context.fresh_uuid);
  context.default_location = location;
  const auto* const table = std::get_if<TableCreation>(&change.what);
  auto metadata = table != nullptr
                      ? iceberg::create_table(**table, context)
                      : iceberg::create_view(*std::get<ViewCreation>(change.what), context);
  if (!metadata) return refused_for(metadata.error());
  if (table != nullptr && (*table)->stage_create) {
    prepared.changed.push_back({TableRow{}, std::move(metadata->json)});
    return std::nullopt;
  }
  return add(change, base, std::move(*metadata), prepared);
}

std::optional<Refused> ChangeMaker::commit(const MetadataChange& change, Base base,
                                           PreparedChanges& prepared) const {
  const ObjectKind kind = kind_of(change);
  const bool is_view = kind == ObjectKind::kView;
  if (!base.row && base.has_namesake && asserts_creation(change)) {
    return has_namesake(other_than(kind), change.ident);
  }
  if (!base.row && !asserts_creation(change)) return no_such(kind, change.ident);
  if (!base.has_namespace) return no_such_namespace(change.ident.levels);
  iceberg::CommitContext context;
  context.now_ms = now_ms();
  const auto uuid = random_uuid();
  if (!uuid) return refused_for(uuid.error());
  context.fresh_uuid = *uuid;
  const std::string location = new_location(warehouse_, change.ident, context.fresh_uuid);
  context.default_location = location;
  std::string text;
  Result<iceberg::NewMetadata> metadata = iceberg::NewMetadata{};
  if (base.row) {
    auto document = read_document(*base.row, rules_, kind);
    if (!document) return moved_meanwhile(change, *base.row, document.error(), prepared);
    text = std::move(*document);
    auto share = budget_.take(text.size() * kBytesInHandPerByte);
    if (!share) return refused_for({ErrorKind::kBusy, "too many large commits are in hand"});
    prepared.shares.push_back(std::move(*share));
    context.base_location = base.row->location;
  }
  const MetadataLimits limits{rules_.stored_bytes_max, rules_.inflated_bytes_max};
  if (is_view) {
    const auto parsed = iceberg::parse_view_metadata(iceberg::ByteBuffer(text), limits);
    if (!parsed) return unreadable(*base.row, parsed.error());
    metadata =
        iceberg::commit_view(**parsed, std::get<ViewCommitPtr>(change.what)->commit, context);
  } else if (base.row) {
    const auto parsed = iceberg::parse_table_metadata(iceberg::ByteBuffer(text), limits);
    if (!parsed) return unreadable(*base.row, parsed.error());
    metadata = iceberg::commit_table(parsed->get(), table_commit_of(change), context);
  } else {
    metadata = iceberg::commit_table(nullptr, table_commit_of(change), context);
  }
  if (!metadata) return refused_for(metadata.error());
  if (metadata->is_unchanged())
    return keep(change, std::move(*base.row), std::move(text), prepared);
  return add(change, base, std::move(*metadata), prepared);
}

// Its requirements hold of this row: a list is all or nothing of those, too. Alone, it may as well
// have come before whatever moves the pointer.
std::optional<Refused> ChangeMaker::keep(const MetadataChange& change, TableRow row,
                                         std::string text, PreparedChanges& prepared) {
  prepared.operations.emplace_back(CheckPointer{change.ident, row, kind_of(change)});
  prepared.changed.push_back({std::move(row), std::move(text)});
  return std::nullopt;
}

// A file that is gone, or another than was registered, may mean that the pointer has moved.
Refused ChangeMaker::moved_meanwhile(const MetadataChange& change, const TableRow& row,
                                     const Error& error, PreparedChanges& prepared) const {
  const auto now = read_base(change.ident, kind_of(change));
  if (now) prepared.generation = std::max(prepared.generation, now->generation);
  if (now && (!now->row || !is_same_pointer(*now->row, row))) {
    return refused(Refusal::kStaleBase, ErrorKind::kConflict, error.message());
  }
  return refused_for(error);
}

Refused ChangeMaker::unreadable(const TableRow& row, const Error& error) {
  return refused_for({error.kind(), row.location + ": " + error.message()});
}

std::optional<Refused> ChangeMaker::add(const MetadataChange& change, const Base& base,
                                        iceberg::NewMetadata metadata,
                                        PreparedChanges& prepared) const {
  if (metadata.json.size() > rules_.inflated_bytes_max) {
    return refused(Refusal::kNone, ErrorKind::kInvalidArgument,
                   "The metadata of " + dotted(change.ident) + " would have " +
                       std::to_string(metadata.json.size()) + " bytes, it may have " +
                       std::to_string(rules_.inflated_bytes_max));
  }
  if (const Status status = validate_location(change.ident, metadata.location); !status) {
    return refused_for(status.error());
  }
  const std::uint64_t version = base.row ? next_metadata_version(base.row->location) : 0;
  auto file = NewMetadataFile::write(metadata, version, roots_);
  if (!file) return refused_for(file.error());
  Register operation;
  operation.ident = change.ident;
  operation.row = file->row();
  operation.kind = kind_of(change);
  operation.based_on = base.row;
  prepared.moved.push_back(prepared.changed.size());
  prepared.changed.push_back({file->row(), std::move(metadata.json)});
  prepared.operations.emplace_back(std::move(operation));
  prepared.files.push_back(std::move(*file));
  const std::string own = directory_of(prepared.changed.back().row.location);
  for (auto& old : metadata.files_to_delete) {
    if (directory_of(old) == own) prepared.files_to_delete.push_back(std::move(old));
  }
  return std::nullopt;
}

}  // namespace iceblink::daemon
