// The refusals that clients of the Iceberg REST protocol know by their words. Names in them are
// joined by dots, unquoted.
//
// Thread safety: pure functions.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/object_kind.h>

#include <string>
#include <string_view>

#include "daemon/operation.h"

namespace iceblink::daemon {

[[nodiscard]] std::string dotted(const Namespace& levels);
[[nodiscard]] std::string dotted(const TableIdent& ident);

/// "Table" or "View".
[[nodiscard]] std::string_view name_of(ObjectKind kind) noexcept;
/// A table for a view, and the other way round.
[[nodiscard]] ObjectKind other_than(ObjectKind kind) noexcept;

[[nodiscard]] Refused refused(Refusal refusal, ErrorKind kind, std::string message);
[[nodiscard]] Refused no_such_namespace(const Namespace& levels);
[[nodiscard]] Refused no_such(ObjectKind kind, const TableIdent& ident);
[[nodiscard]] Refused already_exists(ObjectKind kind, const TableIdent& ident);
/// What is to be made is of the other kind than `kind`, which has the name.
[[nodiscard]] Refused has_namesake(ObjectKind kind, const TableIdent& ident);

/// True where both are the same version of one pointer.
[[nodiscard]] bool is_same_pointer(const TableRow& a, const TableRow& b) noexcept;

}  // namespace iceblink::daemon
