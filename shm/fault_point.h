// Named places where a test build can be made to die, for showing that dying there is harmless.
//
// A test build (ICEBLINK_FAULT_POINTS) arms one point by
// `arm_fault_point("publish.before-root:3")`: the third pass through it kills the process with
// SIGKILL. Other builds compile to nothing.
//
// And planted faults: `arm_fault_point("planted.lost-publish:50")` makes every fiftieth pass do
// something wrong, for showing that the checks of the system find it. They are not among
// fault_points(), and constant false in other builds.
#pragma once

#include <iceblink/result.h>

#include <span>
#include <string_view>

namespace iceblink::shm {

inline constexpr const char* kPlantedPrefix = "planted.";

/// Every point there is, in the order of a daemon's life.
[[nodiscard]] std::span<const std::string_view> fault_points() noexcept;

/// Whether this build has any.
#ifdef ICEBLINK_FAULT_POINTS
inline constexpr bool kHasFaultPoints = true;
#else
inline constexpr bool kHasFaultPoints = false;
#endif

/// Arms `NAME` or `NAME:N` (the Nth pass, default 1; of a planted fault, every Nth).
/// kInvalidArgument names an unknown point; kUnsupported in a build without fault points.
[[nodiscard]] Status arm_fault_point(std::string_view spec);

#ifdef ICEBLINK_FAULT_POINTS
/// `name` must be one of fault_points().
void pass_fault_point(std::string_view name) noexcept;
/// Whether the planted fault of that name shows itself now.
[[nodiscard]] bool is_planted(std::string_view name) noexcept;
#define ICEBLINK_FAULT_POINT(name) ::iceblink::shm::pass_fault_point(name)
#define ICEBLINK_PLANTED(name) ::iceblink::shm::is_planted(name)
#else
#define ICEBLINK_FAULT_POINT(name) static_cast<void>(0)
#define ICEBLINK_PLANTED(name) false
#endif

}  // namespace iceblink::shm
