#include "iceberg/fingerprint.h"

#include <xxhash.h>

#include <algorithm>

namespace iceblink::iceberg {

Fingerprint fingerprint_of(std::span<const std::byte> file) noexcept {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(file.data(), file.size()));
  Fingerprint fingerprint{};
  std::copy(std::begin(canonical.digest), std::end(canonical.digest), fingerprint.begin());
  if (fingerprint == Fingerprint{}) fingerprint.back() = 1;
  return fingerprint;
}

}  // namespace iceblink::iceberg
