// Metadata files that are there already, registered as tables and views.
#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/http/load_result.h"
#include "daemon/http/path_names.h"
#include "daemon/http/resources.h"
#include "daemon/http/table_register.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

Result<RegisterRequest> request_of(Exchange& exchange, ObjectKind kind) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(exchange.request().body));
  TableIdent ident;
  ICEBLINK_ASSIGN_OR_RETURN(ident.name, required_string(body, "name"));
  ICEBLINK_ASSIGN_OR_RETURN(ident.levels, path_namespace(exchange));
  ICEBLINK_RETURN_IF_ERROR(validate(ident));
  return kind == ObjectKind::kView ? view_register_request_of(body, std::move(ident))
                                   : register_request_of(body, std::move(ident));
}

// Why there is no need to read a file. The commit judges again.
Result<std::optional<Refused>> early_refusal(Exchange& exchange, const Register& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  const TableIdent& ident = operation.ident;
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, reading->find_namespace(ident.levels));
  if (!found) return std::optional(no_such_namespace(ident.levels));
  const ObjectKind other = other_than(operation.kind);
  ICEBLINK_ASSIGN_OR_RETURN(const auto namesake, find_row(*reading, other, ident));
  if (namesake) return std::optional(has_namesake(other, ident));
  if (operation.if_exists != Register::IfExists::kFail) return std::optional<Refused>{};
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, find_row(*reading, operation.kind, ident));
  if (!row) return std::optional<Refused>{};
  return std::optional(already_exists(operation.kind, ident));
}

// On a file thread.
void finish(const ExchangePtr& exchange, RegisterRequest request) {
  const MetadataFileRules& rules = exchange->services().metadata_rules;
  std::optional<std::string> metadata;
  if (request.verification == Verification::kReadFile) {
    auto document = verify_and_fill(request.operation, rules);
    if (!document) return exchange->answer(refusal_response(document.error()));
    metadata = std::move(*document);
  } else if (const auto admitted = admit_unread(request.operation, rules); !admitted) {
    return exchange->answer(refusal_response(admitted.error()));
  }
  const bool is_view = request.operation.kind == ObjectKind::kView;
  const auto row = std::make_shared<TableRow>(request.operation.row);
  const auto text = std::make_shared<std::optional<std::string>>(std::move(metadata));
  exchange->commit(
      {std::move(request.operation)},
      [row, text](const Committed& committed) {
        row->generation = committed.generation;
        return tagged_response(*row, std::move(*text), ResultConfig::kEmpty);
      },
      [row, is_view](const Committed& committed) {
        StoredAnswer stored;
        stored.status = 200;
        stored.form = is_view ? StoredAnswer::Form::kView : StoredAnswer::Form::kTable;
        stored.row = *row;
        stored.row.generation = committed.generation;
        return stored;
      });
}

void register_object(const ExchangePtr& exchange, ObjectKind kind) {
  auto request = request_of(*exchange, kind);
  if (!request) return exchange->answer(refusal_response(request.error()));
  auto refused = early_refusal(*exchange, request->operation);
  if (!refused) return exchange->answer(refusal_response(refused.error()));
  if (*refused) return exchange->answer(error_response(**refused));
  exchange->on_file_thread(
      [exchange, request = std::move(*request)] { finish(exchange, request); });
}

}  // namespace

void register_table(const ExchangePtr& exchange) {
  register_object(exchange, ObjectKind::kTable);
}

void register_view(const ExchangePtr& exchange) {
  register_object(exchange, ObjectKind::kView);
}

}  // namespace iceblink::daemon::http
