// A table or view as a snapshot shows it, without a copy.
#pragma once

#include <iceblink/object_kind.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace iceblink {

namespace shm {
struct Record;
}

/// One version of one table's (or view's) pointer. Immutable; 32 bytes; borrows from the snapshot
/// it came from and lives as long as one of that snapshot's copies does.
class TableView {
 public:
  /// The stored string, exactly.
  [[nodiscard]] std::string_view metadata_location() const noexcept {
    return {location_, location_bytes_};
  }
  /// Of the change that made this version.
  [[nodiscard]] std::uint64_t generation() const noexcept { return generation_; }
  [[nodiscard]] ObjectKind kind() const noexcept { return kind_; }
  /// Of the table metadata; 0 when unknown.
  [[nodiscard]] unsigned format_version() const noexcept { return format_version_; }
  /// All zero when unknown.
  [[nodiscard]] std::array<std::uint8_t, 16> table_uuid() const noexcept;
  /// XXH3-128 of the metadata file's bytes as stored; all zero when the pointer was registered
  /// unverified.
  [[nodiscard]] std::array<std::uint8_t, 16> metadata_fingerprint() const noexcept;

 private:
  friend class TableViewMaker;
  TableView() = default;

  const shm::Record* record_;
  const char* location_;
  std::uint64_t generation_;
  std::uint16_t location_bytes_;
  ObjectKind kind_;
  std::uint8_t format_version_;
};

}  // namespace iceblink
