// Takes a table out of the catalog, with all that was committed to it, and leaves its files (REST
// specification, "unregisterTable").
#include "daemon/http/error_body.h"
#include "daemon/http/load_result.h"
#include "daemon/http/path_names.h"
#include "daemon/http/resources.h"
#include "daemon/metadata_document.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

/// How often it begins anew because the pointer moved under it.
constexpr unsigned kAttemptsMax = 100;

/// Reads what it answers, then drops exactly that.
class Unregistration : public std::enable_shared_from_this<Unregistration> {
 public:
  explicit Unregistration(ExchangePtr exchange) : exchange_(std::move(exchange)) {}

  void begin() {
    ++attempts_;
    exchange_->on_file_thread([self = shared_from_this()] { self->read(); });
  }

 private:
  void read() {
    auto found = find_path_name(*exchange_, ObjectKind::kTable);
    if (!found) return exchange_->answer(refusal_response(found.error()));
    if (!found->row) {
      return exchange_->answer(error_response(no_such(ObjectKind::kTable, found->ident)));
    }
    auto metadata = read_document(*found->row, exchange_->services().metadata_rules);
    if (!metadata) return on_unreadable(*found, metadata.error());
    row_ = std::move(*found->row);
    metadata_ = std::move(*metadata);
    exchange_->submit_then(
        {Drop{std::move(found->ident), ObjectKind::kTable, row_}},
        [self = shared_from_this()](const CommitAnswer& answer) { self->go_on(answer); },
        [row = row_](const Committed&) {
          StoredAnswer stored;
          stored.status = 200;
          stored.form = StoredAnswer::Form::kUnregistered;
          stored.row = row;
          return stored;
        });
  }

  // A file that is gone or another may mean that the pointer has moved meanwhile.
  void on_unreadable(const FoundName& before, const Error& error) {
    const auto now = find_path_name(*exchange_, ObjectKind::kTable);
    const bool has_moved = now && (!now->row || !is_same_pointer(*now->row, *before.row));
    if (has_moved && attempts_ < kAttemptsMax) return begin();
    exchange_->answer(commit_refusal_response(Refused{Refusal::kNone, error, 0}));
  }

  void go_on(const CommitAnswer& answer) {
    if (const auto* const refused = std::get_if<Refused>(&answer)) {
      const bool is_stale = refused->refusal == Refusal::kStaleBase;
      return is_stale && attempts_ < kAttemptsMax ? begin()
                                                  : exchange_->answer(error_response(*refused));
    }
    exchange_->answer(metadata_response(row_, std::move(metadata_), ResultConfig::kNone));
  }

  const ExchangePtr exchange_;
  TableRow row_;
  std::string metadata_;
  unsigned attempts_ = 0;
};

}  // namespace

void unregister_table(const ExchangePtr& exchange) {
  std::make_shared<Unregistration>(exchange)->begin();
}

}  // namespace iceblink::daemon::http
