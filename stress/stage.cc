#include "stress/stage.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace iceblink::stress {

std::string_view to_string(Counted what) noexcept {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Counted::kCount)> kNames = {
      "registered",
      "overwritten",
      "swapped",
      "dropped",
      "renamed",
      "group batches",
      "mixed batches",
      "namespaces made",
      "namespaces dropped",
      "properties changed",
      "contested writes",
      "tables created",
      "table commits",
      "transactions",
      "views put",
      "views dropped",
      "wrong swaps refused",
      "wrong drops refused",
      "wrong batches refused",
      "sent twice",
      "repeated after no answer",
      "snapshots",
      "lookups",
      "batches looked up",
      "lists",
      "feeds",
      "waits",
      "waits passed",
      "snapshots held",
      "forks",
      "snapshots inherited",
      "short-lived readers",
      "readers stopped",
      "readers killed",
      "daemons killed at random",
      "daemons killed at fault points",
      "daemons terminated",
      "daemons killed while stopping",
      "lives on a slow disk",
      "flips",
      "writes without a daemon",
      "refused for want of space",
      "refused for load",
      "starts without room"};
  return kNames[static_cast<std::size_t>(what)];
}

std::uint64_t now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

Stage& Stage::make() {
  void* const memory =
      ::mmap(nullptr, sizeof(Stage), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  return *static_cast<Stage*>(memory);  // all zero is what a stage begins as
}

void Stage::report(Wrong kind, std::string_view what) noexcept {
  // relaxed: a place of its own for each; what is in it is released below
  const std::uint64_t place = finding_count.fetch_add(1, std::memory_order_relaxed);
  if (place < findings.size()) {
    Finding& finding = findings[place];
    finding.kind = kind;
    const std::size_t bytes = std::min(what.size(), finding.text.size() - 1);
    std::memcpy(finding.text.data(), what.data(), bytes);
    // SYNC stress-finding: releases the text; partner lines()
    finding.is_there.store(true, std::memory_order_release);
  }
  // relaxed: a hint to stop
  has_wrong.store(true, std::memory_order_relaxed);
}

std::vector<std::string> Stage::lines() const {
  std::vector<std::string> lines;
  for (const Finding& finding : findings) {
    // SYNC stress-finding: acquires the text; partner report()
    if (!finding.is_there.load(std::memory_order_acquire)) continue;
    lines.push_back(std::string(to_string(finding.kind)) + ": " + finding.text.data());
  }
  return lines;
}

void Stage::acknowledge(std::uint64_t generation) noexcept {
  // relaxed: the exchange orders
  std::uint64_t known = acknowledged.load(std::memory_order_relaxed);
  // SYNC stress-acknowledged: releases the answer that the writer got; partner readers' begin
  while (known < generation &&
         !acknowledged.compare_exchange_weak(known, generation, std::memory_order_release,
                                             std::memory_order_relaxed)) {
  }
}

Stage::Stream& Stage::claim_stream() noexcept {
  const auto self = static_cast<std::uint64_t>(::getpid());
  for (;; ::usleep(1000)) {
    for (Stream& stream : streams) {
      std::uint64_t free = 0;
      // SYNC stress-stream: acquires the emptied ring; partner the judge's free
      if (stream.owner.compare_exchange_strong(free, self, std::memory_order_acq_rel)) {
        return stream;
      }
    }
  }
}

void Stage::abandon_streams_of(pid_t pid) noexcept {
  const auto owner = static_cast<std::uint64_t>(pid);
  for (Stream& stream : streams) {
    std::uint64_t expected = owner;
    // SYNC stress-stream: releases what is known of the owner's end; partner the judge
    stream.owner.compare_exchange_strong(expected, owner | kAbandoned, std::memory_order_acq_rel);
  }
}

bool Stage::has_streams() const noexcept {
  return std::any_of(streams.begin(), streams.end(), [](const Stream& stream) {
    return stream.owner.load(std::memory_order_relaxed) != 0;  // relaxed: asked again
  });
}

}  // namespace iceblink::stress
