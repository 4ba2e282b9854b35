// What this program was built as, and whether figures from it mean anything.
//
// Thread safety: pure functions.
#pragma once

#include <string>

namespace iceblink::bench {

/// Why figures of this build would be worthless; empty when they are not.
[[nodiscard]] std::string unfit_because();

/// {"compiler": …, "unfit": …, versions of what is compared with}
[[nodiscard]] std::string build_as_json();

}  // namespace iceblink::bench
