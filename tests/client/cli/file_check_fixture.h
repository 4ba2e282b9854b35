// A check of metadata files over a segment from memory.
#pragma once

#include "client/cli/verify/file_check.h"
#include "tests/client/cache/metadata_files.h"
#include "tests/client/segment_fixture.h"

namespace iceblink::testing {

class FileCheckTest : public SegmentTest {
 protected:
  /// A table that was registered over what is in `path`, or is said to be.
  void put_table(const std::string& name, const std::string& path, std::string_view content) {
    store_.put_table(ident({"a"}, name), path, fingerprint_of(content));
  }
  cli::FileCheckCounts check(const FileOptions& options, cli::Problems& problems) {
    const auto segment = shm::Segment::attach(dir_.path(), {});
    const auto files = client::FileReader::make(options);
    if (!segment || !files) {
      ADD_FAILURE() << (segment ? files.error().message() : segment.error().message());
      return {};
    }
    const auto begin = (*segment)->pin();
    const auto map = iceberg::LocationMap::of(options.location_prefixes);
    if (!begin || !map) {
      ADD_FAILURE();
      return {};
    }
    cli::FileCheck check(**segment, *begin, **files, *map, std::size_t{64} << 20, problems);
    cli::Progress progress("files", std::nullopt);
    check.run(progress);
    return check.counts();
  }
};

}  // namespace iceblink::testing
