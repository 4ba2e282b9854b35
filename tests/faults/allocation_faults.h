// Allocations of this thread that fail on demand, for a program that links allocation_faults.cc:
// those of C++, of C libraries and of libc itself.
#pragma once

#include <cstdint>

namespace iceblink::test {

/// The `number`th allocation of this thread from now on fails, once; 0: none.
void fail_allocation(std::uint64_t number) noexcept;
/// Nothing fails any more. True when one did.
bool end_allocation_faults() noexcept;
/// True: this allocation is to fail.
[[nodiscard]] bool allocation_fails() noexcept;

}  // namespace iceblink::test
