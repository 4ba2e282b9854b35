// An instance as its clients see it, with the daemon or without.
//
// Thread safety: values.
#pragma once

#include <iceblink/result.h>
#include <iceblink/stats.h>

#include <boost/json/object.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "client/cli/invocation.h"
#include "client/cli/status/daemon_answers.h"
#include "client/cli/status/runtime_files.h"

namespace iceblink::cli {

/// What there is to say; parts are missing where they cannot be had.
struct InstanceStatus {
  std::string directory;
  Result<SegmentInfo> info{SegmentInfo{}};
  DaemonHealth health;
  DaemonAnswers daemon;
  std::optional<FileSystemRoom> room;
  RuntimeFiles files;
  std::int64_t now_ms = 0;  // since 1970

  /// It answers; or it may not be asked, and its signs of life are fresh.
  [[nodiscard]] bool is_alive() const;
  /// Its last sign of life; nothing without a segment.
  [[nodiscard]] std::optional<std::int64_t> last_beat_ms() const;
  /// In the directory, and not the one that readers use.
  [[nodiscard]] std::vector<ArenaFile> other_arenas() const;
};

/// Whether the daemon answered, and else why not.
[[nodiscard]] ExitCode exit_code_of(const InstanceStatus& status);

/// Takes as long as the daemon takes to answer, and a few seconds at most.
[[nodiscard]] InstanceStatus look_at_instance(const Invocation& invocation);
/// The same with a catalog that is open.
[[nodiscard]] InstanceStatus look_at_instance(const std::string& runtime_dir,
                                              const Result<Catalog>& catalog);

/// Lines of a screen of 80 columns, about a dozen.
[[nodiscard]] std::vector<std::string> status_lines(const InstanceStatus& status);
/// The key "generation" occurs once.
[[nodiscard]] boost::json::object status_json(const InstanceStatus& status);

/// "0123456789abcdef"
[[nodiscard]] std::string incarnation_text(std::uint64_t incarnation);

}  // namespace iceblink::cli
