// The sample with a small metadata file for each table.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "bench/sample_catalog.h"
#include "shm/change.h"

namespace iceblink::bench {

/// A table's metadata; the property "number" says which.
[[nodiscard]] std::string sample_document(std::size_t index);

class DocumentSource : public shm::CatalogSource {
 public:
  /// Writes the files below `directory`, which is made when it is missing.
  DocumentSource(SampleCatalog sample, std::string directory);
  [[nodiscard]] std::uint64_t generation() const override { return 1; }
  [[nodiscard]] Status for_each(
      const std::function<Status(const shm::Change&)>& visit) const override;

 private:
  [[nodiscard]] std::string location(std::size_t index) const;

  SampleCatalog sample_;
  std::string directory_;
};

}  // namespace iceblink::bench
