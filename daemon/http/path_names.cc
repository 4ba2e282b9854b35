#include "daemon/http/path_names.h"

namespace iceblink::daemon::http {

Result<std::optional<TableRow>> find_row(const Store::Reading& reading, ObjectKind kind,
                                         const TableIdent& ident) {
  return kind == ObjectKind::kView ? reading.find_view(ident) : reading.find_table(ident);
}

Result<FoundName> find_path_name(Exchange& exchange, ObjectKind kind) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  FoundName found;
  ICEBLINK_ASSIGN_OR_RETURN(found.ident, exchange.resolve_name(*reading, kind));
  ICEBLINK_ASSIGN_OR_RETURN(found.row, find_row(*reading, kind, found.ident));
  return found;
}

Result<Namespace> path_namespace(Exchange& exchange) {
  const std::string_view raw = exchange.names().levels;
  if (!is_ambiguous(raw)) return exchange.decode_namespace(PlusMeans::kSpace);
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  return exchange.resolve_namespace(*reading, raw);
}

Result<TableIdent> path_name(Exchange& exchange, ObjectKind kind) {
  const RawNames& raw = exchange.names();
  if (!is_ambiguous(raw.levels) && !is_ambiguous(raw.name)) {
    return exchange.decode_name(PlusMeans::kSpace);
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  return exchange.resolve_name(*reading, kind);
}

}  // namespace iceblink::daemon::http
