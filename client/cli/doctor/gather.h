// The looks at an installation. They change nothing; each ends within a few seconds, and says what
// it could not see by leaving it out.
//
// Thread safety: free functions, from one thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/cli/doctor/facts.h"
#include "client/cli/invocation.h"

namespace iceblink::cli {

[[nodiscard]] PathFacts path_facts_of(const std::string& path);
/// "main" of /run/iceblink/main; empty for other places, which no unit of systemd's serves.
[[nodiscard]] std::string instance_of(const std::string& runtime_dir);
[[nodiscard]] RuntimeFacts gather_runtime(const Invocation& invocation);
/// The name that a restore gives to a store that it puts aside: lmdb.<time>, lmdb.<time>-<number>.
[[nodiscard]] bool is_kept_store(std::string_view name);
[[nodiscard]] UserFacts gather_user();
[[nodiscard]] KernelFacts gather_kernel();
/// Of the data directory that was named, or else of the default one of the instance, if it is one.
[[nodiscard]] DataFacts gather_data(const std::string& instance,
                                    const std::optional<std::string>& data_dir);
/// To be called before anything connects: that would start a unit that has failed again.
[[nodiscard]] UnitFacts gather_unit(const std::string& instance);

}  // namespace iceblink::cli
