#include "daemon/http/exchange.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>

#include "daemon/http/error_body.h"

namespace iceblink::daemon::http {

Exchange::Exchange(Services& services, std::shared_ptr<Peer> peer, Request request)
    : services_(services), peer_(std::move(peer)), request_(std::move(request)) {}

Exchange::~Exchange() {
  fail({ErrorKind::kInternal, "the request was dropped without an answer"});
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
  generation_seen_ = std::max(generation_seen_.value_or(0), reading->generation());
  return reading;
}

Result<Namespace> Exchange::resolve_namespace(const Store::Reading& reading,
                                              std::string_view raw) const {
  ICEBLINK_ASSIGN_OR_RETURN(Namespace levels, decode_namespace_segment(raw, PlusMeans::kSpace));
  if (!is_ambiguous(raw)) return levels;
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, reading.find_namespace(levels));
  if (found) return levels;
  ICEBLINK_ASSIGN_OR_RETURN(Namespace literal, decode_namespace_segment(raw, PlusMeans::kPlus));
  ICEBLINK_ASSIGN_OR_RETURN(const auto found_literal, reading.find_namespace(literal));
  return found_literal ? literal : levels;
}

Result<TableIdent> Exchange::resolve_table(const Store::Reading& reading) const {
  ICEBLINK_ASSIGN_OR_RETURN(TableIdent ident,
                            decode_table_segments(names_.levels, names_.table, PlusMeans::kSpace));
  if (!is_ambiguous(names_.levels) && !is_ambiguous(names_.table)) return ident;
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, reading.find_table(ident));
  if (found) return ident;
  ICEBLINK_ASSIGN_OR_RETURN(TableIdent literal,
                            decode_table_segments(names_.levels, names_.table, PlusMeans::kPlus));
  ICEBLINK_ASSIGN_OR_RETURN(const auto found_literal, reading.find_table(literal));
  return found_literal ? literal : ident;
}

void Exchange::submit(std::vector<Operation> operations,
                      std::function<Response(const CommitAnswer&)> respond) {
  is_submitted_ = true;
  services_.committer.submit(
      std::move(operations),
      [self = shared_from_this(), respond = std::move(respond)](CommitAnswer answer) mutable {
        // Called once: nothing is kept for as long as the committer keeps this function. And off
        // its thread, so that whoever waits behind this commit waits for no formatting.
        const auto peer = self->peer_;
        peer->post([self = std::move(self), respond = std::move(respond),
                    answer = std::move(answer)] { self->finish(answer, respond); });
      });
}

void Exchange::finish(const CommitAnswer& commit_answer,
                      const std::function<Response(const CommitAnswer&)>& respond) {
  guard([&] {
    Response response = respond(commit_answer);
    if (const auto* done = std::get_if<Committed>(&commit_answer)) {
      response.generation = done->generation;
    }
    answer(std::move(response));
  });
}

void Exchange::commit(std::vector<Operation> operations,
                      std::function<Response(const Committed&)> respond) {
  submit(std::move(operations), [respond = std::move(respond)](const CommitAnswer& answer) {
    if (const auto* refused = std::get_if<Refused>(&answer)) return error_response(*refused);
    return respond(std::get<Committed>(answer));
  });
}

void Exchange::on_file_thread(std::function<void()> job) {
  // relaxed: a sum, which only limits
  if (services_.counters.answer_bytes.load(std::memory_order_relaxed) >
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
    spdlog::error("{} {}: {}", request_.method, request_.target, error.message());
    const bool was_not_done = is_write() && !is_submitted_;
    answer(was_not_done ? refusal_response(error) : error_response(error));
  } catch (const std::exception&) {
    // No memory for an answer either.
  }
}

void Exchange::answer(Response response) noexcept {
  // relaxed: only one of several answers may pass; sending synchronises by itself
  if (answered_.exchange(true, std::memory_order_relaxed)) return;
  try {
    if (generation_seen_) services_.publisher.wait_published(*generation_seen_);
    if (!response.generation) response.generation = generation_seen_;
    if (!response.generation && is_write()) {
      response.generation = services_.publisher.published_generation();
    }
    peer_->send(std::move(response));
  } catch (const std::exception& error) {
    spdlog::error("{} {}: the answer was lost: {}", request_.method, request_.target, error.what());
  }
}

}  // namespace iceblink::daemon::http
