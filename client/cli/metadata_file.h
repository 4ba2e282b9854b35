// Metadata files that are named on the command line: by their path, not as locations.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/result.h>

#include <string>

#include "iceberg/byte_buffer.h"

namespace iceblink::cli {

/// The whole file, within the limit. Relative paths are those of the working directory. Messages
/// begin with the path as it was given. kNotFound, kNotAllowed, kInvalidArgument (not a regular
/// file), kTooLarge, kIo, kOutOfMemory.
[[nodiscard]] Result<iceberg::ByteBuffer> read_metadata_file(const std::string& path,
                                                             const MetadataLimits& limits);

/// Whether an argument that may be an identifier is meant as a path: such a file is there, or a
/// slash is in it.
[[nodiscard]] bool is_meant_as_path(const std::string& argument);

}  // namespace iceblink::cli
