#include "daemon/apply.h"

#include <set>
#include <string>
#include <utility>

#include "daemon/stored_location.h"

namespace iceblink::daemon {
namespace {

std::string dotted(const Namespace& levels) {
  std::string out;
  for (const auto& level : levels) {
    if (!out.empty()) out += '.';
    out += level;
  }
  return out;
}

std::string dotted(const TableIdent& ident) {
  return dotted(ident.levels) + '.' + ident.name;
}

/// Nothing, or why an operation is refused.
using Verdict = std::optional<Refused>;

Verdict refuse(Refusal refusal, ErrorKind kind, std::string message) {
  return Refused{refusal, Error(kind, std::move(message)), 0};
}
Verdict no_such_namespace(const Namespace& levels) {
  return refuse(Refusal::kNoSuchNamespace, ErrorKind::kNotFound,
                "Namespace does not exist: " + dotted(levels));
}
Verdict no_such_table(const TableIdent& ident) {
  return refuse(Refusal::kNoSuchTable, ErrorKind::kNotFound,
                "Table does not exist: " + dotted(ident));
}
Verdict already_exists(std::string message) {
  return refuse(Refusal::kAlreadyExists, ErrorKind::kAlreadyExists, std::move(message));
}
template <typename Name>
Verdict invalid(const Name& name) {
  const Status status = validate(name);
  if (status.ok()) return std::nullopt;
  return Refused{Refusal::kNone, status.error(), 0};
}

std::size_t bytes_of(const Properties& properties) {
  std::size_t bytes = 0;
  for (const auto& [name, value] : properties) bytes += name.size() + value.size();
  return bytes;
}

// `before`: what is large already may become smaller.
Verdict too_large(const Namespace& levels, const Properties& after, const Properties& before) {
  const std::size_t bytes = bytes_of(after);
  if (bytes <= kPropertiesBytesMax || bytes < bytes_of(before)) return std::nullopt;
  return refuse(Refusal::kNone, ErrorKind::kInvalidArgument,
                "The properties of namespace " + dotted(levels) + " would have " +
                    std::to_string(bytes) + " bytes, they may have " +
                    std::to_string(kPropertiesBytesMax));
}

/// One list's way through a transaction. Each operation is judged whole before it writes.
class Applier {
 public:
  explicit Applier(Store::Writing& writing) : writing_(writing) {}

  [[nodiscard]] Result<Verdict> operator()(const CreateNamespace& operation);
  [[nodiscard]] Result<Verdict> operator()(const DropNamespace& operation);
  [[nodiscard]] Result<Verdict> operator()(const UpdateProperties& operation);
  [[nodiscard]] Result<Verdict> operator()(const RegisterTable& operation);
  [[nodiscard]] Result<Verdict> operator()(const DropTable& operation);
  [[nodiscard]] Result<Verdict> operator()(const RenameTable& operation);

  [[nodiscard]] Applied take() && { return std::move(applied_); }

 private:
  [[nodiscard]] Result<bool> exists(const Namespace& levels) const;
  [[nodiscard]] Result<Verdict> judge(const RegisterTable& operation) const;
  [[nodiscard]] Status put_table(const TableIdent& ident, const TableRow& row);
  [[nodiscard]] Status erase_table(const TableIdent& ident);
  void note(shm::RecordKind kind, std::string key, TableRow row = {});

  Store::Writing& writing_;
  Applied applied_;
};

Result<Verdict> Applier::operator()(const CreateNamespace& operation) {
  if (auto verdict = invalid(operation.levels)) return {std::move(verdict)};
  if (auto verdict = too_large(operation.levels, operation.properties, {})) {
    return {std::move(verdict)};
  }
  if (operation.levels.size() > 1) {
    const Namespace parent(operation.levels.begin(), operation.levels.end() - 1);
    ICEBLINK_ASSIGN_OR_RETURN(const bool has_parent, exists(parent));
    if (!has_parent) return no_such_namespace(parent);
  }
  ICEBLINK_ASSIGN_OR_RETURN(const bool taken, exists(operation.levels));
  if (taken) return already_exists("Namespace already exists: " + dotted(operation.levels));
  ICEBLINK_RETURN_IF_ERROR(writing_.put_namespace(operation.levels, operation.properties));
  note(shm::RecordKind::kNamespace, encode(operation.levels));
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const DropNamespace& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(const bool known, exists(operation.levels));
  if (!known) return no_such_namespace(operation.levels);
  ICEBLINK_ASSIGN_OR_RETURN(const bool full, writing_.has_children(operation.levels));
  if (full) {
    return refuse(Refusal::kNamespaceNotEmpty, ErrorKind::kNotEmpty,
                  "Namespace " + dotted(operation.levels) + " is not empty.");
  }
  ICEBLINK_RETURN_IF_ERROR(writing_.erase_namespace(operation.levels));
  note(shm::RecordKind::kNamespaceTombstone, encode(operation.levels));
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const UpdateProperties& operation) {
  for (const auto& name : operation.removals) {
    if (operation.updates.contains(name)) {
      return refuse(Refusal::kUnprocessable, ErrorKind::kInvalidArgument,
                    "A property key cannot be both set and removed: " + name);
    }
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto before, writing_.find_namespace(operation.levels));
  if (!before) return no_such_namespace(operation.levels);
  Properties after = *before;
  PropertiesChange change;
  for (const auto& name : std::set(operation.removals.begin(), operation.removals.end())) {
    (after.erase(name) > 0 ? change.removed : change.missing).push_back(name);
  }
  for (const auto& [name, value] : operation.updates) {
    after.insert_or_assign(name, value);
    change.updated.push_back(name);
  }
  if (auto verdict = too_large(operation.levels, after, *before)) return {std::move(verdict)};
  applied_.properties = std::move(change);
  if (after == *before) return {std::nullopt};
  ICEBLINK_RETURN_IF_ERROR(writing_.put_namespace(operation.levels, after));
  note(shm::RecordKind::kNamespace, encode(operation.levels));
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const RegisterTable& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(auto verdict, judge(operation));
  if (verdict) return {std::move(verdict)};
  ICEBLINK_RETURN_IF_ERROR(put_table(operation.ident, operation.row));
  return {std::nullopt};
}

Result<Verdict> Applier::judge(const RegisterTable& operation) const {
  const TableIdent& ident = operation.ident;
  if (auto verdict = invalid(ident)) return {std::move(verdict)};
  if (const Status status = validate_location(ident, operation.row.location); !status) {
    return {Refused{Refusal::kNone, status.error(), 0}};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const bool known, exists(ident.levels));
  if (!known) return no_such_namespace(ident.levels);
  ICEBLINK_ASSIGN_OR_RETURN(const auto view, writing_.find_view(ident));
  if (view) return already_exists("View with same name already exists: " + dotted(ident));
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, writing_.find_table(ident));
  if (operation.expect) {
    if (!row) return no_such_table(ident);
    if (row->location == *operation.expect) return {std::nullopt};
    return refuse(Refusal::kCommitFailed, ErrorKind::kConflict,
                  "Cannot commit " + dotted(ident) + ": expected metadata location " +
                      *operation.expect + ", but it is " + row->location);
  }
  if (row && operation.if_exists == RegisterTable::IfExists::kFail) {
    return already_exists("Table already exists: " + dotted(ident));
  }
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const DropTable& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, writing_.find_table(operation.ident));
  if (!row) return no_such_table(operation.ident);
  ICEBLINK_RETURN_IF_ERROR(erase_table(operation.ident));
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const RenameTable& operation) {
  const auto& [from, to] = operation;
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, writing_.find_table(from));
  if (!row) return no_such_table(from);
  if (auto verdict = invalid(to)) return {std::move(verdict)};
  ICEBLINK_ASSIGN_OR_RETURN(const bool known, exists(to.levels));
  if (!known) return no_such_namespace(to.levels);
  const std::string cannot = "Cannot rename " + dotted(from) + " to " + dotted(to) + ". ";
  ICEBLINK_ASSIGN_OR_RETURN(const auto table, writing_.find_table(to));
  if (table) return already_exists(cannot + "Table already exists");
  ICEBLINK_ASSIGN_OR_RETURN(const auto view, writing_.find_view(to));
  if (view) return already_exists(cannot + "View already exists");
  ICEBLINK_RETURN_IF_ERROR(erase_table(from));
  ICEBLINK_RETURN_IF_ERROR(put_table(to, *row));
  return {std::nullopt};
}

Result<bool> Applier::exists(const Namespace& levels) const {
  ICEBLINK_ASSIGN_OR_RETURN(const auto properties, writing_.find_namespace(levels));
  return properties.has_value();
}

Status Applier::put_table(const TableIdent& ident, const TableRow& row) {
  ICEBLINK_RETURN_IF_ERROR(writing_.put_table(ident, row));
  note(shm::RecordKind::kTable, encode(ident), row);
  return Ok{};
}

Status Applier::erase_table(const TableIdent& ident) {
  ICEBLINK_RETURN_IF_ERROR(writing_.erase_table(ident));
  note(shm::RecordKind::kTombstone, encode(ident));
  return Ok{};
}

void Applier::note(shm::RecordKind kind, std::string key, TableRow row) {
  row.generation = writing_.generation();
  applied_.changes.push_back({writing_.generation(), kind, std::move(key), std::move(row)});
}

}  // namespace

Result<ApplyOutcome> apply_operations(Store::Writing& writing,
                                      std::span<const Operation> operations) {
  // A single operation writes only once it is judged, and needs nothing undone.
  const bool is_part = operations.size() > 1;
  if (is_part) ICEBLINK_RETURN_IF_ERROR(writing.begin_part());
  Applier applier(writing);
  for (std::size_t i = 0; i < operations.size(); ++i) {
    ICEBLINK_ASSIGN_OR_RETURN(auto verdict, std::visit(applier, operations[i]));
    if (!verdict) continue;
    if (is_part) ICEBLINK_RETURN_IF_ERROR(writing.abort_part());
    verdict->operation_index = i;
    return ApplyOutcome(*std::move(verdict));
  }
  if (is_part) ICEBLINK_RETURN_IF_ERROR(writing.commit_part());
  return ApplyOutcome(std::move(applier).take());
}

}  // namespace iceblink::daemon
