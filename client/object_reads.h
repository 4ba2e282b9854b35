// Objects of other schemes, through the readers that the engine lends.
//
// Thread safety: a value of one thread.
#pragma once

#include <iceblink/object_reader.h>
#include <iceblink/result.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "client/file_reader.h"

namespace iceblink::client {

/// One object of a batch.
struct ObjectRead {
  ObjectReader* reader;
  std::string object;           // its location, mapped
  const std::string* location;  // as it is stored
  std::size_t index;
  Result<iceberg::ByteBuffer>* content;  // out
};

/// Asks each reader once, for all that is its own. A reader that throws, or leaves an object out,
/// has failed for it.
void read_objects(std::span<ObjectRead> reads, std::size_t bytes_max,
                  const BytesWanted& wanted) noexcept;

}  // namespace iceblink::client
