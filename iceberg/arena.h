// The memory of one document: allocated in blocks, never freed apart, counted to the byte.
//
// Thread safety: belongs to the thread that builds the document; constant afterwards.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "iceberg/byte_buffer.h"

namespace iceblink::iceberg {

class Arena {
 public:
  /// `first_block_bytes`: about what the document will need.
  explicit Arena(std::size_t first_block_bytes = 1024) : next_block_bytes_(first_block_bytes) {}

  /// Throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment) {
    const std::size_t padding = -reinterpret_cast<std::uintptr_t>(free_) & (alignment - 1);
    if (bytes + padding > free_bytes_) [[unlikely]]
      return allocate_in_new_block(bytes);
    char* const place = free_ + padding;
    free_ = place + bytes;
    free_bytes_ -= bytes + padding;
    return place;
  }
  /// A copy of the elements, which need no destruction.
  template <typename T>
  [[nodiscard]] std::span<const T> copy(std::span<const T> elements) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (elements.empty()) return {};
    T* const place = static_cast<T*>(allocate(elements.size_bytes(), alignof(T)));
    std::uninitialized_copy(elements.begin(), elements.end(), place);
    return {place, elements.size()};
  }
  template <typename T>
  [[nodiscard]] std::span<const T> copy(const std::vector<T>& elements) {
    return copy(std::span<const T>(elements));
  }
  [[nodiscard]] std::string_view copy(std::string_view text) {
    const auto copied = copy(std::span<const char>(text.data(), text.size()));
    return {copied.data(), copied.size()};
  }
  [[nodiscard]] std::optional<std::string_view> copy_if_any(
      const std::optional<std::string_view>& text) {
    return text ? std::optional(copy(*text)) : std::nullopt;
  }
  /// Room for `count` elements, which are the caller's to construct.
  template <typename T>
  [[nodiscard]] T* allocate_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
  }
  /// Takes a whole buffer over: the views into it live as long as the arena.
  std::string_view adopt(ByteBuffer text) {
    texts_.push_back(std::move(text));
    text_bytes_ += texts_.back().capacity();
    return texts_.back().view();
  }

  /// All that it holds, itself included.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sizeof(*this) + block_bytes_ + text_bytes_ + blocks_.capacity() * sizeof(blocks_[0]) +
           texts_.capacity() * sizeof(texts_[0]);
  }

 private:
  [[nodiscard]] void* allocate_in_new_block(std::size_t bytes) {
    const std::size_t size = std::max(bytes, next_block_bytes_);
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(size));
    block_bytes_ += size;
    next_block_bytes_ = std::max<std::size_t>(1024, block_bytes_ / 8);
    char* const place = blocks_.back().get();  // aligned as operator new aligns
    free_ = place + bytes;
    free_bytes_ = size - bytes;
    return place;
  }

  std::vector<std::unique_ptr<char[]>> blocks_;
  std::vector<ByteBuffer> texts_;
  char* free_ = nullptr;
  std::size_t free_bytes_ = 0;
  std::size_t next_block_bytes_;
  std::size_t block_bytes_ = 0;
  std::size_t text_bytes_ = 0;
};

}  // namespace iceblink::iceberg
