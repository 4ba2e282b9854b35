// Bytes of a file: owned, movable, and not zeroed before they are read into.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

namespace iceblink::iceberg {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  /// `size` bytes of unspecified content. Throws std::bad_alloc.
  explicit ByteBuffer(std::size_t size)
      : data_(size == 0 ? nullptr : std::make_unique_for_overwrite<char[]>(size)),
        size_(size),
        capacity_(size) {}
  explicit ByteBuffer(std::string_view text) : ByteBuffer(text.size()) {
    text.copy(data_.get(), text.size());
  }
  ByteBuffer(ByteBuffer&& other) noexcept
      : data_(std::move(other.data_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  [[nodiscard]] char* data() noexcept { return data_.get(); }
  [[nodiscard]] const char* data() const noexcept { return data_.get(); }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// What it takes from the allocator.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] std::string_view view() const noexcept { return {data_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
    return std::as_bytes(std::span(data_.get(), size_));
  }

  /// Keeps the first min(size(), size) bytes. Grows by copying; throws std::bad_alloc.
  void resize(std::size_t size) {
    if (size > capacity_) {
      ByteBuffer larger(size);
      view().copy(larger.data(), size_);
      *this = std::move(larger);
    }
    size_ = size;
  }
  /// Gives back what lies behind size(), when that is worth a copy.
  void shrink() {
    if (is_worth_shrinking()) *this = ByteBuffer(view());
  }
  [[nodiscard]] bool is_worth_shrinking() const noexcept {
    return capacity_ - size_ > size_ / 16 + 64;
  }
  /// Leaves the bytes where they are, for ever, and is empty.
  void leak() noexcept {
    static_cast<void>(data_.release());
    size_ = capacity_ = 0;
  }

 private:
  std::unique_ptr<char[]> data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace iceblink::iceberg
