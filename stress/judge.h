// The process that judges: reads the daemon's log, takes what writers and readers have said, and
// lets the checker compare. At the end it compares the store's listing and the segment, too.
#pragma once

#include <string>

#include "stress/stage.h"

namespace iceblink::stress {

/// Ends once the run is over and all is judged; what was wrong stands on the stage.
[[noreturn]] void judge_on(Stage& stage, const KeySpace& keys, const std::string& runtime_dir);

}  // namespace iceblink::stress
