// Writes Avro, whole or damaged: values in the binary encoding, and object container files of them
// (Avro specification 1.11).
//
//   AvroFile file(R"({"type":"record","name":"r","fields":[…]})");
//   file.add_metadata("format-version", "2");
//   file.add_record(AvroBytes().text("a").null_branch().integer(7));
//   file.end_block();
//   file.bytes()
#pragma once

#include <libdeflate.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace iceblink::iceberg::testing {

/// Values one after the other, as a record has them.
class AvroBytes {
 public:
  /// An int, a long, an enum's symbol.
  AvroBytes& integer(std::int64_t value) {
    auto bits = static_cast<std::uint64_t>(value) << 1 ^ (value < 0 ? ~std::uint64_t{0} : 0);
    for (; bits > 0x7f; bits >>= 7) bytes_ += static_cast<char>(bits | 0x80);
    bytes_ += static_cast<char>(bits);
    return *this;
  }
  AvroBytes& boolean(int value) { return raw({static_cast<char>(value)}); }
  AvroBytes& float32(float value) { return number(value); }
  AvroBytes& float64(double value) { return number(value); }
  /// A string, or bytes.
  AvroBytes& text(std::string_view text) {
    integer(static_cast<std::int64_t>(text.size()));
    return append(text);
  }
  /// As it is: a fixed, a record, what is damaged.
  AvroBytes& append(std::string_view bytes) {
    bytes_ += bytes;
    return *this;
  }
  AvroBytes& append(const AvroBytes& values) { return append(values.bytes_); }
  AvroBytes& raw(std::initializer_list<char> bytes) {
    bytes_.append(bytes);
    return *this;
  }

  /// In front of a union's value.
  AvroBytes& branch(std::int64_t index) { return integer(index); }
  /// The value of ["null", …] that is null; and the branch of one that is not.
  AvroBytes& null_branch() { return branch(0); }
  AvroBytes& some_branch() { return branch(1); }

  /// An array in one part; each of `elements` is one. A map: each is a key with its value.
  AvroBytes& array(const std::vector<AvroBytes>& elements) {
    if (!elements.empty()) part(elements);
    return end_array();
  }
  AvroBytes& part(const std::vector<AvroBytes>& elements) {
    integer(static_cast<std::int64_t>(elements.size()));
    return append(joined(elements));
  }
  /// With its size in front, and a negative count.
  AvroBytes& sized_part(const std::vector<AvroBytes>& elements) {
    const std::string all = joined(elements);
    integer(-static_cast<std::int64_t>(elements.size()));
    integer(static_cast<std::int64_t>(all.size()));
    return append(all);
  }
  AvroBytes& end_array() { return integer(0); }

  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  template <typename Number>
  AvroBytes& number(Number value) {
    char bytes[sizeof(value)];
    std::memcpy(bytes, &value, sizeof(value));
    return append(std::string_view(bytes, sizeof(value)));
  }
  static std::string joined(const std::vector<AvroBytes>& parts) {
    std::string all;
    for (const AvroBytes& each : parts) all += each.bytes_;
    return all;
  }

  std::string bytes_;
};

/// Raw deflate (RFC 1951).
inline std::string deflated(std::string_view data) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_deflate_compress_bound(compressor, data.size()), '\0');
  out.resize(
      libdeflate_deflate_compress(compressor, data.data(), data.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

class AvroFile {
 public:
  /// `codec`: of these, "deflate" is written; any other is just named, and empty is left out.
  explicit AvroFile(std::string_view schema, std::string_view codec = "null")
      : is_deflated_(codec == "deflate") {
    add_metadata("avro.schema", schema);
    if (!codec.empty()) add_metadata("avro.codec", codec);
  }

  AvroFile& add_metadata(std::string_view key, std::string_view value) {
    metadata_.push_back(AvroBytes().text(key).text(value));
    return *this;
  }

  AvroFile& add_record(const AvroBytes& record) {
    ++record_count_;
    block_ += record.bytes();
    return *this;
  }
  /// The records since the last block are one.
  AvroFile& end_block() {
    add_block(record_count_, is_deflated_ ? deflated(block_) : block_);
    record_count_ = 0;
    block_.clear();
    return *this;
  }
  /// As it is stored, with any count.
  AvroFile& add_block(std::int64_t record_count, std::string_view stored) {
    blocks_.integer(record_count).text(stored).append(kSync);
    return *this;
  }
  /// Behind the blocks so far.
  AvroFile& append(std::string_view bytes) {
    blocks_.append(bytes);
    return *this;
  }

  [[nodiscard]] std::string header() const {
    return AvroBytes().append(kMagic).array(metadata_).append(kSync).bytes();
  }
  /// The file; records that are in no block yet make the last one.
  [[nodiscard]] std::string bytes() {
    if (record_count_ > 0) end_block();
    return header() + blocks_.bytes();
  }

  static constexpr std::string_view kMagic = {"Obj\x01", 4};
  static constexpr std::string_view kSync = "0123456789abcdef";

 private:
  const bool is_deflated_;
  std::vector<AvroBytes> metadata_;
  std::int64_t record_count_ = 0;
  std::string block_;
  AvroBytes blocks_;
};

}  // namespace iceblink::iceberg::testing
