// Whether a manifest is what the manifest list says of it, and how many files and rows it holds, by
// the status of their entries.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/manifest.h>
#include <iceblink/result.h>

#include <cstdint>

#include "iceberg/manifest/record_fields.h"

namespace iceblink::iceberg {

class ManifestTally {
 public:
  /// Told to the fault: more rows than 64 bits can count.
  void add(const ManifestEntry& entry, EntryFault& fault);

  [[nodiscard]] const ManifestCounts& counts() const noexcept { return counts_; }

 private:
  ManifestCounts counts_{0, 0, 0, 0, 0, 0};
};

/// As far as the list knows them. kCorrupt. Throws std::bad_alloc.
[[nodiscard]] Status check_identity(std::int32_t spec_id, ManifestContent content,
                                    const ManifestFile& listed);

/// Whether a manifest is what a list says of it: content, spec, counts where they are there.
/// read_manifest() has asked; one that is cached may be of another list. kCorrupt.
[[nodiscard]] Status check_listed(const Manifest& manifest, const ManifestFile& listed) noexcept;

}  // namespace iceblink::iceberg
