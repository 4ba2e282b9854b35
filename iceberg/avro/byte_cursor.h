// Reads the primitive parts of Avro's binary encoding, within bounds (Avro specification 1.11,
// "Binary Encoding").
//
// Thread safety: belongs to one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace iceblink::iceberg::avro {

class ByteCursor {
 public:
  ByteCursor() = default;
  /// The bytes outlive it.
  explicit ByteCursor(std::string_view bytes, std::size_t begin = 0) noexcept
      : bytes_(bytes), offset_(begin) {}

  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - offset_; }
  [[nodiscard]] bool at_end() const noexcept { return left() == 0; }

  enum class Fault : std::uint8_t {
    kNone,
    kCutShort,  // the bytes end first
    kTooLong,   // no number of 64 bits, or a negative length
  };

  // Each: what is wrong; then the cursor stands where it stood, and the result is unspecified.

  /// A variable-length zig-zag number.
  [[nodiscard]] Fault read_long(std::int64_t& value) noexcept {
    std::uint64_t bits = 0;
    std::size_t at = offset_;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (at == bytes_.size()) return Fault::kCutShort;
      const auto byte = static_cast<std::uint8_t>(bytes_[at++]);
      if (shift == 63 && byte > 1) return Fault::kTooLong;
      bits |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) {
        value = static_cast<std::int64_t>(bits >> 1 ^ (~(bits & 1) + 1));
        offset_ = at;
        return Fault::kNone;
      }
    }
    return Fault::kTooLong;
  }
  [[nodiscard]] Fault skip(std::size_t count) noexcept {
    if (count > left()) return Fault::kCutShort;
    offset_ += count;
    return Fault::kNone;
  }
  /// A length, and as many bytes.
  [[nodiscard]] Fault read_bytes(std::string_view& bytes) noexcept {
    const std::size_t begin = offset_;
    std::int64_t length = 0;
    Fault fault = read_long(length);
    if (fault == Fault::kNone && length < 0) fault = Fault::kTooLong;
    if (fault == Fault::kNone && static_cast<std::uint64_t>(length) > left()) {
      fault = Fault::kCutShort;
    }
    if (fault != Fault::kNone) {
      offset_ = begin;
      return fault;
    }
    bytes = bytes_.substr(offset_, static_cast<std::size_t>(length));
    offset_ += bytes.size();
    return fault;
  }
  /// Not at the end.
  [[nodiscard]] std::uint8_t take_byte() noexcept {
    return static_cast<std::uint8_t>(bytes_[offset_++]);
  }

 private:
  std::string_view bytes_;
  std::size_t offset_ = 0;
};

}  // namespace iceblink::iceberg::avro
