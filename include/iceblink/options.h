// How a process wants its catalog.
#pragma once

#include <chrono>
#include <cstdint>

namespace iceblink {

/// When the daemon is asked about a name that the segment does not have. A live segment is
/// complete by construction, so this is a safety net.
enum class AskDaemon : std::uint8_t {
  kWhenStale,  ///< when its sign of life is older than stale_after
  kAlways,
  kNever,
};

struct CatalogOptions {
  /// How long open() waits for a segment to appear. 0: fails at once when there is none.
  std::chrono::milliseconds attach_timeout{0};

  AskDaemon ask_daemon = AskDaemon::kWhenStale;
  /// Age of the daemon's last sign of life from which the segment is in doubt.
  std::chrono::milliseconds stale_after{2000};
  /// How long one such question may take; then the segment's answer stands.
  std::chrono::milliseconds ask_deadline{50};
  /// Questions a second, at most, of this catalog object and its copies.
  std::uint32_t asks_per_second_max = 1;

  /// Deadline of a call over the socket. Past it a write's outcome is kStateUnknown.
  std::chrono::milliseconds write_deadline{30'000};
};

}  // namespace iceblink
