// In the program itself, so that every library finds these before libc's or a sanitizer's.
#include "tests/faults/allocation_faults.h"

#include <cerrno>
#include <cstdlib>
#include <new>

#include "faults/next.h"

namespace iceblink::test {
namespace {

thread_local std::uint64_t allocations_left = 0;
thread_local bool has_failed = false;

constinit faults::Next<void*(std::size_t)> next_malloc("malloc");
constinit faults::Next<void*(std::size_t, std::size_t)> next_calloc("calloc");
constinit faults::Next<void*(void*, std::size_t)> next_realloc("realloc");
constinit faults::Next<int(void**, std::size_t, std::size_t)> next_posix_memalign("posix_memalign");
constinit faults::Next<void*(std::size_t, std::size_t)> next_aligned_alloc("aligned_alloc");

template <typename Allocate>
void* allocate(Allocate&& carry_out) noexcept {
  if (!allocation_fails()) return carry_out();
  errno = ENOMEM;
  return nullptr;
}
void* allocate_or_throw(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void fail_allocation(std::uint64_t number) noexcept {
  has_failed = false;
  allocations_left = number;
}

bool end_allocation_faults() noexcept {
  allocations_left = 0;
  return has_failed;
}

bool allocation_fails() noexcept {
  if (allocations_left == 0 || --allocations_left > 0) return false;
  has_failed = true;
  return true;
}

}  // namespace iceblink::test

using iceblink::test::allocate;
using iceblink::test::allocate_or_throw;

#pragma GCC visibility push(default)  // libraries are to find them
extern "C" {

void* malloc(std::size_t bytes) {
  return allocate([=] { return iceblink::test::next_malloc(bytes); });
}
void* calloc(std::size_t count, std::size_t bytes) {
  return allocate([=] { return iceblink::test::next_calloc(count, bytes); });
}
void* realloc(void* memory, std::size_t bytes) {
  return allocate([=] { return iceblink::test::next_realloc(memory, bytes); });
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return allocate([=] { return iceblink::test::next_aligned_alloc(alignment, bytes); });
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  if (iceblink::test::allocation_fails()) return ENOMEM;
  return iceblink::test::next_posix_memalign(memory, alignment, bytes);
}

}  // extern "C"
#pragma GCC visibility pop

// Of sanitizers these would not come by malloc.
void* operator new(std::size_t bytes) {
  return allocate_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate_or_throw(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return std::malloc(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto align = static_cast<std::size_t>(alignment);
  void* const memory = iceblink::test::allocation_fails()
                           ? nullptr
                           : std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}
