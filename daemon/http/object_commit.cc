// Tables and views that are made, and commits to them.
#include "daemon/http/error_body.h"
#include "daemon/http/load_result.h"
#include "daemon/http/path_names.h"
#include "daemon/http/resources.h"
#include "daemon/refusals.h"
#include "iceberg/commit/commit_request.h"

namespace iceblink::daemon::http {
namespace {

// Creations say their name in the body, their namespace in the path.
Result<TableIdent> new_name(Exchange& exchange, std::string_view name) {
  TableIdent ident;
  ICEBLINK_ASSIGN_OR_RETURN(ident.levels, path_namespace(exchange));
  ident.name = name;
  ICEBLINK_RETURN_IF_ERROR(validate(ident));
  return ident;
}

// What a commit is about. A body that says it, too, decides which reading of '+' is meant.
Result<TableIdent> committed_name(Exchange& exchange, ObjectKind kind,
                                  const std::optional<TableIdent>& in_body) {
  if (!in_body) return path_name(exchange, kind);
  for (const PlusMeans plus : {PlusMeans::kSpace, PlusMeans::kPlus}) {
    ICEBLINK_ASSIGN_OR_RETURN(const TableIdent in_path, exchange.decode_name(plus));
    if (in_path == *in_body) return in_path;
  }
  ICEBLINK_ASSIGN_OR_RETURN(const TableIdent in_path, exchange.decode_name(PlusMeans::kSpace));
  return {ErrorKind::kInvalidArgument, "'identifier' in the body, " + dotted(*in_body) +
                                           ", is not what the path names: " + dotted(in_path)};
}

void change(const ExchangePtr& exchange, MetadataChange change, StoredAnswer::Form form,
            ResultConfig config) {
  std::vector<MetadataChange> changes;
  changes.push_back(std::move(change));
  exchange->change_metadata(
      std::move(changes), form,
      [config](ChangesDone& done) {
        ChangedMetadata& changed = done.changed.front();
        return tagged_response(changed.row, std::move(changed.json), config);
      },
      commit_refusal_response);
}

// On a thread that may take its time.
template <typename Request>
void create(const ExchangePtr& exchange, Result<std::shared_ptr<const Request>> request,
            StoredAnswer::Form form) {
  if (!request) return exchange->answer(refusal_response(request.error()));
  auto ident = new_name(*exchange, (*request)->name);
  if (!ident) return exchange->answer(refusal_response(ident.error()));
  change(exchange, {std::move(*ident), std::move(*request)}, form, ResultConfig::kEmpty);
}

template <typename Request>
void commit(const ExchangePtr& exchange, Result<std::shared_ptr<const Request>> request,
            ObjectKind kind) {
  if (!request) return exchange->answer(refusal_response(request.error()));
  auto ident = committed_name(*exchange, kind, (*request)->commit.identifier);
  if (!ident) return exchange->answer(refusal_response(ident.error()));
  const bool is_view = kind == ObjectKind::kView;
  change(exchange, {std::move(*ident), std::move(*request)},
         is_view ? StoredAnswer::Form::kView : StoredAnswer::Form::kTable,
         is_view ? ResultConfig::kEmpty : ResultConfig::kNone);
}

}  // namespace

void create_table(const ExchangePtr& exchange) {
  exchange->on_thread_for_body([exchange] {
    auto request = iceberg::parse_table_creation(exchange->request().body);
    // What is staged is nowhere but in its answer.
    const bool is_staged = request && (*request)->stage_create;
    create(exchange, std::move(request),
           is_staged ? StoredAnswer::Form::kJson : StoredAnswer::Form::kTable);
  });
}

void create_view(const ExchangePtr& exchange) {
  exchange->on_thread_for_body([exchange] {
    create(exchange, iceberg::parse_view_creation(exchange->request().body),
           StoredAnswer::Form::kView);
  });
}

void commit_table(const ExchangePtr& exchange) {
  exchange->on_thread_for_body([exchange] {
    commit(exchange, iceberg::parse_table_commit(exchange->request().body), ObjectKind::kTable);
  });
}

void commit_view(const ExchangePtr& exchange) {
  exchange->on_thread_for_body([exchange] {
    commit(exchange, iceberg::parse_view_commit(exchange->request().body), ObjectKind::kView);
  });
}

}  // namespace iceblink::daemon::http
