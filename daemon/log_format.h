// How log lines look: one event is one line, whatever names and locations hold.
#pragma once

#include <spdlog/formatter.h>

#include <memory>

namespace iceblink::daemon {

/// spdlog's own format, with control characters and broken UTF-8 of the message as \xNN.
[[nodiscard]] std::unique_ptr<spdlog::formatter> one_line_formatter();

/// As above, but for the journal: the priority as "<N>" in front (sd-daemon(3)), and no time, since
/// the journal has its own.
[[nodiscard]] std::unique_ptr<spdlog::formatter> journal_formatter();

/// Whether standard error goes to the journal: $JOURNAL_STREAM names its device and inode
/// (systemd.exec(5)).
[[nodiscard]] bool stderr_is_journal();

}  // namespace iceblink::daemon
