// The ways in which a call may fail.
#pragma once

#include <string>
#include <vector>

#include "tests/faults/fault_switch.h"

namespace iceblink::test {

/// Of each of the first `count` calls: `short` where it moves bytes, and the errors that fit.
[[nodiscard]] std::vector<Fault> faults_of(faults::Call call, std::uint64_t count);
[[nodiscard]] std::string text_of(const Fault& fault);

}  // namespace iceblink::test
