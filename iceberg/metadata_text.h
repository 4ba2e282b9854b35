// The JSON text of a metadata file: what stands in it, once inflated and without its BOM.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "iceberg/byte_buffer.h"
#include "iceberg/gzip.h"

namespace iceblink::iceberg {

/// Of the BOM that a text begins with: 3, or 0.
[[nodiscard]] inline std::size_t bom_bytes_of(std::string_view text) noexcept {
  return text.starts_with("\xef\xbb\xbf") ? 3 : 0;
}

/// A text and what stands in front of it.
struct OwnedMetadataText {
  ByteBuffer bytes;
  std::size_t bom_bytes = 0;
};

/// The text of a file, which becomes its memory where it is the text already. `wanted` is told when
/// it is not. Errors: those of MetadataText::of.
[[nodiscard]] Result<OwnedMetadataText> take_metadata_text(
    ByteBuffer file, std::size_t inflated_bytes_max = kInflatedBytesMaxDefault,
    const TextBytesWanted& wanted = {});

/// Borrows the file's bytes when they are the text already, and owns it when it was compressed.
class MetadataText {
 public:
  /// By its first bytes, whatever it is called: gzip is inflated, a UTF-8 BOM left out.
  /// kInvalidArgument: empty, or not a gzip file; kUnsupported: zstd; kTooLarge; kOutOfMemory.
  [[nodiscard]] static Result<MetadataText> of(
      std::span<const std::byte> file, std::size_t inflated_bytes_max = kInflatedBytesMaxDefault);

  /// Lives as long as this and the file's bytes.
  [[nodiscard]] std::string_view view() const noexcept {
    return (inflated_.size() == 0 ? stored_ : inflated_.view()).substr(bom_bytes_);
  }

 private:
  std::string_view stored_;
  ByteBuffer inflated_;
  std::size_t bom_bytes_ = 0;
};

}  // namespace iceblink::iceberg
