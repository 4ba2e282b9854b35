// What the daemon tells the segment: one version of one key.
#pragma once

#include <iceblink/result.h>

#include <cstdint>
#include <functional>
#include <string_view>

#include "shm/layout.h"

namespace iceblink::shm {

/// A version of a namespace, table or view, or the end of one (a tombstone). The views must live
/// for the call they are passed to.
struct Change {
  RecordKind kind = RecordKind::kTable;
  std::string_view key;       // the encoded identifier (iceblink/identifier.h)
  std::string_view location;  // empty for namespaces and tombstones
  Id table_uuid{};
  Id metadata_fingerprint{};
  std::uint8_t format_version = 0;
  std::uint64_t generation = 0;  // of the change that made this version
};

/// Where a publisher that starts takes the whole catalog from: one consistent state, which does
/// not change while it is read.
class CatalogSource {
 public:
  virtual ~CatalogSource() = default;
  [[nodiscard]] virtual std::uint64_t generation() const = 0;
  /// Calls `visit` for every live key: namespaces first, each before its children, then tables
  /// and views. Called more than once; each pass gives the same. Stops at the first error.
  [[nodiscard]] virtual Status for_each(
      const std::function<Status(const Change&)>& visit) const = 0;
};

}  // namespace iceblink::shm
