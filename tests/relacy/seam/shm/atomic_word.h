// The atomics of the protocol as the checker sees them: each access goes to the model of its word,
// with the order that the code names and the line that names it. Comes before shm/atomic_word.h in
// the include path of the code under test; the bytes of a word stay where and what they are.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "tests/relacy/model_memory.h"

namespace iceblink::shm {

template <typename T>
class Atomic {
  static_assert(sizeof(T) <= sizeof(std::uint64_t) && std::is_trivially_copyable_v<T>);
  using Place = std::source_location;

 public:
  // Not accesses of plain memory: what a word begins with is part of it.
  [[gnu::no_sanitize_thread]] constexpr Atomic() noexcept {}
  [[gnu::no_sanitize_thread]] constexpr Atomic(T value) noexcept : value_(value) {}
  Atomic(const Atomic&) = delete;
  Atomic& operator=(const Atomic&) = delete;

  T load(std::memory_order order, Place place = Place::current()) const noexcept {
    return of(relacy::load(&value_, sizeof(T), order, place));
  }
  void store(T value, std::memory_order order, Place place = Place::current()) noexcept {
    relacy::store(&value_, sizeof(T), bits(value), order, place);
  }
  T fetch_add(T value, std::memory_order order, Place place = Place::current()) noexcept {
    return of(relacy::fetch_add(&value_, sizeof(T), bits(value), order, place));
  }
  T fetch_sub(T value, std::memory_order order, Place place = Place::current()) noexcept {
    return of(relacy::fetch_add(&value_, sizeof(T), ~bits(value) + 1, order, place));
  }
  void wait(T old, std::memory_order order, Place place = Place::current()) const noexcept {
    while (load(order, place) == old) relacy::sleep_while(&value_, sizeof(T), bits(old));
  }
  void notify_all() noexcept { relacy::wake_all(&value_); }

 private:
  static std::uint64_t bits(T value) noexcept {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof(T));
    return word;
  }
  static T of(std::uint64_t word) noexcept {
    T value;
    std::memcpy(&value, &word, sizeof(T));
    return value;
  }

  alignas(sizeof(T)) T value_{};
};
static_assert(sizeof(Atomic<std::uint64_t>) == sizeof(std::atomic<std::uint64_t>));
static_assert(sizeof(Atomic<std::uint32_t>) == sizeof(std::atomic<std::uint32_t>));

inline void thread_fence(std::memory_order order,
                         std::source_location place = std::source_location::current()) noexcept {
  relacy::thread_fence(order, place);
}
inline void compiler_fence(std::memory_order,
                           std::source_location place = std::source_location::current()) noexcept {
  relacy::compiler_fence(place);
}

}  // namespace iceblink::shm
