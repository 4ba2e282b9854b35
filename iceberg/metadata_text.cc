#include "iceberg/metadata_text.h"

#include <utility>

namespace iceblink::iceberg {
namespace {

Error zstd_is_unsupported() {
  return {ErrorKind::kUnsupported, "the file is compressed with zstd, only gzip is understood"};
}

bool is_zstd(std::string_view bytes) noexcept {
  return bytes.starts_with("\x28\xb5\x2f\xfd");
}

Error empty() {
  return {ErrorKind::kInvalidArgument, "the file is empty"};
}

}  // namespace

Result<OwnedMetadataText> take_metadata_text(ByteBuffer file, std::size_t inflated_bytes_max,
                                             const TextBytesWanted& wanted) {
  if (is_zstd(file.view())) return zstd_is_unsupported();
  OwnedMetadataText text;
  if (is_gzip(file.bytes())) {
    ICEBLINK_ASSIGN_OR_RETURN(text.bytes, inflate_gzip(file.bytes(), inflated_bytes_max, wanted));
  } else {
    text.bytes = std::move(file);
  }
  text.bytes.shrink();
  text.bom_bytes = bom_bytes_of(text.bytes.view());
  if (text.bytes.size() == text.bom_bytes) return empty();
  return text;
}

Result<MetadataText> MetadataText::of(std::span<const std::byte> file,
                                      std::size_t inflated_bytes_max) {
  MetadataText text;
  text.stored_ = {reinterpret_cast<const char*>(file.data()), file.size()};
  if (is_zstd(text.stored_)) return zstd_is_unsupported();
  if (is_gzip(file)) {
    ICEBLINK_ASSIGN_OR_RETURN(text.inflated_, inflate_gzip(file, inflated_bytes_max));
    text.stored_ = {};
  }
  text.bom_bytes_ = bom_bytes_of(text.view());
  if (text.view().empty()) return empty();
  return text;
}

}  // namespace iceblink::iceberg
