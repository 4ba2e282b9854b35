// How an engine lends its own file access: for locations that are no local files.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace iceblink {

/// Reads whole objects, e.g. of s3, gs or abfs.
///
/// Thread safety: called from any thread that misses a cache, several at a time.
///
/// A reader does not resolve metadata through the catalog that it reads for: what it is asked to
/// read would be an error then (kUnsupported), and other documents may be read twice.
class ObjectReader {
 public:
  virtual ~ObjectReader() = default;

  /// One object each: `contents` is as long as `locations`, and every element of it is to be set,
  /// to the whole content or to an error: kNotFound, kNotAllowed, kTooLarge (more than
  /// `object_bytes_max` bytes), kIo. Messages name the location. Asked once for all the objects of
  /// a batch. What is left as it was is kIo, and everything when it throws.
  virtual void read(std::span<const std::string> locations, std::size_t object_bytes_max,
                    std::span<Result<std::string>> contents) = 0;
};

/// Which locations it reads: those that begin with `scheme` and "://".
struct SchemeReader {
  std::string scheme;
  std::shared_ptr<ObjectReader> reader;
};

}  // namespace iceblink
