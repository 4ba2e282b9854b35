// Tables and views with their metadata: the file's bytes are answered as they are, not parsed and
// written anew, unless less than all of it is asked for.
#include "daemon/http/error_body.h"
#include "daemon/http/etag.h"
#include "daemon/http/load_result.h"
#include "daemon/http/path_names.h"
#include "daemon/http/resources.h"
#include "daemon/metadata_document.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

/// How often a load begins anew because the pointer moved under it.
constexpr int kLoadAttemptsMax = 3;

Result<SnapshotMode> snapshot_mode_of(const Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto text, exchange.query("snapshots"));
  if (!text || text->empty() || *text == "all") return SnapshotMode::kAll;
  if (*text == "refs") return SnapshotMode::kRefs;
  return {ErrorKind::kInvalidArgument, "snapshots '" + *text + "' is not all or refs"};
}

// On a file thread. A file that is gone or not the one registered may mean that the pointer has
// moved meanwhile (rule 31): then the fresh one is loaded.
void finish_load(const ExchangePtr& exchange, ObjectKind kind, const TableIdent& ident,
                 TableRow row, SnapshotMode mode) {
  for (int attempt = 1;; ++attempt) {
    auto metadata = read_representation(row, kind, mode, exchange->services().metadata_rules);
    if (metadata) {
      return exchange->answer(
          tagged_response(row, std::move(*metadata), ResultConfig::kEmpty, mode));
    }
    auto fresh = find_path_name(*exchange, kind);
    if (!fresh) return exchange->answer(error_response(fresh.error()));
    if (!fresh->row) return exchange->answer(error_response(no_such(kind, fresh->ident)));
    if (attempt == kLoadAttemptsMax || is_same_pointer(*fresh->row, row)) {
      return exchange->answer(failed_load(kind, ident, metadata.error()));
    }
    row = std::move(*fresh->row);
  }
}

void load(const ExchangePtr& exchange, ObjectKind kind, SnapshotMode mode) {
  auto found = find_path_name(*exchange, kind);
  if (!found) return exchange->answer(error_response(found.error()));
  if (!found->row) return exchange->answer(error_response(no_such(kind, found->ident)));
  if (!exchange->request().if_none_match.empty()) {
    std::string etag = etag_of(*found->row, mode);
    if (etag_matches(exchange->request().if_none_match, etag)) {
      Response unchanged;
      unchanged.status = 304;
      unchanged.etag = std::move(etag);
      return exchange->answer(std::move(unchanged));
    }
  }
  if (mode == SnapshotMode::kAll) {
    Services& services = exchange->services();
    auto text = read_document_at_once(*found->row, services.metadata_rules, services.documents);
    if (text) {
      return exchange->answer(tagged_response(*found->row, std::move(text), ResultConfig::kEmpty));
    }
  }
  exchange->on_file_thread([exchange, kind, ident = std::move(found->ident),
                            row = std::move(*found->row),
                            mode] { finish_load(exchange, kind, ident, row, mode); });
}

}  // namespace

void load_table(const ExchangePtr& exchange) {
  const auto mode = snapshot_mode_of(*exchange);
  if (!mode) return exchange->answer(error_response(mode.error()));
  load(exchange, ObjectKind::kTable, *mode);
}

void load_view(const ExchangePtr& exchange) {
  load(exchange, ObjectKind::kView, SnapshotMode::kAll);
}

}  // namespace iceblink::daemon::http
