// Elements of a document whose number is known at its end alone: gathered in pieces, then copied
// into the arena at once, exactly as many as there are.
//
// Thread safety: belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "iceberg/arena.h"

namespace iceblink::iceberg {

template <typename T>
class GrowingList {
 public:
  static_assert(std::is_trivially_destructible_v<T>);

  void push_back(const T& element) {
    if (pieces_.empty() || pieces_.back().size() == pieces_.back().capacity()) {
      const std::size_t length = pieces_.empty() ? kFirstPiece : kPiece;
      pieces_.emplace_back().reserve(length);
      piece_bytes_ += length * sizeof(T);
    }
    pieces_.back().push_back(element);
    ++size_;
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Memory held, in bytes.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return piece_bytes_ + pieces_.capacity() * sizeof(pieces_[0]);
  }

  [[nodiscard]] std::span<const T> copy_to(Arena& arena) const {
    if (size_ == 0) return {};
    T* const elements = arena.allocate_array<T>(size_);
    T* next = elements;
    for (const auto& piece : pieces_) {
      next = std::uninitialized_copy(piece.begin(), piece.end(), next);
    }
    return {elements, size_};
  }

 private:
  static constexpr std::size_t kFirstPiece = 16;
  static constexpr std::size_t kPiece = 256;

  std::vector<std::vector<T>> pieces_;
  std::size_t size_ = 0;
  std::size_t piece_bytes_ = 0;
};

}  // namespace iceblink::iceberg
