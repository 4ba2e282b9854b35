// How log lines look: one event is one line, whatever names and locations hold.
#pragma once

#include <spdlog/formatter.h>

#include <memory>

namespace iceblink::daemon {

/// spdlog's own format, with control characters and broken UTF-8 of the message as \xNN.
[[nodiscard]] std::unique_ptr<spdlog::formatter> one_line_formatter();

}  // namespace iceblink::daemon
