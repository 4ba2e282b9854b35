// Counts every allocation of the program that includes it, which has one thread, and includes it in
// one file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

// Of what is allocated and not yet freed, as it was asked for, and the most there was. This program
// has one thread.
std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;

constexpr std::size_t kHeaderBytes = 16;  // keeps the alignment of malloc

void* allocate(std::size_t bytes) {
  auto* const block = static_cast<char*>(std::malloc(bytes + kHeaderBytes));
  if (block == nullptr) throw std::bad_alloc();
  *reinterpret_cast<std::size_t*>(block) = bytes;
  live_bytes += bytes;
  peak_bytes = std::max(peak_bytes, live_bytes);
  return block + kHeaderBytes;
}
void release(void* memory) noexcept {
  if (memory == nullptr) return;
  char* const block = static_cast<char*>(memory) - kHeaderBytes;
  live_bytes -= *reinterpret_cast<std::size_t*>(block);
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
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
