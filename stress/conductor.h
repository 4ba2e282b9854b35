// A run from its beginning to its end: who is there, what happens to whom and when, and what it all
// came to.
#pragma once

#include "stress/options.h"

namespace iceblink::stress {

/// The exit code of the program: 0, 1 or 2.
[[nodiscard]] int conduct(const Options& options);

}  // namespace iceblink::stress
