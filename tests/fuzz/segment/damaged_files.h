// A damaged segment as the files of a runtime directory: attached to, and started over.
#pragma once

#include <string>

#include "tests/fuzz/segment/patches.h"

namespace iceblink::test {

/// What a daemon that starts over the files makes of a control page that it cannot adopt.
enum class Start : std::uint8_t { kNone, kRefuse, kReplace };

/// Makes `directory` hold these two files and nothing else.
void write_files(const DamagedSegment& damaged, const std::string& directory);

/// Writes the files into `directory`. A reader attaches and reads, or gets an error that names the
/// file. A publisher that starts over the files refuses them, or serves what its store has; either
/// way nothing it left is in the way of the next.
void check_files(const SmallSegment& segment, const DamagedSegment& damaged,
                 const std::string& directory, Start start);

}  // namespace iceblink::test
