// A segment of a few records, made by the code that makes all of them, and what is true of it.
//
// Thread safety: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "shm/change.h"
#include "shm/layout.h"

namespace iceblink::test {

/// Bytes that begin at a page's alignment, and behind which a sanitizer finds any read.
class ExactBytes {
 public:
  ExactBytes() = default;
  explicit ExactBytes(std::span<const std::byte> bytes);
  /// Zeros.
  explicit ExactBytes(std::size_t size);

  /// Another size; what is new is zero.
  void resize(std::size_t size);
  [[nodiscard]] std::span<std::byte> span() noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> span() const noexcept { return {bytes_.get(), size_}; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const noexcept;
  };
  std::unique_ptr<std::byte, Free> bytes_;
  std::size_t size_ = 0;
};

/// A version that a commit made.
struct Version {
  shm::RecordKind kind;
  std::string key;
  std::string location;
  std::uint64_t generation;
};

struct SmallSegment {
  ExactBytes control;
  ExactBytes arena;
  std::vector<std::size_t> record_offsets;  // in the order of `versions`
  std::vector<Version> versions;
};

inline constexpr std::uint32_t kSmallEpoch = 3;
inline constexpr std::uint64_t kSmallBaseGeneration = 10;
inline constexpr std::uint64_t kSmallGeneration = 13;
inline constexpr std::uint64_t kSmallHashSeed = 0x1234;
inline constexpr std::uint64_t kSmallIndexCapacity = 64;
[[nodiscard]] shm::Id small_store_uuid() noexcept;

/// Makes its control page in `directory`, which has to be there, and takes it away again.
[[nodiscard]] SmallSegment make_small_segment(const std::string& directory);

/// The version of `key` at `generation`, as it was committed.
[[nodiscard]] const Version* true_version(const SmallSegment& segment, std::string_view key,
                                          std::uint64_t generation) noexcept;

}  // namespace iceblink::test
