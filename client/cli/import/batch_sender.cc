#include "client/cli/import/batch_sender.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>
#include <utility>

namespace iceblink::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstPause{20};
constexpr milliseconds kLongestPause{500};

/// A refusal that is one line's: "line 12: why".
struct RefusedLine {
  std::size_t index = 0;  // from 0
  Error error;
};

std::optional<RefusedLine> refused_line(const Error& error) {
  constexpr std::string_view kPrefix = "line ";
  const std::string& message = error.message();
  if (!message.starts_with(kPrefix)) return std::nullopt;
  std::size_t number = 0;
  const char* const end = message.data() + message.size();
  const auto parsed = std::from_chars(message.data() + kPrefix.size(), end, number);
  const std::string_view rest(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
  if (parsed.ec != std::errc{} || number == 0 || !rest.starts_with(": ")) return std::nullopt;
  return RefusedLine{number - 1, Error(error.kind(), std::string(rest.substr(2)))};
}

bool is_passing(ErrorKind kind) {
  return kind == ErrorKind::kBusy || kind == ErrorKind::kNoDaemon || kind == ErrorKind::kTimedOut;
}

/// What a smaller batch would not be spared.
bool ends_all(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kNoSpace:
    case ErrorKind::kNotAllowed:
    case ErrorKind::kUnsupported:
    case ErrorKind::kNoSegment:
    case ErrorKind::kIncompatible:
    case ErrorKind::kCorrupt:
    case ErrorKind::kOutOfMemory:
    case ErrorKind::kIo:
    case ErrorKind::kInternal:
      return true;
    default:
      return false;
  }
}

/// Whether the catalog is as the step would make it.
Result<bool> is_done(const Snapshot& snapshot, const Step& step) {
  if (step.op == Step::Op::kCreateNamespace) return snapshot.namespace_exists(step.space.levels);
  ICEBLINK_ASSIGN_OR_RETURN(const auto found, snapshot.find(step.object.ident));
  return found && found->kind() == step.object.kind &&
         found->metadata_location() == step.object.metadata_location;
}

}  // namespace

/// Steps under way. Those before `begin` have ended, and those that are marked.
struct BatchSender::Sending {
  std::vector<Step> steps;
  std::vector<bool> has_ended;
  std::size_t begin = 0;
  std::size_t window = 0;         // how many to send at once
  std::vector<std::size_t> sent;  // the steps of the batch in hand, by line
};

void BatchSender::end(Sending& sending, std::size_t index, Outcome outcome, const Error* error) {
  sending.has_ended[index] = true;
  observer_.ended(sending.steps[index], outcome, error);
}

Status BatchSender::send(std::vector<Step> steps) {
  Sending sending;
  sending.window = steps.size();
  sending.has_ended.resize(steps.size());
  sending.steps = std::move(steps);
  while (true) {
    while (sending.begin < sending.steps.size() && sending.has_ended[sending.begin]) {
      ++sending.begin;
    }
    if (sending.begin == sending.steps.size()) return Ok{};
    ICEBLINK_RETURN_IF_ERROR(send_next(sending));
  }
}

Status BatchSender::send_next(Sending& sending) {
  std::string lines;
  sending.sent.clear();
  for (std::size_t i = sending.begin;
       i < sending.steps.size() && sending.sent.size() < sending.window; ++i) {
    if (sending.has_ended[i]) continue;
    sending.steps[i].append_line(lines);
    sending.sent.push_back(i);
  }
  const auto generation = catalog_.apply(Batch().append_json_lines(lines));
  if (!generation) return on_refusal(sending, generation.error());
  waiting_since_.reset();
  for (const std::size_t index : sending.sent) end(sending, index, Outcome::kDone);
  sending.window = std::min(sending.steps.size(), sending.window * 2);
  return Ok{};
}

Status BatchSender::on_refusal(Sending& sending, const Error& error) {
  if (error.kind() == ErrorKind::kStateUnknown) {
    ICEBLINK_RETURN_IF_ERROR(pause(error));
    return settle_lost(sending);
  }
  if (is_passing(error.kind())) return pause(error);
  waiting_since_.reset();
  const auto line = refused_line(error);
  if (line && line->index < sending.sent.size()) {
    return settle_line(sending, line->index, line->error);
  }
  if (ends_all(error.kind())) return error;
  if (sending.sent.size() == 1) {
    end(sending, sending.sent.front(), Outcome::kFailed, &error);
  } else {
    sending.window = sending.sent.size() / 2;
  }
  return Ok{};
}

// What stands before the line was good so far, and goes first, alone.
Status BatchSender::settle_line(Sending& sending, std::size_t line, const Error& error) {
  const std::size_t index = sending.sent[line];
  const Step& step = sending.steps[index];
  sending.window = line > 0 ? line : std::max<std::size_t>(1, sending.sent.size() / 2);
  const bool is_taken =
      error.kind() == ErrorKind::kAlreadyExists || error.kind() == ErrorKind::kConflict;
  if (is_taken) {
    ICEBLINK_ASSIGN_OR_RETURN(const Snapshot snapshot, catalog_.snapshot());
    ICEBLINK_ASSIGN_OR_RETURN(const bool is_there, is_done(snapshot, step));
    end(sending, index, is_there ? Outcome::kSkipped : Outcome::kConflict,
        is_there ? nullptr : &error);
    return Ok{};
  }
  end(sending, index, Outcome::kFailed, &error);
  return Ok{};
}

// What is not there goes again. Should the lost batch still come to be done, then the steps that
// were sent again are refused, since their names are taken, and are found to be done.
Status BatchSender::settle_lost(Sending& sending) {
  ICEBLINK_ASSIGN_OR_RETURN(const Snapshot snapshot, catalog_.snapshot());
  for (const std::size_t index : sending.sent) {
    ICEBLINK_ASSIGN_OR_RETURN(const bool is_there, is_done(snapshot, sending.steps[index]));
    if (is_there) end(sending, index, Outcome::kDone);
  }
  return Ok{};
}

Status BatchSender::pause(const Error& because) {
  const auto now = steady_clock::now();
  if (!waiting_since_) {
    waiting_since_ = now;
    next_pause_ = kFirstPause;
  }
  const auto waited = std::chrono::duration_cast<milliseconds>(now - *waiting_since_);
  if (waited >= wait_) return because;
  std::this_thread::sleep_for(std::min(next_pause_, wait_ - waited));
  next_pause_ = std::min(next_pause_ * 2, kLongestPause);
  return Ok{};
}

}  // namespace iceblink::cli
