// What the log says of requests: one line for each change of the catalog that was acknowledged, for
// each write that was refused, for each failure, and, at debug, for every request.
//
// Bodies, property values and header fields are never in a line.
//
// Thread safety: all of it.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "daemon/http/caller.h"
#include "daemon/http/request.h"
#include "daemon/http/response.h"
#include "daemon/log_rate.h"
#include "daemon/metadata_change.h"
#include "daemon/operation.h"

namespace iceblink::daemon::http {

/// What a list of operations or changes is about: the first of it, and how many there are.
struct ChangeSummary {
  std::string_view operation;  // static storage: "register", "drop", "commit", "batch"
  std::string_view kind;       // static storage: "table", "view", "namespace"
  std::string name;            // dotted
  std::size_t operation_count = 0;
  unsigned retry_count = 0;
};

[[nodiscard]] ChangeSummary summary_of(std::span<const Operation> operations);
[[nodiscard]] ChangeSummary summary_of(std::span<const MetadataChange> changes);

/// A request that has its answer.
struct AnsweredRequest {
  const Request& request;
  const Caller& caller;
  const Response& response;
  std::chrono::nanoseconds duration{0};
};

void log_change(const AnsweredRequest& answered, const ChangeSummary& change);
/// What was refused or failed, at its level; nothing of a read that was only not found, nor of what
/// was denied: that is told where it is denied.
void log_refusal(const AnsweredRequest& answered, LogRate& rate);
/// At debug.
void log_request(const AnsweredRequest& answered);

}  // namespace iceblink::daemon::http
