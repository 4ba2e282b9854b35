// Fails the allocations of a call, one after another, each on a subject of its own, so that nothing
// comes from a cache.
#pragma once

#include <gtest/gtest.h>
#include <iceblink/result.h>

#include <cstdio>

#include "tests/faults/allocation_faults.h"

namespace iceblink::test {

inline constexpr std::uint64_t kAllocationsMax = 20'000;

inline bool is_out_of_memory(ErrorKind kind) {
  return kind == ErrorKind::kOutOfMemory;
}

/// `call` gives a Status, and takes what `make` made. Each failure is told, in a kind that
/// `is_right`, or nobody notices; and the call that comes after it succeeds.
template <typename Make, typename Call, typename IsRight = decltype(&is_out_of_memory)>
void fail_each_allocation(const char* name, const Make& make, const Call& call,
                          const IsRight& is_right = is_out_of_memory) {
  SCOPED_TRACE(name);
  std::uint64_t number = 1;
  std::uint64_t told_count = 0;
  for (;; ++number) {
    auto subject = make();
    fail_allocation(number);
    const Status status = call(subject);
    if (!end_allocation_faults()) {
      EXPECT_TRUE(status.ok()) << status.error().message();
      break;
    }
    if (!status) {
      ++told_count;
      EXPECT_TRUE(is_right(status.error().kind()))
          << "allocation " << number << ": " << to_string(status.error().kind()) << ": "
          << status.error().message();
    }
    const Status again = call(subject);
    EXPECT_TRUE(again.ok()) << "after allocation " << number << ": " << again.error().message();
    ASSERT_LT(number, kAllocationsMax);
    if (::testing::Test::HasFailure() && number > 200) return;
  }
  std::printf("%s: %llu allocations failed in turn, %llu told, the others not needed\n", name,
              static_cast<unsigned long long>(number - 1),
              static_cast<unsigned long long>(told_count));
  EXPECT_GT(told_count, 0u) << "the call allocates nothing that it needs";
}

}  // namespace iceblink::test
