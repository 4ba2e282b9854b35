// The record of what a program did to files: entries one after another, in the order in which they
// took effect. Whoever reads it can build what a disk may hold after a loss of power.
//
// An entry is a RecordHead, then `path_bytes` of a path, then `data_bytes`. The library appends
// each in one write, so that a test may append marks of its own. Files are named by inode number,
// since a file without a name has no other; kCreate says that a number means a new file from here
// on. Directories are named by path: nothing that is recorded renames one.
#pragma once

#include <cstdint>

namespace iceblink::faults {

enum class RecordKind : std::uint32_t {
  kCreate,    // inode; path when it got one: the entry in the directory is a change of its own
  kWrite,     // inode, offset, data; is_durable when the descriptor was opened with O_(D)SYNC
  kTruncate,  // inode, offset: the new length
  kExtend,    // inode, offset: the length that it has at least
  kLink,      // inode, path
  kUnlink,    // path
  kRename,    // path; data: the new path
  kMkdir,     // path
  kRmdir,     // path
  kSync,      // inode: of a file; path: of a directory. Returned without an error
  kSyncMap,   // msync: of which file is not known
  kSend,      // data: begins to be sent to a socket
  kMark,      // data: by the test
};

struct RecordHead {
  RecordKind kind = RecordKind::kMark;
  std::uint32_t is_durable = 0;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::uint32_t path_bytes = 0;
  std::uint32_t data_bytes = 0;
};

}  // namespace iceblink::faults
