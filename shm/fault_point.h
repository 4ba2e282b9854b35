// Named places where a test build can be made to die, for showing that dying there is harmless.
//
// A test build (ICEBLINK_FAULT_POINTS) arms one point by
// `arm_fault_point("publish.before-root:3")`: the third pass through it kills the process with
// SIGKILL. Other builds compile to nothing.
#pragma once

#include <iceblink/result.h>

#include <span>
#include <string_view>

namespace iceblink::shm {

/// Every point there is, in the order of a daemon's life.
[[nodiscard]] std::span<const std::string_view> fault_points() noexcept;

/// Arms `NAME` or `NAME:N` (the Nth pass, default 1). kInvalidArgument names an unknown point;
/// kUnsupported in a build without fault points.
[[nodiscard]] Status arm_fault_point(std::string_view spec);

#ifdef ICEBLINK_FAULT_POINTS
/// `name` must be one of fault_points().
void pass_fault_point(std::string_view name) noexcept;
#define ICEBLINK_FAULT_POINT(name) ::iceblink::shm::pass_fault_point(name)
#else
#define ICEBLINK_FAULT_POINT(name) static_cast<void>(0)
#endif

}  // namespace iceblink::shm
