// Tables by name: nothing here opens a metadata file.
#include <algorithm>

#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/http/paging.h"
#include "daemon/http/resources.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

Result<Response> list_of_tables(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  ICEBLINK_ASSIGN_OR_RETURN(const Namespace levels,
                            exchange.resolve_namespace(*reading, exchange.names().levels));
  ICEBLINK_ASSIGN_OR_RETURN(const PageRequest asked,
                            page_request_of(exchange, Listing::kTables, levels));
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, reading->find_namespace(levels));
  if (!found) return error_response(no_such_namespace(levels));
  ICEBLINK_ASSIGN_OR_RETURN(const auto page,
                            reading->list_tables(levels, asked.after, asked.limit));
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
  append_next_page_token(body, Listing::kTables, levels, page.next_after);
  body += '}';
  return json_response(std::move(body));
}

Result<Response> existence_of_table(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  ICEBLINK_ASSIGN_OR_RETURN(const TableIdent ident, exchange.resolve_table(*reading));
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, reading->find_table(ident));
  return row ? Response{} : error_response(no_such(ObjectKind::kTable, ident));
}

Result<Drop> drop_of(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(auto purge, exchange.query("purgeRequested"));
  std::string asked = purge.value_or("");
  std::transform(asked.begin(), asked.end(), asked.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (asked == "true") {
    return {ErrorKind::kUnsupported,
            "purgeRequested=true is not supported: this catalog deletes no files. Nothing was "
            "dropped; drop without purge, and delete the files yourself"};
  }
  if (!asked.empty() && asked != "false") {
    return {ErrorKind::kInvalidArgument, "purgeRequested '" + asked + "' is not true or false"};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  ICEBLINK_ASSIGN_OR_RETURN(TableIdent ident, exchange.resolve_table(*reading));
  return Drop{std::move(ident)};
}

Result<Rename> rename_of(const Request& request) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(request.body));
  Rename rename;
  ICEBLINK_ASSIGN_OR_RETURN(rename.from, table_ident_member(body, "source"));
  ICEBLINK_ASSIGN_OR_RETURN(rename.to, table_ident_member(body, "destination"));
  return rename;
}

}  // namespace

void list_tables(const ExchangePtr& exchange) {
  auto response = list_of_tables(*exchange);
  exchange->answer(response ? std::move(*response) : error_response(response.error()));
}

void table_exists(const ExchangePtr& exchange) {
  auto response = existence_of_table(*exchange);
  exchange->answer(response ? std::move(*response) : error_response(response.error()));
}

void drop_table(const ExchangePtr& exchange) {
  auto drop = drop_of(*exchange);
  if (!drop) return exchange->answer(refusal_response(drop.error()));
  exchange->commit({std::move(*drop)}, [](const Committed&) { return Response{}; });
}

void rename_table(const ExchangePtr& exchange) {
  auto rename = rename_of(exchange->request());
  if (!rename) return exchange->answer(refusal_response(rename.error()));
  exchange->commit({std::move(*rename)}, [](const Committed&) { return Response{}; });
}

}  // namespace iceblink::daemon::http
