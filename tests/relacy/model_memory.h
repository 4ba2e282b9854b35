// What the code under test meets instead of memory: Relacy's model of it.
//
// Three kinds of access come here. Atomic words, from the seam (tests/relacy/seam/), by address,
// with their order and source line. Plain memory, from the calls that -fsanitize=thread compiles
// into each access of the code under test (sanitizer_calls.cc answers them): a read that nothing
// orders after the write is a data race, of records as of heap objects. And the system: mutexes,
// condition variables, the builder's thread, futexes, membarrier and mappings (system_calls.cc).
//
// Threads of a scenario are fibers of one system thread; between two of these calls none is
// interrupted. Outside of a scenario's threads everything is what it is in production.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <string>

namespace iceblink::relacy {

using Place = std::source_location;

std::uint64_t load(const void* word, std::size_t bytes, std::memory_order order,
                   const Place& place) noexcept;
void store(void* word, std::size_t bytes, std::uint64_t value, std::memory_order order,
           const Place& place) noexcept;
std::uint64_t fetch_add(void* word, std::size_t bytes, std::uint64_t value, std::memory_order order,
                        const Place& place) noexcept;
/// Sleeps until woken, unless the newest value is another. No order comes of it.
void sleep_while(const void* word, std::size_t bytes, std::uint64_t value) noexcept;
void wake_all(const void* word) noexcept;
void thread_fence(std::memory_order order, const Place& place) noexcept;
void compiler_fence(const Place& place) noexcept;
/// membarrier(PRIVATE_EXPEDITED): a full barrier in every thread, wherever it stands.
void system_wide_fence() noexcept;

/// An access of plain memory.
void read_plain(const void* from, std::size_t bytes) noexcept;
void write_plain(const void* from, std::size_t bytes) noexcept;
/// Plain memory that somebody else uses from now on; and memory that nobody may touch again.
void renew(const void* from, std::size_t bytes) noexcept;
void bury(const void* from, std::size_t bytes) noexcept;
/// A read-modify-write of the standard library (reference counts): acquire and release.
void count_reference(const void* word) noexcept;

void lock(const void* mutex) noexcept;
void unlock(const void* mutex) noexcept;
/// True: woken, or for no reason. False: timed out.
bool wait(const void* condition, const void* mutex, bool is_timed) noexcept;
void notify(const void* condition, bool all) noexcept;
void give_way() noexcept;

/// What is made between these two is made once, before all threads (a function's static object).
void begin_static() noexcept;
void end_static() noexcept;

/// True while a fiber runs code under test: its accesses are the model's.
[[nodiscard]] bool is_modelled() noexcept;
/// Ends the search: the code under test has done wrong.
void expect(bool is_right, const char* what) noexcept;

/// The seam of the one thread-local of the code under test: each fiber has its own.
void keep_per_fiber(void** thread_local_pointer) noexcept;

/// The access that this search weakens to relaxed, as "file:line"; or one of the two that are not
/// an access of one word: "membarrier" leaves it out, "compiler-fence" lets the compiler move the
/// store before it behind the load that follows.
void weaken(std::string place);
[[nodiscard]] bool is_weakened(const char* name) noexcept;

}  // namespace iceblink::relacy
