#include "daemon/refusals.h"

#include <utility>

namespace iceblink::daemon {

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

std::string_view name_of(ObjectKind kind) noexcept {
  return kind == ObjectKind::kView ? "View" : "Table";
}

ObjectKind other_than(ObjectKind kind) noexcept {
  return kind == ObjectKind::kView ? ObjectKind::kTable : ObjectKind::kView;
}

Refused refused(Refusal refusal, ErrorKind kind, std::string message) {
  return {refusal, Error(kind, std::move(message)), 0};
}

Refused no_such_namespace(const Namespace& levels) {
  return refused(Refusal::kNoSuchNamespace, ErrorKind::kNotFound,
                 "Namespace does not exist: " + dotted(levels));
}

Refused no_such(ObjectKind kind, const TableIdent& ident) {
  return refused(kind == ObjectKind::kView ? Refusal::kNoSuchView : Refusal::kNoSuchTable,
                 ErrorKind::kNotFound,
                 std::string(name_of(kind)) + " does not exist: " + dotted(ident));
}

Refused already_exists(ObjectKind kind, const TableIdent& ident) {
  return refused(Refusal::kAlreadyExists, ErrorKind::kAlreadyExists,
                 std::string(name_of(kind)) + " already exists: " + dotted(ident));
}

Refused has_namesake(ObjectKind kind, const TableIdent& ident) {
  return refused(Refusal::kAlreadyExists, ErrorKind::kAlreadyExists,
                 std::string(name_of(kind)) + " with same name already exists: " + dotted(ident));
}

bool is_same_pointer(const TableRow& a, const TableRow& b) noexcept {
  return a.generation == b.generation && a.location == b.location && a.table_uuid == b.table_uuid &&
         a.metadata_fingerprint == b.metadata_fingerprint;
}

}  // namespace iceblink::daemon
