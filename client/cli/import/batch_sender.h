// Sends an import's steps as batches, and sees each of them to its end: whatever is refused alone
// fails alone, and an answer that was lost is made up for by looking.
//
// Thread safety: one thread.
//
// Invariant: no step is done twice. A table is created only where the name is free, and moved only
// from where it was seen, so that a batch may be sent again whatever became of it before.
#pragma once

#include <iceblink/catalog.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "client/cli/import/step.h"

namespace iceblink::cli {

class BatchSender {
 public:
  /// `wait`: how long a daemon that is away, or too busy, is waited for. All outlive this.
  BatchSender(Catalog& catalog, std::chrono::milliseconds wait, StepObserver& observer)
      : catalog_(catalog), wait_(wait), observer_(observer) {}

  /// Returns when every step has ended. An error is what ends the whole import (the daemon is away
  /// for too long, no space, no right to write); run again, it goes on from there.
  [[nodiscard]] Status send(std::vector<Step> steps);

 private:
  struct Sending;

  [[nodiscard]] Status send_next(Sending& sending);
  [[nodiscard]] Status on_refusal(Sending& sending, const Error& error);
  [[nodiscard]] Status settle_line(Sending& sending, std::size_t line, const Error& error);
  [[nodiscard]] Status settle_lost(Sending& sending);
  [[nodiscard]] Status pause(const Error& because);
  void end(Sending& sending, std::size_t index, Outcome outcome, const Error* error = nullptr);

  Catalog& catalog_;
  const std::chrono::milliseconds wait_;
  StepObserver& observer_;
  std::optional<std::chrono::steady_clock::time_point> waiting_since_;
  std::chrono::milliseconds next_pause_{0};
};

}  // namespace iceblink::cli
