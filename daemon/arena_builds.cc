#include "daemon/arena_builds.h"

#include <exception>

#include "daemon/log_event.h"

namespace iceblink::daemon {

void report_build(Metrics& metrics, const shm::BuildReport& report) noexcept {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(report.duration).count();
  try {
    if (!report.status) {
      log_event(level::warn, "arena build failed",
                {{"epoch", report.epoch},
                 {"duration_ms", ms},
                 {"message", report.status.error().message()}});
      return;
    }
    metrics.observe(Timed::kFlip, report.duration);
    log_event(level::info, "arena flipped",
              {{"epoch", report.epoch},
               {"bytes", report.arena_bytes},
               {"garbage_bytes_before", report.garbage_bytes_before},
               {"tables", report.table_count},
               {"duration_ms", ms}});
  } catch (const std::exception&) {
    // No memory for a line.
  }
}

}  // namespace iceblink::daemon
