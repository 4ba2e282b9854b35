// What is said of a new arena: a line of the log, and its time.
#pragma once

#include "daemon/metrics.h"
#include "shm/publisher.h"

namespace iceblink::daemon {

/// Thread-safe.
void report_build(Metrics& metrics, const shm::BuildReport& report) noexcept;

}  // namespace iceblink::daemon
