// Commits to several tables, all or nothing (REST specification, "commitTransaction").
#include "daemon/http/error_body.h"
#include "daemon/http/resources.h"
#include "daemon/refusals.h"
#include "iceberg/commit/commit_request.h"

namespace iceblink::daemon::http {
namespace {

// Which of the tables it was. The words that clients look for stay in front.
Response refusal_of(const Refused& refused, const iceberg::TransactionRequest& request) {
  // Load and space are the whole list's, not a table's.
  const ErrorKind kind = refused.error.kind();
  const bool is_of_table =
      kind != ErrorKind::kBusy && kind != ErrorKind::kNoSpace && kind != ErrorKind::kNoDaemon;
  if (!is_of_table || refused.operation_index >= request.table_changes.size()) {
    return commit_refusal_response(refused);
  }
  const std::string table = dotted(*request.table_changes[refused.operation_index].identifier);
  if (refused.error.message().find(table) != std::string_view::npos) {
    return commit_refusal_response(refused);
  }
  Refused named = refused;
  named.error =
      Error(refused.error.kind(), std::string(refused.error.message()) + " (table " + table + ")");
  return commit_refusal_response(named);
}

// On a thread that may take its time.
void submit(const ExchangePtr& exchange) {
  const auto request = iceberg::parse_transaction(exchange->request().body);
  if (!request) return exchange->answer(refusal_response(request.error()));
  std::vector<MetadataChange> changes;
  changes.reserve((*request)->table_changes.size());
  for (std::size_t i = 0; i < (*request)->table_changes.size(); ++i) {
    changes.push_back(
        {*(*request)->table_changes[i].identifier, MetadataChange::TransactionPart{*request, i}});
  }
  exchange->change_metadata(
      std::move(changes), StoredAnswer::Form::kEmpty, [](ChangesDone&) { return Response{}; },
      [request = *request](const Refused& refused) { return refusal_of(refused, *request); });
}

}  // namespace

void commit_transaction(const ExchangePtr& exchange) {
  exchange->on_thread_for_body([exchange] { submit(exchange); });
}

}  // namespace iceblink::daemon::http
