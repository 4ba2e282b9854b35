// The looks at an installation. They change nothing; each ends within a few seconds, and says what
// it could not see by leaving it out.
//
// Thread safety: free functions, from one thread.
#pragma once

#include <optional>
#include <string>

#include "client/cli/doctor/facts.h"
#include "client/cli/invocation.h"

namespace iceblink::cli {

[[nodiscard]] PathFacts path_facts_of(const std::string& path);
[[nodiscard]] RuntimeFacts gather_runtime(const Invocation& invocation);
[[nodiscard]] UserFacts gather_user();
[[nodiscard]] KernelFacts gather_kernel();
/// Of the data directory that was named, or of the default one of the instance.
[[nodiscard]] DataFacts gather_data(const std::string& runtime_dir,
                                    const std::optional<std::string>& data_dir);
[[nodiscard]] UnitFacts gather_unit(const std::string& runtime_dir);

}  // namespace iceblink::cli
