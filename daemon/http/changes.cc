// The change feed: what happened after a generation, from the commit log.
#include <array>
#include <charconv>

#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/http/resources.h"

namespace iceblink::daemon::http {
namespace {

constexpr std::size_t kChangesDefault = 1000;
constexpr std::size_t kChangesMax = 10'000;

struct ChangesRequest {
  std::uint64_t since = 0;
  std::optional<std::uint64_t> incarnation;
  std::size_t limit = kChangesDefault;
};

Result<std::optional<std::uint64_t>> number_query(const Exchange& exchange, std::string_view name,
                                                  int base) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto text, exchange.query(name));
  if (!text) return std::optional<std::uint64_t>{};
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value, base);
  if (error != std::errc{} || end != text->data() + text->size()) {
    return {ErrorKind::kInvalidArgument,
            std::string(name) + " '" + *text + "' is not a number of 64 bits"};
  }
  return std::optional<std::uint64_t>{value};
}

Result<ChangesRequest> changes_request_of(const Exchange& exchange) {
  ChangesRequest asked;
  ICEBLINK_ASSIGN_OR_RETURN(const auto since, number_query(exchange, "since", 10));
  if (!since) return {ErrorKind::kInvalidArgument, "the parameter 'since' is missing"};
  asked.since = *since;
  ICEBLINK_ASSIGN_OR_RETURN(asked.incarnation, number_query(exchange, "incarnation", 16));
  ICEBLINK_ASSIGN_OR_RETURN(const auto limit, number_query(exchange, "limit", 10));
  if (limit && *limit == 0) return {ErrorKind::kInvalidArgument, "limit is a number from 1"};
  if (limit) asked.limit = *limit < kChangesMax ? static_cast<std::size_t>(*limit) : kChangesMax;
  return asked;
}

std::string to_hex(std::uint64_t value) {
  std::array<char, 16> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16);
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  return std::string(digits.size() - text.size(), '0') + std::string(text);
}

std::string_view kind_of(const LoggedChange& change) {
  if (shm::is_namespace_class(change.kind)) return "namespace";
  const bool is_dropped_view =
      change.kind == shm::RecordKind::kTombstone && change.dropped_kind == ObjectKind::kView;
  return is_dropped_view || change.kind == shm::RecordKind::kView ? "view" : "table";
}

Status append_change(std::string& body, const LoggedChange& change) {
  Namespace levels;
  std::optional<std::string> name;
  if (shm::is_namespace_class(change.kind)) {
    ICEBLINK_ASSIGN_OR_RETURN(levels, decode_namespace(change.key));
  } else {
    ICEBLINK_ASSIGN_OR_RETURN(TableIdent ident, decode_table(change.key));
    levels = std::move(ident.levels);
    name = std::move(ident.name);
  }
  body += R"({"generation":)" + std::to_string(change.generation);
  body += R"(,"kind":")";
  body += kind_of(change);
  body += shm::is_tombstone(change.kind) ? R"(","op":"drop","namespace":)"
                                         : R"(","op":"put","namespace":)";
  append_json_levels(body, levels);
  if (name) {
    body += R"(,"name":)";
    append_json_string(body, *name);
  }
  if (!change.row.location.empty()) {
    body += R"(,"metadata-location":)";
    append_json_string(body, change.row.location);
  }
  body += '}';
  return Ok{};
}

Result<std::string> changes_body(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const ChangesRequest asked, changes_request_of(exchange));
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  const std::uint64_t incarnation = exchange.services().store.incarnation();
  if (asked.incarnation && *asked.incarnation != incarnation) {
    return {ErrorKind::kGone, "incarnation " + to_hex(*asked.incarnation) +
                                  " is gone: this catalog is " + to_hex(incarnation)};
  }
  const std::uint64_t current = reading->generation();
  if (asked.since > current) {
    return {ErrorKind::kGone, "generation " + std::to_string(asked.since) +
                                  " is above the current one, " + std::to_string(current)};
  }
  ICEBLINK_ASSIGN_OR_RETURN(const auto changes, reading->changes_since(asked.since, asked.limit));
  // Of a part, what was reached: who goes on from there misses nothing.
  const bool more = !changes.empty() && changes.back().generation < current;
  std::string body =
      R"({"generation":)" + std::to_string(more ? changes.back().generation : current);
  body += R"(,"incarnation":")" + to_hex(incarnation) + R"(","changes":[)";
  for (const LoggedChange& change : changes) {
    if (&change != &changes.front()) body += ',';
    ICEBLINK_RETURN_IF_ERROR(append_change(body, change));
  }
  body += more ? R"(],"more":true})" : R"(],"more":false})";
  return body;
}

}  // namespace

void list_changes(const ExchangePtr& exchange) {
  auto body = changes_body(*exchange);
  exchange->answer(body ? json_response(std::move(*body)) : error_response(body.error()));
}

}  // namespace iceblink::daemon::http
