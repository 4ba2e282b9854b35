// From facts to findings, and nothing else. Each adds what it found: at least one line, but where
// there is nothing to look at.
//
// Thread safety: pure functions.
#pragma once

#include "client/cli/doctor/facts.h"
#include "client/cli/doctor/findings.h"

namespace iceblink::cli {

// check_runtime.cc
void check_runtime_directory(const RuntimeFacts& facts, Findings& findings);
void check_tmpfs_size(const RuntimeFacts& facts, Findings& findings);
void check_permissions(const RuntimeFacts& facts, const UserFacts& user, Findings& findings);
void check_user(const RuntimeFacts& facts, const UserFacts& user, Findings& findings);
void check_segment(const RuntimeFacts& facts, Findings& findings);
void check_daemon(const RuntimeFacts& facts, Findings& findings);
void check_versions(const RuntimeFacts& facts, Findings& findings);
void check_leftovers(const RuntimeFacts& facts, Findings& findings);

// check_kernel.cc
void check_io_uring(const KernelFacts& facts, Findings& findings);
void check_calls(const KernelFacts& facts, Findings& findings);
void check_limits(const KernelFacts& facts, Findings& findings);
void check_memory(const KernelFacts& facts, Findings& findings);

// check_host.cc
/// `runtime` says as whom the daemon of that directory runs.
void check_data_directory(const DataFacts& facts, const RuntimeFacts& runtime, Findings& findings);
void check_unit(const UnitFacts& facts, Findings& findings);

/// All of them, in an order that reads well.
[[nodiscard]] Findings check_all(const Facts& facts);

}  // namespace iceblink::cli
