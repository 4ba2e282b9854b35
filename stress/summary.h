// What a run came to, in words.
#pragma once

#include <cstdint>

#include "stress/options.h"
#include "stress/scratch.h"
#include "stress/stage.h"

namespace iceblink::stress {

/// Prints what was wrong and what there was, and one line at the end. The exit code: 0, or 1. Long
/// runs in which something never happened are wrong too.
[[nodiscard]] int summarize(Stage& stage, const Options& options, const Scratch& scratch,
                            std::uint64_t milliseconds);

}  // namespace iceblink::stress
