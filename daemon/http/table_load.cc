// Tables with their metadata: load and register. The file's bytes are answered as they are, not
// parsed and written anew.
#include <spdlog/spdlog.h>

#include "daemon/http/error_body.h"
#include "daemon/http/etag.h"
#include "daemon/http/json_body.h"
#include "daemon/http/resources.h"
#include "daemon/http/table_register.h"
#include "daemon/metadata_document.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

/// How often a load begins anew because the pointer moved under it.
constexpr int kLoadAttemptsMax = 3;

struct FoundTable {
  TableIdent ident;
  std::optional<TableRow> row;
};

Result<FoundTable> find_path_table(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  FoundTable found;
  ICEBLINK_ASSIGN_OR_RETURN(found.ident, exchange.resolve_table(*reading));
  ICEBLINK_ASSIGN_OR_RETURN(found.row, reading->find_table(found.ident));
  return found;
}

Result<SnapshotMode> snapshot_mode_of(const Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto text, exchange.query("snapshots"));
  if (!text || text->empty() || *text == "all") return SnapshotMode::kAll;
  if (*text == "refs") return SnapshotMode::kRefs;
  return {ErrorKind::kInvalidArgument, "snapshots '" + *text + "' is not all or refs"};
}

Response table_response(const std::string& location, std::optional<std::string> metadata,
                        std::string etag) {
  std::string head = R"({"metadata-location":)";
  append_json_string(head, location);
  Response response = json_response({});
  if (metadata) {
    head += R"(,"metadata":)";
    response.parts = {std::move(head), std::move(*metadata), R"(,"config":{}})"};
  } else {
    response.parts = {std::move(head), R"(,"config":{}})"};
  }
  response.etag = std::move(etag);
  return response;
}

Response failed_load(const TableIdent& ident, const Error& error) {
  // What is wrong with the file is not the client's doing, whatever its kind says elsewhere.
  switch (error.kind()) {
    case ErrorKind::kNotFound:
    case ErrorKind::kNotAllowed:
    case ErrorKind::kUnsupported:
    case ErrorKind::kBusy:
      return error_response(error);
    case ErrorKind::kOutOfMemory:
      return error_response({ErrorKind::kBusy, error.message()});
    default:
      spdlog::error("table {}: {}", format(ident), error.message());
      return error_response({500, "InternalServerError"}, error.message());
  }
}

// On a file thread. A file that is gone or not the one registered may mean that the pointer has
// moved meanwhile (rule 31): then the fresh one is loaded.
void finish_load(const ExchangePtr& exchange, const TableIdent& ident, TableRow row,
                 SnapshotMode mode) {
  for (int attempt = 1;; ++attempt) {
    auto document = read_document(row, exchange->services().metadata_rules);
    if (document) {
      return exchange->answer(
          table_response(row.location, std::move(*document), etag_of(row, mode)));
    }
    auto fresh = find_path_table(*exchange);
    if (!fresh) return exchange->answer(error_response(fresh.error()));
    if (!fresh->row)
      return exchange->answer(error_response(no_such(ObjectKind::kTable, fresh->ident)));
    if (attempt == kLoadAttemptsMax || is_same_pointer(*fresh->row, row)) {
      return exchange->answer(failed_load(ident, document.error()));
    }
    row = std::move(*fresh->row);
  }
}

void finish_register(const ExchangePtr& exchange, RegisterRequest request) {
  std::optional<std::string> metadata;
  if (request.verification == Verification::kReadFile) {
    auto document = verify_and_fill(request.operation, exchange->services().metadata_rules);
    if (!document) return exchange->answer(refusal_response(document.error()));
    metadata = std::move(*document);
  }
  auto row = std::make_shared<TableRow>(request.operation.row);
  auto text = std::make_shared<std::optional<std::string>>(std::move(metadata));
  exchange->commit({std::move(request.operation)}, [row, text](const Committed& committed) {
    row->generation = committed.generation;
    return table_response(row->location, std::move(*text), etag_of(*row, SnapshotMode::kAll));
  });
}

Result<RegisterRequest> request_of(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(exchange.request().body));
  TableIdent ident;
  ICEBLINK_ASSIGN_OR_RETURN(ident.name, required_string(body, "name"));
  if (is_ambiguous(exchange.names().levels)) {
    ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
    ICEBLINK_ASSIGN_OR_RETURN(ident.levels,
                              exchange.resolve_namespace(*reading, exchange.names().levels));
  } else {
    ICEBLINK_ASSIGN_OR_RETURN(ident.levels,
                              decode_namespace_segment(exchange.names().levels, PlusMeans::kSpace));
  }
  ICEBLINK_RETURN_IF_ERROR(validate(ident));
  return register_request_of(body, std::move(ident));
}

// Why there is no need to read a file. The commit judges again.
Result<std::optional<Response>> early_refusal(Exchange& exchange, const Register& operation) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  const TableIdent& ident = operation.ident;
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, reading->find_namespace(ident.levels));
  if (!found) return std::optional(error_response(no_such_namespace(ident.levels)));
  if (operation.if_exists != Register::IfExists::kFail) return std::optional<Response>{};
  ICEBLINK_ASSIGN_OR_RETURN(const auto row, reading->find_table(ident));
  if (!row) return std::optional<Response>{};
  return std::optional(error_response(already_exists(ObjectKind::kTable, ident)));
}

}  // namespace

void load_table(const ExchangePtr& exchange) {
  const auto mode = snapshot_mode_of(*exchange);
  if (!mode) return exchange->answer(error_response(mode.error()));
  auto found = find_path_table(*exchange);
  if (!found) return exchange->answer(error_response(found.error()));
  if (!found->row)
    return exchange->answer(error_response(no_such(ObjectKind::kTable, found->ident)));
  if (!exchange->request().if_none_match.empty()) {
    std::string etag = etag_of(*found->row, *mode);
    if (etag_matches(exchange->request().if_none_match, etag)) {
      Response unchanged;
      unchanged.status = 304;
      unchanged.etag = std::move(etag);
      return exchange->answer(std::move(unchanged));
    }
  }
  if (auto text = read_document_at_once(*found->row, exchange->services().metadata_rules)) {
    return exchange->answer(
        table_response(found->row->location, std::move(*text), etag_of(*found->row, *mode)));
  }
  exchange->on_file_thread([exchange, ident = std::move(found->ident), row = std::move(*found->row),
                            mode = *mode] { finish_load(exchange, ident, row, mode); });
}

void register_table(const ExchangePtr& exchange) {
  auto request = request_of(*exchange);
  if (!request) return exchange->answer(refusal_response(request.error()));
  auto refused = early_refusal(*exchange, request->operation);
  if (!refused) return exchange->answer(refusal_response(refused.error()));
  if (*refused) return exchange->answer(std::move(**refused));
  exchange->on_file_thread(
      [exchange, request = std::move(*request)] { finish_register(exchange, request); });
}

}  // namespace iceblink::daemon::http
