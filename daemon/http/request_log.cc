#include "daemon/http/request_log.h"

#include <spdlog/spdlog.h>

#include <cstdio>
#include <utility>
#include <variant>

#include "daemon/log_event.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

std::string in_ms(std::chrono::nanoseconds duration) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f",
                std::chrono::duration<double, std::milli>(duration).count());
  return text;
}

std::string_view word_of(ObjectKind kind) noexcept {
  return kind == ObjectKind::kView ? "view" : "table";
}

struct Summarizer {
  ChangeSummary operator()(const CreateNamespace& op) const {
    return {"create", "namespace", dotted(op.levels)};
  }
  ChangeSummary operator()(const DropNamespace& op) const {
    return {"drop", "namespace", dotted(op.levels)};
  }
  ChangeSummary operator()(const UpdateProperties& op) const {
    return {"update-properties", "namespace", dotted(op.levels)};
  }
  ChangeSummary operator()(const Register& op) const {
    return {"register", word_of(op.kind), dotted(op.ident)};
  }
  ChangeSummary operator()(const Drop& op) const {
    return {"drop", word_of(op.kind), dotted(op.ident)};
  }
  ChangeSummary operator()(const CheckPointer& op) const {
    return {"check", word_of(op.kind), dotted(op.ident)};
  }
  ChangeSummary operator()(const Rename& op) const {
    return {"rename", word_of(op.kind), dotted(op.from)};
  }
};

bool is_write(const Request& request) noexcept {
  return request.verb != Verb::kGet && request.verb != Verb::kHead;
}

}  // namespace

ChangeSummary summary_of(std::span<const Operation> operations) {
  if (operations.empty()) return {};
  ChangeSummary summary = std::visit(Summarizer{}, operations.front());
  summary.operation_count = operations.size();
  if (operations.size() > 1) summary.operation = "batch";
  return summary;
}

ChangeSummary summary_of(std::span<const MetadataChange> changes) {
  if (changes.empty()) return {};
  const MetadataChange& first = changes.front();
  const bool is_transaction = std::holds_alternative<MetadataChange::TransactionPart>(first.what);
  const std::string_view operation = is_transaction       ? "transaction"
                                     : is_creation(first) ? "create"
                                                          : "commit";
  return {operation, word_of(kind_of(first)), dotted(first.ident), changes.size()};
}

void log_change(const AnsweredRequest& answered, const ChangeSummary& change) {
  log_event(level::info, "catalog changed",
            {{"id", answered.request.id},
             {"peer", answered.caller.name},
             {"operation", change.operation},
             {"kind", change.kind},
             {"name", shortened(change.name)},
             {"operations", change.operation_count},
             {"generation", answered.response.generation.value_or(0)},
             {"duration_ms", in_ms(answered.duration)},
             {"retries", change.retry_count}});
}

void log_refusal(const AnsweredRequest& answered, LogRate& rate) {
  const Response& response = answered.response;
  const bool is_failure = response.status >= 500 && response.status != 503;
  const bool is_denial = response.status == 401 || response.status == 403;  // has its own line
  if (response.is_logged || is_denial) return;
  if (!is_failure && !is_write(answered.request)) return;
  const bool is_load = response.status == 429 || response.status == 503;
  const auto at = is_failure ? level::err : is_load ? level::warn : level::info;
  if (!spdlog::should_log(at)) return;
  std::uint64_t left_out = 0;
  if (is_failure || is_load) {
    const auto taken = rate.take(response.error_type, LogRate::Clock::now());
    if (!taken) return;
    left_out = *taken;
  }
  log_event(at, is_write(answered.request) ? "commit refused" : "request failed",
            {{"id", answered.request.id},
             {"peer", answered.caller.name},
             {"method", answered.request.method},
             {"path", shortened(path_of(answered.request.target))},
             {"status", response.status},
             {"type", response.error_type},
             {"message", shortened(response.error_message)},
             {"duration_ms", in_ms(answered.duration)},
             {"left_out", left_out}});
}

void log_request(const AnsweredRequest& answered) {
  if (!spdlog::should_log(level::debug)) return;
  log_event(level::debug, "request",
            {{"id", answered.request.id},
             {"peer", answered.caller.name},
             {"method", answered.request.method},
             {"path", shortened(path_of(answered.request.target))},
             {"status", answered.response.status},
             {"bytes", answered.response.body_bytes()},
             {"duration_ms", in_ms(answered.duration)}});
}

}  // namespace iceblink::daemon::http
