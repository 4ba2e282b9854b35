// The same lookups as another system would do them: LMDB opened by the reader, and HTTP over the
// daemon's socket.
#pragma once

#include <chrono>
#include <string>

#include "bench/demo/catalog_tables.h"
#include "bench/demo/latency.h"

namespace iceblink::demo {

struct PeerOutcome {
  Latency latency;
  std::uint64_t wrong_count = 0;
};

/// A read transaction renewed for each lookup, over a store of the same tables in `scratch_dir`.
[[nodiscard]] Result<PeerOutcome> look_up_in_lmdb(const DemoTables& demo,
                                                  const std::string& scratch_dir,
                                                  std::chrono::milliseconds duration);

/// HEAD of each table, over one kept connection.
[[nodiscard]] Result<PeerOutcome> look_up_over_socket(const DemoTables& demo,
                                                      const std::string& runtime_dir,
                                                      std::chrono::milliseconds duration);

}  // namespace iceblink::demo
