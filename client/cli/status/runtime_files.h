// What lies in a runtime directory, and how full its file system is.
//
// Thread safety: free functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace iceblink::cli {

struct FileSystemRoom {
  bool is_tmpfs = false;
  std::uint64_t size_bytes = 0;  // 0: without a limit
  std::uint64_t used_bytes = 0;
  std::uint64_t free_bytes = 0;
};
[[nodiscard]] std::optional<FileSystemRoom> room_of(const std::string& directory);

struct ArenaFile {
  std::string name;
  std::uint32_t epoch = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t taken_bytes = 0;  // of the file system
};

struct RuntimeFiles {
  std::vector<ArenaFile> arenas;  // by epoch
  bool has_control_draft = false;
  bool has_socket = false;

  [[nodiscard]] std::uint64_t taken_bytes() const noexcept;
};
/// Nothing where the directory cannot be listed.
[[nodiscard]] RuntimeFiles runtime_files_of(const std::string& directory);

}  // namespace iceblink::cli
