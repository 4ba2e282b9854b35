// What a document takes while it is read: a limit, and a word to whoever pays for the memory.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/result.h>

#include <cstddef>
#include <string>

#include "iceberg/manifest/manifest_reader.h"

namespace iceblink::iceberg {

class DocumentGrowth {
 public:
  /// Both outlive it.
  DocumentGrowth(const MetadataLimits& limits, const ManifestBytesWanted& wanted) noexcept
      : limits_(limits), wanted_(wanted) {}

  /// After each piece. kTooLarge: the document takes more than its file may, inflated.
  [[nodiscard]] Status grown(std::size_t document_bytes, std::size_t scratch_bytes) {
    if (document_bytes > limits_.inflated_bytes_max) {
      return {ErrorKind::kTooLarge, "the document takes more memory than inflated_bytes_max, " +
                                        std::to_string(limits_.inflated_bytes_max) + " bytes"};
    }
    if (document_bytes + scratch_bytes < told_bytes_ + kStepBytes) return Ok{};
    tell(document_bytes, scratch_bytes);
    return Ok{};
  }

  void tell(std::size_t document_bytes, std::size_t scratch_bytes) {
    told_bytes_ = document_bytes + scratch_bytes;
    if (wanted_) wanted_(told_bytes_, document_bytes);
  }

 private:
  static constexpr std::size_t kStepBytes = std::size_t{64} << 10;

  const MetadataLimits& limits_;
  const ManifestBytesWanted& wanted_;
  std::size_t told_bytes_ = 0;
};

}  // namespace iceblink::iceberg
