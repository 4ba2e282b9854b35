// What the names in a request's path mean in the catalog.
//
// Errors: kInvalidArgument, naming the bad part; those of the store.
#pragma once

#include <iceblink/identifier.h>
#include <iceblink/object_kind.h>
#include <iceblink/result.h>

#include <optional>

#include "daemon/http/exchange.h"
#include "daemon/store.h"

namespace iceblink::daemon::http {

/// The row of a table or view.
[[nodiscard]] Result<std::optional<TableRow>> find_row(const Store::Reading& reading,
                                                       ObjectKind kind, const TableIdent& ident);

/// A table or view that the path names, in a state it was looked up in.
struct FoundName {
  TableIdent ident;
  std::optional<TableRow> row;
};
[[nodiscard]] Result<FoundName> find_path_name(Exchange& exchange, ObjectKind kind);

/// Of what is to be changed: the catalog is asked only where a '+' needs it, everything else is
/// judged by the commit.
[[nodiscard]] Result<Namespace> path_namespace(Exchange& exchange);
[[nodiscard]] Result<TableIdent> path_name(Exchange& exchange, ObjectKind kind);

}  // namespace iceblink::daemon::http
