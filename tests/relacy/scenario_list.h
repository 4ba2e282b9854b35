// The scenarios that have a file of their own. `directory` is empty, and the scenario's own.
#pragma once

#include "tests/relacy/scenario.h"

namespace iceblink::relacy {

[[nodiscard]] std::unique_ptr<Scenario> make_cache_scenario(std::string_view directory);
[[nodiscard]] std::unique_ptr<Scenario> make_section_scenario(std::string_view directory);

}  // namespace iceblink::relacy
