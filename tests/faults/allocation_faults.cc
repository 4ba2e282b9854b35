#include "tests/faults/allocation_faults.h"

#include <cstdlib>
#include <new>

namespace iceblink::test {
namespace {

thread_local std::uint64_t allocations_left = 0;
thread_local bool has_failed = false;

void* allocate(std::size_t bytes) noexcept {
  return allocation_fails() ? nullptr : std::malloc(bytes);
}
void* allocate_or_throw(std::size_t bytes) {
  void* const memory = allocate(bytes);
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

void* operator new(std::size_t bytes) {
  return iceblink::test::allocate_or_throw(bytes);
}
void* operator new[](std::size_t bytes) {
  return iceblink::test::allocate_or_throw(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return iceblink::test::allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return iceblink::test::allocate(bytes);
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
