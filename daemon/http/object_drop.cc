// Drops tables and views; deletes a table's files where that is asked for.
#include <algorithm>
#include <new>
#include <string>

#include "daemon/http/error_body.h"
#include "daemon/http/path_names.h"
#include "daemon/http/resources.h"
#include "daemon/live_pointers.h"
#include "daemon/log_event.h"
#include "daemon/purge.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

/// How often a drop begins anew because the pointer moved under it.
constexpr unsigned kAttemptsMax = 100;

enum class Purge : std::uint8_t { kNo, kYes };

Result<Purge> purge_of(const Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto value, exchange.query("purgeRequested"));
  std::string asked = value.value_or("");
  std::ranges::transform(asked, asked.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  });
  if (asked == "true") return Purge::kYes;
  if (asked.empty() || asked == "false") return Purge::kNo;
  return {ErrorKind::kInvalidArgument, "purgeRequested '" + asked + "' is not true or false"};
}

void drop(const ExchangePtr& exchange, ObjectKind kind) {
  auto ident = path_name(*exchange, kind);
  if (!ident) return exchange->answer(refusal_response(ident.error()));
  exchange->commit({Drop{std::move(*ident), kind}}, [](const Committed&) { return Response{}; });
}

void log_outcome(const TableIdent& ident, const PurgeOutcome& outcome) {
  const bool is_whole = outcome.failed_count + outcome.refused_count == 0;
  log_event(is_whole ? level::info : level::warn, "table purged",
            {{"name", dotted(ident)},
             {"deleted", outcome.removed_count},
             {"failed", outcome.failed_count},
             {"foreign", outcome.refused_count},
             {"message", outcome.first_failure}});
}

// On a thread of its own, when the drop is durable: it stays done whatever becomes of the files.
void delete_files(const Services& services, const TableIdent& ident, const TableRow& row) {
  try {
    const auto live = [&](const std::function<void(const shm::Change&)>& visit) {
      return for_each_pointer(services.store, visit);
    };
    log_outcome(ident, purge_table(row, services.metadata_rules, services.write_roots, live,
                                   services.is_stopping));
  } catch (const std::bad_alloc&) {
    log_event(level::warn, "purge given up",
              {{"name", dotted(ident)}, {"file", row.location}, {"message", "out of memory"}});
  }
}

/// A drop of exactly the table whose files are then deleted.
class PurgingDrop : public std::enable_shared_from_this<PurgingDrop> {
 public:
  explicit PurgingDrop(ExchangePtr exchange) : exchange_(std::move(exchange)) {}

  void begin() {
    ++attempts_;
    auto found = find_path_name(*exchange_, ObjectKind::kTable);
    if (!found) return exchange_->answer(refusal_response(found.error()));
    if (!found->row) {
      return exchange_->answer(error_response(no_such(ObjectKind::kTable, found->ident)));
    }
    ident_ = std::move(found->ident);
    row_ = std::move(*found->row);
    exchange_->submit_then(
        {Drop{ident_, ObjectKind::kTable, row_}},
        [self = shared_from_this()](const CommitAnswer& answer) { self->go_on(answer); },
        Exchange::remember_nothing);
  }

 private:
  void go_on(const CommitAnswer& answer) {
    if (const auto* const refused = std::get_if<Refused>(&answer)) {
      const bool is_stale = refused->refusal == Refusal::kStaleBase;
      return is_stale && attempts_ < kAttemptsMax ? begin()
                                                  : exchange_->answer(error_response(*refused));
    }
    const bool taken = exchange_->services().purges.run([self = shared_from_this()] {
      delete_files(self->exchange_->services(), self->ident_, self->row_);
      self->exchange_->answer(Response{});
    });
    if (taken) return;
    log_event(level::warn, "purge given up",
              {{"name", dotted(ident_)},
               {"file", row_.location},
               {"message", "too many purges are waiting"}});
    exchange_->answer(Response{});
  }

  const ExchangePtr exchange_;
  TableIdent ident_;
  TableRow row_;
  unsigned attempts_ = 0;
};

}  // namespace

void drop_table(const ExchangePtr& exchange) {
  const auto purge = purge_of(*exchange);
  if (!purge) return exchange->answer(refusal_response(purge.error()));
  if (*purge == Purge::kNo) return drop(exchange, ObjectKind::kTable);
  std::make_shared<PurgingDrop>(exchange)->begin();
}

void drop_view(const ExchangePtr& exchange) {
  drop(exchange, ObjectKind::kView);
}

}  // namespace iceblink::daemon::http
