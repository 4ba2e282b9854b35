#include "daemon/http/idempotency.h"

#include <xxhash.h>

#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/http/load_result.h"
#include "daemon/http/path_names.h"
#include "daemon/refusals.h"
#include "daemon/wall_clock.h"
#include "iceberg/uuid.h"

namespace iceblink::daemon::http {
namespace {

// The name that the request was about: in the path, or, of what was made or registered, in its
// body.
Result<FoundName> find_request_name(Exchange& exchange, ObjectKind kind) {
  if (!exchange.names().name.empty()) return find_path_name(exchange, kind);
  // The body was understood when it was carried out; its depth is not limited as others' is.
  constexpr std::size_t kAnyDepth = 1024;
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(exchange.request().body, kAnyDepth));
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  FoundName found;
  ICEBLINK_ASSIGN_OR_RETURN(found.ident.name, required_string(body, "name"));
  ICEBLINK_ASSIGN_OR_RETURN(found.ident.levels,
                            exchange.resolve_namespace(*reading, exchange.names().levels));
  ICEBLINK_ASSIGN_OR_RETURN(found.row, find_row(*reading, kind, found.ident));
  return found;
}

Response result_of(const Exchange& exchange, StoredAnswer::Form form, const TableRow& row,
                   std::string metadata) {
  using Form = StoredAnswer::Form;
  if (form == Form::kUnregistered) {
    return metadata_response(row, std::move(metadata), ResultConfig::kNone);
  }
  const bool is_table_commit = form == Form::kTable && !exchange.names().name.empty();
  return tagged_response(row, std::move(metadata),
                         is_table_commit ? ResultConfig::kNone : ResultConfig::kEmpty);
}

// It was done, and what was answered cannot be made again: no 4xx, from which a client would
// conclude that it was not done.
void answer_unknown(const ExchangePtr& exchange, const TableRow& row) {
  exchange->answer(
      error_response({500, "CommitStateUnknownException"},
                     "This was done, and its answer cannot be given again: the metadata is gone: " +
                         row.location));
}

// What was unregistered is no longer what its name stands for.
void replay_unregistered(const ExchangePtr& exchange, const TableRow& row) {
  const auto& rules = exchange->services().metadata_rules;
  auto metadata = read_representation(row, ObjectKind::kTable, SnapshotMode::kAll, rules);
  if (!metadata) return answer_unknown(exchange, row);
  exchange->answer(
      result_of(*exchange, StoredAnswer::Form::kUnregistered, row, std::move(*metadata)));
}

// On a file thread: the metadata as it was then; as it is now, where that file is gone.
void replay_metadata(const ExchangePtr& exchange, StoredAnswer::Form form, const TableRow& row) {
  if (form == StoredAnswer::Form::kUnregistered) return replay_unregistered(exchange, row);
  const auto& rules = exchange->services().metadata_rules;
  const ObjectKind kind =
      form == StoredAnswer::Form::kView ? ObjectKind::kView : ObjectKind::kTable;
  if (auto then = read_representation(row, kind, SnapshotMode::kAll, rules)) {
    return exchange->answer(result_of(*exchange, form, row, std::move(*then)));
  }
  const auto now = find_request_name(*exchange, kind);
  if (!now) return answer_unknown(exchange, row);
  // Another table of that name is not the answer.
  if (!now->row || now->row->table_uuid != row.table_uuid) return answer_unknown(exchange, row);
  auto metadata = read_representation(*now->row, kind, SnapshotMode::kAll, rules);
  if (!metadata) return answer_unknown(exchange, row);
  exchange->answer(result_of(*exchange, form, *now->row, std::move(*metadata)));
}

void replay(const ExchangePtr& exchange, StoredAnswer stored) {
  // relaxed: a counter, for showing
  exchange->services().counters.replayed_answers.fetch_add(1, std::memory_order_relaxed);
  switch (stored.form) {
    case StoredAnswer::Form::kEmpty: {
      Response response;
      response.status = stored.status;
      return exchange->answer(std::move(response));
    }
    case StoredAnswer::Form::kJson: {
      Response response = json_response(std::move(stored.text));
      response.status = stored.status;
      return exchange->answer(std::move(response));
    }
    case StoredAnswer::Form::kTable:
    case StoredAnswer::Form::kView:
    case StoredAnswer::Form::kUnregistered:
      return exchange->on_file_thread([exchange, form = stored.form, row = std::move(stored.row)] {
        replay_metadata(exchange, form, row);
      });
  }
}

}  // namespace

Result<IdempotencyKey> idempotency_key_of(std::string_view text) {
  constexpr std::size_t kTextBytes = 36;
  const auto uuid = text.size() == kTextBytes ? iceberg::parse_uuid(text) : std::nullopt;
  constexpr unsigned kVersion7 = 7;
  constexpr unsigned kVariant = 2;  // RFC 9562, 4.1: the two highest bits are 10
  if (!uuid || (*uuid)[6] >> 4 != kVersion7 || (*uuid)[8] >> 6 != kVariant) {
    return {ErrorKind::kInvalidArgument,
            "Idempotency-Key '" + std::string(text) + "' is not a UUID of version 7"};
  }
  static_assert(std::is_same_v<IdempotencyKey, iceberg::Uuid>);
  return *uuid;
}

shm::Id binding_of(const Request& request) {
  const std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state(XXH3_createState(),
                                                                              XXH3_freeState);
  if (!state) throw std::bad_alloc();
  XXH3_128bits_reset(state.get());
  for (const std::string_view part :
       {std::string_view(request.method), std::string_view(request.target),
        std::string_view(request.body)}) {
    const std::uint64_t size = part.size();  // so that no byte can change sides
    XXH3_128bits_update(state.get(), &size, sizeof(size));
    XXH3_128bits_update(state.get(), part.data(), part.size());
  }
  XXH128_canonical_t canonical{};
  XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(state.get()));
  shm::Id id{};
  static_assert(sizeof(id) == sizeof(canonical.digest));
  std::memcpy(id.data(), canonical.digest, id.size());
  return id;
}

std::string duration_text(std::chrono::milliseconds duration) {
  constexpr std::int64_t kMinuteMs = 60'000;
  const std::int64_t ms = duration.count();
  if (ms % kMinuteMs == 0) return "PT" + std::to_string(ms / kMinuteMs) + "M";
  std::string text = "PT" + std::to_string(ms / 1000);
  if (ms % 1000 != 0) {
    const std::string fraction = std::to_string(1000 + ms % 1000);
    text += "." + fraction.substr(1);
  }
  return text + "S";
}

void handle_under_key(const ExchangePtr& exchange, Handler handler) {
  const auto key = idempotency_key_of(*exchange->request().idempotency_key);
  if (!key) return exchange->answer(refusal_response(key.error()));
  // Whoever gives the key up is not kept: the waiting begin anew on their own connections.
  auto hold = exchange->services().idempotent_requests.claim(*key, [exchange, handler] {
    exchange->post([exchange, handler] { handle_under_key(exchange, handler); });
  });
  if (!hold) return;
  std::optional<StoredAnswer> stored;
  {
    const auto reading = exchange->read();
    if (!reading) return exchange->answer(refusal_response(reading.error()));
    auto found = (*reading)->find_answer(*key, now_ms());
    if (!found) return exchange->answer(refusal_response(found.error()));
    stored = std::move(*found);
  }
  const shm::Id binding = binding_of(exchange->request());
  if (stored && stored->binding == binding) return replay(exchange, std::move(*stored));
  if (stored) {
    return exchange->answer(error_response({422, "UnprocessableEntityException"},
                                           "Idempotency-Key " +
                                               *exchange->request().idempotency_key +
                                               " was used for another request"));
  }
  exchange->set_claim(std::move(*hold), binding);
  handler(exchange);
}

}  // namespace iceblink::daemon::http
