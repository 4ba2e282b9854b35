#include "daemon/apply.h"

#include <set>
#include <string>
#include <utility>

#include "daemon/refusals.h"
#include "daemon/stored_location.h"

namespace iceblink::daemon {
namespace {

/// Nothing, or why an operation is refused.
using Verdict = std::optional<Refused>;

Verdict judge_base(const TableIdent& ident, ObjectKind kind, const std::optional<TableRow>& row,
                   const TableRow& base) {
  if (row && is_same_pointer(*row, base)) return std::nullopt;
  return refused(Refusal::kStaleBase, ErrorKind::kConflict,
                 "Cannot commit: " + std::string(name_of(kind)) + " " + dotted(ident) +
                     " has changed meanwhile");
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
  return refused(Refusal::kNone, ErrorKind::kInvalidArgument,
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
  [[nodiscard]] Result<Verdict> operator()(const Register& operation);
  [[nodiscard]] Result<Verdict> operator()(const Drop& operation);
  [[nodiscard]] Result<Verdict> operator()(const CheckPointer& operation);
  [[nodiscard]] Result<Verdict> operator()(const Rename& operation);

  [[nodiscard]] Applied take() && { return std::move(applied_); }

 private:
  [[nodiscard]] Result<bool> exists(const Namespace& levels) const;
  [[nodiscard]] Result<Verdict> judge(const Register& operation) const;
  [[nodiscard]] Result<std::optional<TableRow>> find(ObjectKind kind,
                                                     const TableIdent& ident) const;
  [[nodiscard]] Status put(ObjectKind kind, const TableIdent& ident, const TableRow& row);
  [[nodiscard]] Status erase(ObjectKind kind, const TableIdent& ident);
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
    if (!has_parent) return Verdict(no_such_namespace(parent));
  }
  ICEBLINK_ASSIGN_OR_RETURN(const bool taken, exists(operation.levels));
  if (taken) {
    return Verdict(refused(Refusal::kAlreadyExists, ErrorKind::kAlreadyExists,
                           "Namespace already exists: " + dotted(operation.levels)));
  }
  ICEBLINK_RETURN_IF_ERROR(writing_.put_namespace(operation.levels, operation.properties));
  note(shm::RecordKind::kNamespace, encode(operation.levels));
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const DropNamespace& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(const bool known, exists(operation.levels));
  if (!known) return Verdict(no_such_namespace(operation.levels));
  ICEBLINK_ASSIGN_OR_RETURN(const bool full, writing_.has_children(operation.levels));
  if (full) {
    return Verdict(refused(Refusal::kNamespaceNotEmpty, ErrorKind::kNotEmpty,
                           "Namespace " + dotted(operation.levels) + " is not empty."));
  }
  ICEBLINK_RETURN_IF_ERROR(writing_.erase_namespace(operation.levels));
  note(shm::RecordKind::kNamespaceTombstone, encode(operation.levels));
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const UpdateProperties& operation) {
  for (const auto& name : operation.removals) {
    if (operation.updates.contains(name)) {
      return Verdict(refused(Refusal::kUnprocessable, ErrorKind::kInvalidArgument,
                             "A property key cannot be both set and removed: " + name));
    }
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto before, writing_.find_namespace(operation.levels));
  if (!before) return Verdict(no_such_namespace(operation.levels));
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

Result<Verdict> Applier::operator()(const Register& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(auto verdict, judge(operation));
  if (verdict) return {std::move(verdict)};
  ICEBLINK_RETURN_IF_ERROR(put(operation.kind, operation.ident, operation.row));
  return {std::nullopt};
}

Result<Verdict> Applier::judge(const Register& operation) const {
  const TableIdent& ident = operation.ident;
  if (auto verdict = invalid(ident)) return {std::move(verdict)};
  if (const Status status = validate_location(ident, operation.row.location); !status) {
    return {Refused{Refusal::kNone, status.error(), 0}};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, find(operation.kind, ident));
  if (operation.based_on) return judge_base(ident, operation.kind, row, *operation.based_on);
  ICEBLINK_ASSIGN_OR_RETURN(const bool known, exists(ident.levels));
  if (!known) return Verdict(no_such_namespace(ident.levels));
  const ObjectKind other = other_than(operation.kind);
  ICEBLINK_ASSIGN_OR_RETURN(const auto namesake, find(other, ident));
  if (namesake) return Verdict(has_namesake(other, ident));
  if (operation.expect) {
    if (!row) return Verdict(no_such(operation.kind, ident));
    if (row->location == *operation.expect) return {std::nullopt};
    return Verdict(refused(Refusal::kCommitFailed, ErrorKind::kConflict,
                           "Cannot commit " + dotted(ident) + ": expected metadata location " +
                               *operation.expect + ", but it is " + row->location));
  }
  if (row && operation.if_exists == Register::IfExists::kFail) {
    return Verdict(already_exists(operation.kind, ident));
  }
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const Drop& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, find(operation.kind, operation.ident));
  if (operation.based_on) {
    auto verdict = judge_base(operation.ident, operation.kind, row, *operation.based_on);
    if (verdict) return {std::move(verdict)};
  }
  if (!row) return Verdict(no_such(operation.kind, operation.ident));
  ICEBLINK_RETURN_IF_ERROR(erase(operation.kind, operation.ident));
  return {std::nullopt};
}

Result<Verdict> Applier::operator()(const CheckPointer& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, find(operation.kind, operation.ident));
  return judge_base(operation.ident, operation.kind, row, operation.row);
}

Result<Verdict> Applier::operator()(const Rename& operation) {
  const auto& [from, to, kind] = operation;
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, find(kind, from));
  if (!row) return Verdict(no_such(kind, from));
  if (auto verdict = invalid(to)) return {std::move(verdict)};
  ICEBLINK_ASSIGN_OR_RETURN(const bool known, exists(to.levels));
  if (!known) return Verdict(no_such_namespace(to.levels));
  for (const ObjectKind taken : {ObjectKind::kTable, ObjectKind::kView}) {
    ICEBLINK_ASSIGN_OR_RETURN(const auto namesake, find(taken, to));
    if (!namesake) continue;
    return Verdict(refused(Refusal::kAlreadyExists, ErrorKind::kAlreadyExists,
                           "Cannot rename " + dotted(from) + " to " + dotted(to) + ". " +
                               std::string(name_of(taken)) + " already exists"));
  }
  ICEBLINK_RETURN_IF_ERROR(erase(kind, from));
  ICEBLINK_RETURN_IF_ERROR(put(kind, to, *row));
  return {std::nullopt};
}

Result<bool> Applier::exists(const Namespace& levels) const {
  ICEBLINK_ASSIGN_OR_RETURN(const auto properties, writing_.find_namespace(levels));
  return properties.has_value();
}

Result<std::optional<TableRow>> Applier::find(ObjectKind kind, const TableIdent& ident) const {
  return kind == ObjectKind::kView ? writing_.find_view(ident) : writing_.find_table(ident);
}

Status Applier::put(ObjectKind kind, const TableIdent& ident, const TableRow& row) {
  const bool is_view = kind == ObjectKind::kView;
  ICEBLINK_RETURN_IF_ERROR(is_view ? writing_.put_view(ident, row)
                                   : writing_.put_table(ident, row));
  note(is_view ? shm::RecordKind::kView : shm::RecordKind::kTable, encode(ident), row);
  return Ok{};
}

Status Applier::erase(ObjectKind kind, const TableIdent& ident) {
  const bool is_view = kind == ObjectKind::kView;
  ICEBLINK_RETURN_IF_ERROR(is_view ? writing_.erase_view(ident) : writing_.erase_table(ident));
  note(shm::RecordKind::kTombstone, encode(ident));
  applied_.changes.back().dropped_kind = kind;
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
