#include "iceberg/metadata_text.h"

namespace iceblink::iceberg {

Result<MetadataText> MetadataText::of(std::span<const std::byte> file,
                                      std::size_t inflated_bytes_max) {
  MetadataText text;
  text.stored_ = {reinterpret_cast<const char*>(file.data()), file.size()};
  if (text.stored_.starts_with("\x28\xb5\x2f\xfd")) {
    return {ErrorKind::kUnsupported, "the file is compressed with zstd, only gzip is understood"};
  }
  if (is_gzip(file)) {
    ICEBLINK_ASSIGN_OR_RETURN(text.inflated_, inflate_gzip(file, inflated_bytes_max));
    text.stored_ = {};
  }
  if (text.view().starts_with("\xef\xbb\xbf")) text.bom_bytes_ = 3;
  if (text.view().empty()) return {ErrorKind::kInvalidArgument, "the file is empty"};
  return text;
}

}  // namespace iceblink::iceberg
