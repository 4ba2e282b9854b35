// Tables and views by name: nothing here opens a metadata file.
#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/http/paging.h"
#include "daemon/http/path_names.h"
#include "daemon/http/resources.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

Result<Response> page_of(Exchange& exchange, ObjectKind kind) {
  const bool is_view = kind == ObjectKind::kView;
  const Listing listing = is_view ? Listing::kViews : Listing::kTables;
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  ICEBLINK_ASSIGN_OR_RETURN(const Namespace levels,
                            exchange.resolve_namespace(*reading, exchange.names().levels));
  ICEBLINK_ASSIGN_OR_RETURN(const PageRequest asked, page_request_of(exchange, listing, levels));
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, reading->find_namespace(levels));
  if (!found) return error_response(no_such_namespace(levels));
  ICEBLINK_ASSIGN_OR_RETURN(const auto page,
                            is_view ? reading->list_views(levels, asked.after, asked.limit)
                                    : reading->list_tables(levels, asked.after, asked.limit));
  std::string prefix = R"({"namespace":)";
  append_json_levels(prefix, levels);
  prefix += R"(,"name":)";
  std::string body = R"({"identifiers":[)";
  for (const TableIdent& ident : page.items) {
    if (&ident != &page.items.front()) body += ',';
    body += prefix;
    append_json_string(body, ident.name);
    body += '}';
  }
  body += ']';
  append_next_page_token(body, listing, levels, page.next_after);
  body += '}';
  return json_response(std::move(body));
}

void list(const ExchangePtr& exchange, ObjectKind kind) {
  auto response = page_of(*exchange, kind);
  exchange->answer(response ? std::move(*response) : error_response(response.error()));
}

void answer_existence(const ExchangePtr& exchange, ObjectKind kind) {
  const auto found = find_path_name(*exchange, kind);
  if (!found) return exchange->answer(error_response(found.error()));
  exchange->answer(found->row ? Response{} : error_response(no_such(kind, found->ident)));
}

Result<Rename> rename_of(const Request& request, ObjectKind kind) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(request.body));
  Rename rename;
  rename.kind = kind;
  ICEBLINK_ASSIGN_OR_RETURN(rename.from, table_ident_member(body, "source"));
  ICEBLINK_ASSIGN_OR_RETURN(rename.to, table_ident_member(body, "destination"));
  return rename;
}

void rename(const ExchangePtr& exchange, ObjectKind kind) {
  auto rename = rename_of(exchange->request(), kind);
  if (!rename) return exchange->answer(refusal_response(rename.error()));
  exchange->commit({std::move(*rename)}, [](const Committed&) { return Response{}; });
}

}  // namespace

void list_tables(const ExchangePtr& exchange) {
  list(exchange, ObjectKind::kTable);
}

void list_views(const ExchangePtr& exchange) {
  list(exchange, ObjectKind::kView);
}

void table_exists(const ExchangePtr& exchange) {
  answer_existence(exchange, ObjectKind::kTable);
}

void view_exists(const ExchangePtr& exchange) {
  answer_existence(exchange, ObjectKind::kView);
}

void rename_table(const ExchangePtr& exchange) {
  rename(exchange, ObjectKind::kTable);
}

void rename_view(const ExchangePtr& exchange) {
  rename(exchange, ObjectKind::kView);
}

}  // namespace iceblink::daemon::http
