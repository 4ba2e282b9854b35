#include "client/cli/status/runtime_files.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "shm/layout.h"

namespace iceblink::cli {
namespace {

constexpr std::string_view kControlDraftName = "control.new";
constexpr std::uint64_t kBlockBytes = 512;  // of st_blocks

std::optional<std::uint32_t> epoch_in(std::string_view name) {
  const std::string_view prefix = shm::kArenaPrefix;
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  std::uint32_t epoch = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), epoch);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return epoch;
}

}  // namespace

std::optional<FileSystemRoom> room_of(const std::string& directory) {
  struct statfs status {};
  if (::statfs(directory.c_str(), &status) != 0) return std::nullopt;
  const auto block_bytes = static_cast<std::uint64_t>(status.f_bsize);
  FileSystemRoom room;
  room.is_tmpfs = status.f_type == TMPFS_MAGIC;
  room.size_bytes = status.f_blocks * block_bytes;
  room.used_bytes = (status.f_blocks - status.f_bfree) * block_bytes;
  room.free_bytes = status.f_bavail * block_bytes;
  return room;
}

std::uint64_t RuntimeFiles::taken_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const ArenaFile& arena : arenas) bytes += arena.taken_bytes;
  return bytes;
}

RuntimeFiles runtime_files_of(const std::string& directory) {
  RuntimeFiles files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    files.has_control_draft = files.has_control_draft || name == kControlDraftName;
    files.has_socket = files.has_socket || name == shm::kSocketName;
    const auto epoch = epoch_in(name);
    struct stat status {};
    if (!epoch || ::lstat(at->path().c_str(), &status) != 0) continue;
    files.arenas.push_back({name, *epoch, static_cast<std::uint64_t>(status.st_size),
                            static_cast<std::uint64_t>(status.st_blocks) * kBlockBytes});
  }
  std::sort(files.arenas.begin(), files.arenas.end(),
            [](const ArenaFile& a, const ArenaFile& b) { return a.epoch < b.epoch; });
  return files;
}

}  // namespace iceblink::cli
