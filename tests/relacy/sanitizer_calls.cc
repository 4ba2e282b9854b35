// What -fsanitize=thread compiles into the code under test, answered by the model instead of by
// libtsan; the memory functions that it leaves to the library; and the heap.
#include <malloc.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tests/relacy/fiber.h"
#include "tests/relacy/model_memory.h"

namespace {

using iceblink::relacy::count_reference;
using iceblink::relacy::read_plain;
using iceblink::relacy::write_plain;

/// Freed while threads run; their first word chains them. Not used again, so that an access to
/// what is gone is always found.
void* buried = nullptr;

void* allocate(std::size_t size, std::size_t alignment) {
  void* const memory =
      std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  iceblink::relacy::renew(memory, ::malloc_usable_size(memory));
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr || !iceblink::relacy::is_modelled()) {
    std::free(memory);
    return;
  }
  iceblink::relacy::bury(memory, ::malloc_usable_size(memory));
  ::new (memory) void*(buried);
  buried = memory;
}

}  // namespace

namespace iceblink::relacy {

void free_buried() noexcept {
  while (buried != nullptr) {
    void* const memory = buried;
    std::memcpy(&buried, memory, sizeof(buried));
    std::free(memory);
  }
}

}  // namespace iceblink::relacy

void* operator new(std::size_t size) {
  return allocate(size, 16);
}
void* operator new[](std::size_t size) {
  return allocate(size, 16);
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

#define ICEBLINK_PLAIN(size)                    \
  void __tsan_read##size(void* at) {            \
    read_plain(at, size);                       \
  }                                             \
  void __tsan_write##size(void* at) {           \
    write_plain(at, size);                      \
  }                                             \
  void __tsan_unaligned_read##size(void* at) {  \
    read_plain(at, size);                       \
  }                                             \
  void __tsan_unaligned_write##size(void* at) { \
    write_plain(at, size);                      \
  }
ICEBLINK_PLAIN(1)
ICEBLINK_PLAIN(2)
ICEBLINK_PLAIN(4)
ICEBLINK_PLAIN(8)
ICEBLINK_PLAIN(16)
#undef ICEBLINK_PLAIN

void __tsan_read_range(void* at, std::size_t size) {
  read_plain(at, size);
}
void __tsan_write_range(void* at, std::size_t size) {
  write_plain(at, size);
}
// Both write and read the pointer to an object's virtual functions.
void __tsan_vptr_update(void* at, void*) {
  write_plain(at, sizeof(void*));
}
void __tsan_vptr_read(void* at) {
  read_plain(at, sizeof(void*));
}

// Of atomics that are not the seam's: load_once() reads plain memory, and the standard library
// counts references.
#define ICEBLINK_ATOMIC(bits)                                                                \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile void* at, int) {             \
    read_plain(const_cast<const void*>(at), bits / 8);                                       \
    return *static_cast<const volatile std::uint##bits##_t*>(at);                            \
  }                                                                                          \
  std::uint##bits##_t __tsan_atomic##bits##_fetch_add(volatile void* at,                     \
                                                      std::uint##bits##_t value, int) {      \
    count_reference(const_cast<const void*>(at));                                            \
    auto* const word = static_cast<volatile std::uint##bits##_t*>(at);                       \
    const std::uint##bits##_t old = *word;                                                   \
    *word = static_cast<std::uint##bits##_t>(old + value);                                   \
    return old;                                                                              \
  }                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile void* at, void* expected,       \
                                                    std::uint##bits##_t value, int, int) {   \
    count_reference(const_cast<const void*>(at));                                            \
    auto* const word = static_cast<volatile std::uint##bits##_t*>(at);                       \
    auto* const wanted = static_cast<std::uint##bits##_t*>(expected);                        \
    const bool is_equal = *word == *wanted;                                                  \
    if (is_equal) {                                                                          \
      *word = value;                                                                         \
    } else {                                                                                 \
      *wanted = *word;                                                                       \
    }                                                                                        \
    return is_equal ? 1 : 0;                                                                 \
  }                                                                                          \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile void* at, void* expected,         \
                                                  std::uint##bits##_t value, int a, int b) { \
    return __tsan_atomic##bits##_compare_exchange_strong(at, expected, value, a, b);         \
  }
ICEBLINK_ATOMIC(8)
ICEBLINK_ATOMIC(16)
ICEBLINK_ATOMIC(32)
ICEBLINK_ATOMIC(64)
#undef ICEBLINK_ATOMIC

void* __real_memcpy(void* to, const void* from, std::size_t size);
void* __real_memmove(void* to, const void* from, std::size_t size);
void* __real_memset(void* to, int byte, std::size_t size);
int __real_memcmp(const void* a, const void* b, std::size_t size);

void* __wrap_memcpy(void* to, const void* from, std::size_t size) {
  read_plain(from, size);
  write_plain(to, size);
  return __real_memcpy(to, from, size);
}
void* __wrap_memmove(void* to, const void* from, std::size_t size) {
  read_plain(from, size);
  write_plain(to, size);
  return __real_memmove(to, from, size);
}
void* __wrap_memset(void* to, int byte, std::size_t size) {
  write_plain(to, size);
  return __real_memset(to, byte, size);
}
int __wrap_memcmp(const void* a, const void* b, std::size_t size) {
  read_plain(a, size);
  read_plain(b, size);
  return __real_memcmp(a, b, size);
}

}  // extern "C"
