#include "daemon/http/exchange.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>

#include "daemon/http/content_coding.h"
#include "daemon/http/denial_log.h"
#include "daemon/http/error_body.h"
#include "daemon/http/path_names.h"
#include "daemon/log_event.h"
#include "daemon/wall_clock.h"
#include "shm/fault_point.h"

namespace iceblink::daemon::http {
namespace {

constexpr std::size_t kCompressedAtOnceBytesMax = 128 * 1024;
constexpr std::size_t kParsedAtOnceBytesMax = 64 * 1024;

// Answers that a repeated request gets again: those that say what was done, or that it never will
// be (REST specification, "Idempotency-Key").
std::optional<StoredAnswer> stored_answer_of(const Response& response) {
  constexpr unsigned kNotFinal[] = {408, 413, 429, 431};
  const bool is_success = response.status >= 200 && response.status < 300;
  const bool is_final_refusal =
      response.status >= 400 && response.status < 500 &&
      std::find(std::begin(kNotFinal), std::end(kNotFinal), response.status) == std::end(kNotFinal);
  if ((!is_success && !is_final_refusal) || !response.is_final) return std::nullopt;
  if (response.body_bytes() > kStoredTextBytesMax) return std::nullopt;
  StoredAnswer stored;
  stored.status = static_cast<std::uint16_t>(response.status);
  for (const auto& part : response.parts) stored.text += part.text();
  if (!stored.text.empty()) stored.form = StoredAnswer::Form::kJson;
  return stored;
}

}  // namespace

Exchange::Exchange(Services& services, std::shared_ptr<Peer> peer, Request request)
    : services_(services),
      peer_(std::move(peer)),
      request_(std::move(request)),
      begun_at_(std::chrono::steady_clock::now()) {}

Exchange::~Exchange() {
  // relaxed: a look ahead; answer() decides
  if (answered_.load(std::memory_order_relaxed)) return;
  // relaxed: a sign, after which less is done
  const bool is_stopping = services_.is_stopping.load(std::memory_order_relaxed);
  fail(is_stopping ? Error{ErrorKind::kNoDaemon, "the daemon is stopping"}
                   : Error{ErrorKind::kInternal, "the request was dropped without an answer"});
}

void Exchange::set_target(Target target, RawNames names) {
  target_ = std::move(target);
  names_ = names;
}

std::optional<std::string_view> Exchange::raw_query(std::string_view name) const noexcept {
  for (const auto& [key, value] : target_.query) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<std::optional<std::string>> Exchange::query(std::string_view name) const {
  const auto raw = raw_query(name);
  if (!raw) return std::optional<std::string>{};
  ICEBLINK_ASSIGN_OR_RETURN(std::string value, percent_decode(*raw, PlusMeans::kSpace));
  return std::optional<std::string>{std::move(value)};
}

Result<std::unique_ptr<Store::Reading>> Exchange::read() {
  ICEBLINK_ASSIGN_OR_RETURN(auto reading, services_.store.read());
  note_generation(reading->generation());
  return reading;
}

Result<Namespace> Exchange::resolve_namespace(const Store::Reading& reading, std::string_view raw,
                                              NamePlace place) const {
  const auto decode = place == NamePlace::kPath ? decode_namespace_segment : decode_namespace_query;
  const std::string_view separator = services_.namespace_separator;
  ICEBLINK_ASSIGN_OR_RETURN(Namespace levels, decode(raw, PlusMeans::kSpace, separator));
  if (!is_ambiguous(raw)) return levels;
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, reading.find_namespace(levels));
  if (found) return levels;
  ICEBLINK_ASSIGN_OR_RETURN(Namespace literal, decode(raw, PlusMeans::kPlus, separator));
  ICEBLINK_ASSIGN_OR_RETURN(const auto found_literal, reading.find_namespace(literal));
  return found_literal ? literal : levels;
}

Result<TableIdent> Exchange::resolve_name(const Store::Reading& reading, ObjectKind kind) const {
  ICEBLINK_ASSIGN_OR_RETURN(TableIdent ident, decode_name(PlusMeans::kSpace));
  if (!is_ambiguous(names_.levels) && !is_ambiguous(names_.name)) return ident;
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, find_row(reading, kind, ident));
  if (found) return ident;
  ICEBLINK_ASSIGN_OR_RETURN(TableIdent literal, decode_name(PlusMeans::kPlus));
  ICEBLINK_ASSIGN_OR_RETURN(const auto found_literal, find_row(reading, kind, literal));
  if (found_literal) return literal;
  // What is yet to be made belongs into the namespace that is there.
  ICEBLINK_ASSIGN_OR_RETURN(const Namespace levels, resolve_namespace(reading, names_.levels));
  return levels == ident.levels ? ident : literal;
}

Result<Namespace> Exchange::decode_namespace(PlusMeans plus) const {
  return decode_namespace_segment(names_.levels, plus, services_.namespace_separator);
}

Result<TableIdent> Exchange::decode_name(PlusMeans plus) const {
  return decode_table_segments(names_.levels, names_.name, plus, services_.namespace_separator);
}

void Exchange::set_claim(IdempotentRequests::Hold hold, const shm::Id& binding) {
  claim_.emplace(Claim{std::move(hold), binding});
}

void Exchange::post(std::function<void()> work) {
  peer_->post([self = shared_from_this(), work = std::move(work)] { self->guard(work); });
}

StoredAnswer Exchange::remember_nothing(const Committed&) {
  StoredAnswer answer;
  answer.status = 204;
  return answer;
}

void Exchange::submit_then(std::vector<Operation> operations,
                           std::function<void(const CommitAnswer&)> then, Remember remember) {
  is_submitted_ = true;
  note_change(summary_of(operations));
  Submission submission{std::move(operations), std::nullopt};
  if (claim_) {
    submission.claim = claim_of([remember = std::move(remember)](const CommitAnswer& answer) {
      const auto* const refused = std::get_if<Refused>(&answer);
      if (refused == nullptr) return std::optional(remember(std::get<Committed>(answer)));
      if (refused->refusal == Refusal::kStaleBase) return std::optional<StoredAnswer>();
      return stored_answer_of(error_response(*refused));
    });
  }
  services_.committer.submit(
      std::move(submission),
      [self = shared_from_this(), then = std::move(then)](CommitAnswer answer) mutable {
        // Called once: nothing is kept for as long as the committer keeps this function. And off
        // its thread, so that whoever waits behind this commit waits for no formatting.
        const auto peer = self->peer_;
        peer->post([self = std::move(self), then = std::move(then), answer = std::move(answer)] {
          self->finish(answer, then);
        });
      });
}

void Exchange::finish(const CommitAnswer& commit_answer,
                      const std::function<void(const CommitAnswer&)>& then) {
  guard([&] {
    const auto* const refused = std::get_if<Refused>(&commit_answer);
    // Stored, where it is final.
    is_answer_stored_ = refused == nullptr || refused->refusal != Refusal::kStaleBase;
    if (refused == nullptr) note_generation(std::get<Committed>(commit_answer).generation);
    then(commit_answer);
  });
}

void Exchange::submit(std::vector<Operation> operations,
                      std::function<Response(const CommitAnswer&)> respond, Remember remember) {
  submit_then(
      std::move(operations),
      [this, respond = std::move(respond)](const CommitAnswer& done) { answer(respond(done)); },
      std::move(remember));
}

void Exchange::commit(std::vector<Operation> operations,
                      std::function<Response(const Committed&)> respond, Remember remember) {
  submit(
      std::move(operations),
      [respond = std::move(respond)](const CommitAnswer& answer) {
        if (const auto* refused = std::get_if<Refused>(&answer)) return error_response(*refused);
        return respond(std::get<Committed>(answer));
      },
      std::move(remember));
}

void Exchange::change_metadata(std::vector<MetadataChange> changes, StoredAnswer::Form form,
                               std::function<Response(ChangesDone&)> respond,
                               std::function<Response(const Refused&)> refuse) {
  is_submitted_ = true;
  if (form != StoredAnswer::Form::kJson) note_change(summary_of(changes));
  std::optional<MetadataCommits::Claim> claim;
  if (claim_ && form != StoredAnswer::Form::kJson) {
    claim = {claim_->hold.key(), claim_->binding, expiry_ms(), form};
  }
  services_.metadata_commits.submit(
      std::move(changes), claim,
      [self = shared_from_this(), form, respond = std::move(respond),
       refuse = std::move(refuse)](ChangesAnswer answer) mutable {
        const auto peer = self->peer_;
        peer->post([self = std::move(self), form, respond = std::move(respond),
                    refuse = std::move(refuse), answer = std::move(answer)]() mutable {
          self->finish(std::move(answer), form, respond, refuse);
        });
      });
}

void Exchange::finish(ChangesAnswer changes, StoredAnswer::Form form,
                      const std::function<Response(ChangesDone&)>& respond,
                      const std::function<Response(const Refused&)>& refuse) {
  guard([&] {
    if (const auto* const refused = std::get_if<Refused>(&changes)) {
      note_generation(refused->generation);
      return answer(refuse(*refused));
    }
    auto& done = std::get<ChangesDone>(changes);
    is_answer_stored_ = form != StoredAnswer::Form::kJson;
    if (change_) change_->retry_count += done.retry_count;
    note_generation(done.generation);
    answer(respond(done));
  });
}

void Exchange::note_generation(std::uint64_t generation) noexcept {
  generation_seen_ = std::max(generation_seen_.value_or(0), generation);
}

void Exchange::on_thread_for_body(std::function<void()> work) {
  if (request_.body.size() <= kParsedAtOnceBytesMax) return work();
  on_file_thread(std::move(work));
}

std::int64_t Exchange::expiry_ms() const {
  using std::chrono::milliseconds;
  return now_ms() +
         std::chrono::duration_cast<milliseconds>(services_.idempotency_lifetime).count();
}

IdempotencyClaim Exchange::claim_of(
    std::function<std::optional<StoredAnswer>(const CommitAnswer&)> to_store) const {
  return {claim_->hold.key(), claim_->binding, expiry_ms(), std::move(to_store)};
}

void Exchange::on_file_thread(std::function<void()> job) {
  // relaxed: a sum, which only limits
  if (!is_write() && services_.counters.answer_bytes.load(std::memory_order_relaxed) >
                         services_.answer_bytes_max) {
    return answer(error_response({ErrorKind::kBusy, "too many large answers are being sent"}));
  }
  const bool taken =
      services_.files.run([self = shared_from_this(), job = std::move(job)] { self->guard(job); });
  if (!taken) answer(error_response({ErrorKind::kBusy, "too many files are waiting to be read"}));
}

void Exchange::guard(const std::function<void()>& work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
    fail({is_submitted_ ? ErrorKind::kInternal : ErrorKind::kBusy, "out of memory"});
  } catch (const std::exception& error) {
    fail({ErrorKind::kInternal, std::string("internal error: ") + error.what()});
  }
}

void Exchange::fail(const Error& error) noexcept {
  // relaxed: a look ahead; answer() decides
  if (answered_.load(std::memory_order_relaxed)) return;
  try {
    log_event(error.kind() == ErrorKind::kNoDaemon ? level::info : level::err, "request failed",
              {{"id", request_.id},
               {"peer", caller().name},
               {"method", request_.method},
               {"path", path_of(request_.target)},
               {"message", error.message()}});
    const bool was_not_done = is_write() && !is_submitted_;
    Response response = was_not_done ? refusal_response(error) : error_response(error);
    response.is_logged = true;
    answer(std::move(response));
  } catch (const std::exception&) {
    // No memory for an answer either.
  }
}

void Exchange::answer(Response response) noexcept {
  // relaxed: only one of several answers may pass; sending synchronises by itself
  if (answered_.exchange(true, std::memory_order_relaxed)) return;
  try {
    if (response.status == 401 || response.status == 403) {
      log_denial(response, {caller(), request_.id, request_.method, request_.target},
                 services_.refusal_lines);
    }
    if (claim_ && !is_answer_stored_) {
      if (auto stored = stored_answer_of(response)) {
        return store_and_send(std::move(*stored), std::move(response));
      }
    }
    // What takes long is compressed where nobody waits for this thread.
    if (request_.accepts_gzip && response.body_bytes() > kCompressedAtOnceBytesMax) {
      return compress_and_send(std::move(response));
    }
    if (request_.accepts_gzip) compress(response);
    send(std::move(response));
  } catch (const std::exception& error) {
    log_event(level::err, "answer lost",
              {{"id", request_.id},
               {"method", request_.method},
               {"path", path_of(request_.target)},
               {"message", error.what()}});
  }
}

// Nothing was done, and it is durable before it is answered that nothing ever will be under this
// key. Where it cannot be stored, the answer is as true, though not final.
void Exchange::store_and_send(StoredAnswer stored, Response response) {
  Submission submission;
  submission.claim = claim_of([stored = std::move(stored)](const CommitAnswer&) {
    return std::optional<StoredAnswer>(stored);
  });
  auto shared = std::make_shared<Response>(std::move(response));
  services_.committer.submit(std::move(submission),
                             [self = shared_from_this(), shared](const CommitAnswer&) {
                               const auto peer = self->peer_;
                               peer->post([self, shared] { self->send(std::move(*shared)); });
                             });
}

void Exchange::compress_and_send(Response response) {
  auto shared = std::make_shared<Response>(std::move(response));
  // Nothing that is done waits behind files that are slow.
  const bool taken = services_.files.queue_length() == 0 &&
                     services_.files.run([self = shared_from_this(), shared] {
                       self->guard([&] { compress(*shared); });
                       self->guard([&] { self->send(std::move(*shared)); });
                     });
  if (!taken) send(std::move(*shared));
}

void Exchange::send(Response response) {
  if (generation_seen_) services_.publisher.wait_published(*generation_seen_);
  if (!response.generation) response.generation = generation_seen_;
  if (!response.generation && is_write()) {
    response.generation = services_.publisher.published_generation();
  }
  claim_.reset();
  if (is_write()) ICEBLINK_FAULT_POINT("answer.before-send");
  account(response);
  peer_->send(std::move(response));
}

void Exchange::account(const Response& response) noexcept {
  const auto duration = std::chrono::steady_clock::now() - begun_at_;
  services_.request_times.observe(route_class_of(request_.verb, request_.target), duration);
  const bool is_done_change = response.status < 400 && change_;
  if (is_done_change) services_.metrics.observe(Timed::kCommit, duration);
  try {
    const AnsweredRequest answered{request_, caller(), response, duration};
    if (response.status >= 400) log_refusal(answered, services_.refusal_lines);
    if (is_done_change) log_change(answered, *change_);
    log_request(answered);
  } catch (const std::exception&) {
    // A line, and no more.
  }
}

void Exchange::note_change(ChangeSummary change) {
  const unsigned retry_count = change_ ? change_->retry_count + 1 : 0;
  change_ = std::move(change);
  change_->retry_count = retry_count;
}

}  // namespace iceblink::daemon::http
