#include "daemon/metadata_change.h"

#include <algorithm>
#include <utility>

#include "daemon/log_event.h"
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

}  // namespace

ObjectKind kind_of(const MetadataChange& change) noexcept {
  const bool is_view = std::holds_alternative<ViewCreation>(change.what) ||
                       std::holds_alternative<ViewCommitPtr>(change.what);
  return is_view ? ObjectKind::kView : ObjectKind::kTable;
}

bool is_creation(const MetadataChange& change) noexcept {
  return std::holds_alternative<TableCreation>(change.what) ||
         std::holds_alternative<ViewCreation>(change.what);
}

namespace {

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

Refused cut_off() {
  return {Refusal::kNone, {ErrorKind::kNoDaemon, "the daemon is stopping"}};
}

bool is_same_base(const std::optional<TableRow>& a, const std::optional<TableRow>& b) noexcept {
  return a && b ? is_same_pointer(*a, *b) : a.has_value() == b.has_value();
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

std::vector<Operation> PreparedChanges::operations() const {
  std::vector<Operation> all;
  for (const PreparedChange& change : changes) {
    if (change.operation) all.push_back(*change.operation);
  }
  return all;
}

std::size_t PreparedChanges::file_count() const noexcept {
  return static_cast<std::size_t>(
      std::ranges::count_if(changes, [](const auto& change) { return change.file.has_value(); }));
}

std::variant<PreparedChanges, Refused> ChangeMaker::prepare(
    std::span<const MetadataChange> changes, PreparedChanges earlier,
    const std::atomic<bool>& is_cut_off) const {
  PreparedChanges prepared;
  prepared.changes.reserve(changes.size());
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const auto refuse = [&](Refused refused) {
      refused.operation_index = i;
      refused.generation = prepared.generation;
      return refused;
    };
    const MetadataChange& change = changes[i];
    if (const Status status = validate(change.ident); !status) {
      return refuse(refused_for(status.error()));
    }
    // relaxed: a sign, after which less is done
    if (is_cut_off.load(std::memory_order_relaxed)) return refuse(cut_off());
    auto base = read_base(change.ident, kind_of(change));
    if (!base) return refuse(refused_for(base.error()));
    prepared.generation = std::max(prepared.generation, base->generation);
    const bool stands = base->has_namespace && !base->has_namesake && i < earlier.changes.size() &&
                        is_same_base(earlier.changes[i].base, base->row);
    if (stands) {
      prepared.changes.push_back(std::move(earlier.changes[i]));
      continue;
    }
    auto made = prepare_one(change, std::move(*base), {prepared.generation, is_cut_off});
    if (auto* const refused = std::get_if<Refused>(&made)) return refuse(std::move(*refused));
    prepared.changes.push_back(std::get<PreparedChange>(std::move(made)));
    prepared.new_file_count += prepared.changes.back().file ? 1 : 0;
    // A list has one answer, which shows none of the files.
    if (changes.size() > 1) prepared.changes.back().changed.json = {};
  }
  return prepared;
}

ChangeMaker::Outcome ChangeMaker::prepare_one(const MetadataChange& change, Base base,
                                              const Attempt& attempt) const {
  return is_creation(change) ? create(change, base) : commit(change, std::move(base), attempt);
}

ChangeMaker::Outcome ChangeMaker::create(const MetadataChange& change, const Base& base) const {
  const ObjectKind kind = kind_of(change);
  if (!base.has_namespace) return no_such_namespace(change.ident.levels);
  if (base.row) return already_exists(kind, change.ident);
  if (base.has_namesake) return has_namesake(other_than(kind), change.ident);
  const auto uuid = random_uuid();
  if (!uuid) return refused_for(uuid.error());
  const std::string location = new_location(warehouse_, change.ident, *uuid);
  iceberg::CommitContext context{now_ms(), {}, *uuid, location};
  const auto* const table = std::get_if<TableCreation>(&change.what);
  auto metadata = table != nullptr
                      ? iceberg::create_table(**table, context)
                      : iceberg::create_view(*std::get<ViewCreation>(change.what), context);
  if (!metadata) return refused_for(metadata.error());
  if (table != nullptr && (*table)->stage_create) {
    PreparedChange staged;
    staged.changed.json = std::move(metadata->json);
    return staged;
  }
  return add(change, base, std::move(*metadata));
}

ChangeMaker::Outcome ChangeMaker::commit(const MetadataChange& change, Base base,
                                         const Attempt& attempt) const {
  const ObjectKind kind = kind_of(change);
  const bool is_view = kind == ObjectKind::kView;
  if (!base.row && base.has_namesake && asserts_creation(change)) {
    return has_namesake(other_than(kind), change.ident);
  }
  if (!base.row && !asserts_creation(change)) return no_such(kind, change.ident);
  if (!base.has_namespace) return no_such_namespace(change.ident.levels);
  const auto uuid = random_uuid();
  if (!uuid) return refused_for(uuid.error());
  const std::string location = new_location(warehouse_, change.ident, *uuid);
  iceberg::CommitContext context{now_ms(), {}, *uuid, location};
  std::string text;
  std::optional<ByteBudget::Share> share;
  Result<iceberg::NewMetadata> metadata = iceberg::NewMetadata{};
  if (base.row) {
    auto document = read_document(*base.row, rules_, kind);
    if (!document) return moved_meanwhile(change, *base.row, document.error(), attempt.generation);
    text = std::move(*document);
    share = budget_.take(text.size() * kBytesInHandPerByte);
    if (!share) return refused_for({ErrorKind::kBusy, "too many large commits are in hand"});
    context.base_location = base.row->location;
  }
  // relaxed: a sign, after which less is done
  const auto is_cut_off = [&] { return attempt.is_cut_off.load(std::memory_order_relaxed); };
  if (is_cut_off()) return cut_off();
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
  if (is_cut_off()) return cut_off();
  auto made = metadata->is_unchanged() ? keep(change, std::move(*base.row), std::move(text))
                                       : add(change, base, std::move(*metadata));
  if (auto* const prepared = std::get_if<PreparedChange>(&made); prepared != nullptr && share) {
    prepared->share.emplace(std::move(*share));
  }
  return made;
}

// Its requirements hold of this row: a list is all or nothing of those, too. Alone, it may as well
// have come before whatever moves the pointer.
ChangeMaker::Outcome ChangeMaker::keep(const MetadataChange& change, TableRow row,
                                       std::string text) {
  PreparedChange kept;
  kept.base = row;
  kept.operation = CheckPointer{change.ident, row, kind_of(change)};
  kept.changed = {std::move(row), std::move(text)};
  return kept;
}

bool ChangeMaker::is_old_file_of(const TableRow& row, const std::string& location) const {
  if (row.table_uuid == shm::Id{}) return false;
  const auto file = describe_metadata_file(location, rules_);
  return file && file->row.table_uuid == row.table_uuid;
}

// A file that is gone, or another than was registered, may mean that the pointer has moved.
Refused ChangeMaker::moved_meanwhile(const MetadataChange& change, const TableRow& row,
                                     const Error& error, std::uint64_t& generation) const {
  const auto now = read_base(change.ident, kind_of(change));
  if (now) generation = std::max(generation, now->generation);
  if (now && (!now->row || !is_same_pointer(*now->row, row))) {
    return refused(Refusal::kStaleBase, ErrorKind::kConflict, error.message());
  }
  return refused_for(error);
}

Refused ChangeMaker::unreadable(const TableRow& row, const Error& error) {
  return refused_for({error.kind(), row.location + ": " + error.message()});
}

void ChangeMaker::measure(const NewMetadataFile& file) const {
  metrics_.observe(Timed::kMetadataWrite, file.times().write);
  metrics_.observe(Timed::kMetadataSync, file.times().sync);
  if (file.times().sync < kSlowSync) return;
  metrics_.count(Counted::kSlowSync);
  const auto sync = std::chrono::duration_cast<std::chrono::milliseconds>(file.times().sync);
  log_event(level::warn, "slow sync",
            {{"what", "metadata"}, {"file", file.row().location}, {"duration_ms", sync.count()}});
}

ChangeMaker::Outcome ChangeMaker::add(const MetadataChange& change, const Base& base,
                                      iceberg::NewMetadata metadata) const {
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
  measure(*file);
  Register operation;
  operation.ident = change.ident;
  operation.row = file->row();
  operation.kind = kind_of(change);
  operation.based_on = base.row;
  PreparedChange made;
  made.base = base.row;
  made.changed = {file->row(), std::move(metadata.json)};
  made.operation = std::move(operation);
  made.file.emplace(std::move(*file));
  made.old_files = std::move(metadata.files_to_delete);
  return made;
}

}  // namespace iceblink::daemon
