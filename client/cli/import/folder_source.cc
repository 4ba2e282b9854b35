#include "client/cli/import/folder_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "client/cli/import/newest_metadata.h"
#include "client/cli/metadata_file.h"
#include "iceberg/metadata_header.h"
#include "shm/file_mapping.h"

namespace iceblink::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMetadata = "metadata";
constexpr std::string_view kDbSuffix = ".db";
/// Deeper than any key can be: a file system that goes on for ever ends here.
constexpr std::size_t kDepthMax = 256;

Unreadable unreadable(ErrorKind kind, std::string message) {
  return {Error(kind, std::move(message))};
}

class FolderSource final : public Source {
 public:
  FolderSource(std::string root, FolderOptions options) : options_(std::move(options)) {
    waiting_.push_back({std::move(root), {}});
  }

  Result<std::optional<SourceItem>> next() override {
    if (!waiting_items_.empty()) {
      SourceItem item = std::move(waiting_items_.back());
      waiting_items_.pop_back();
      return std::optional(std::move(item));
    }
    while (!waiting_.empty()) {
      Directory directory = std::move(waiting_.back());
      waiting_.pop_back();
      if (auto item = visit(directory)) return std::optional(std::move(item));
    }
    return std::optional<SourceItem>();
  }

 private:
  struct Directory {
    std::string path;
    Namespace names;  // from the folder to it
  };

  /// What it is; nothing for one that only holds others, which now wait.
  std::optional<SourceItem> visit(const Directory& directory) {
    struct stat status {};
    if (::stat(directory.path.c_str(), &status) != 0) {
      return Unreadable{shm::system_error(directory.path, errno)};
    }
    if (!visited_.emplace(status.st_dev, status.st_ino).second) return std::nullopt;
    const std::string metadata = directory.path + "/" + std::string(kMetadata);
    std::error_code failed;
    if (fs::is_directory(metadata, failed)) {
      auto newest = newest_metadata(metadata);
      if (!newest) return Unreadable{newest.error()};
      if (*newest) {
        auto unread = enter(directory, Holds::kTable);
        if (unread) waiting_items_.push_back(std::move(*unread));
        return object_of(directory, **newest);
      }
    }
    return enter(directory, Holds::kOthers);
  }

  enum class Holds : std::uint8_t { kOthers, kTable };

  std::optional<SourceItem> enter(const Directory& directory, Holds holds) {
    if (directory.names.size() >= kDepthMax) {
      return unreadable(ErrorKind::kTooLarge, directory.path + ": too deep in the folder");
    }
    std::error_code failed;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(directory.path, failed), end; !failed && entry != end;
         entry.increment(failed)) {
      std::error_code ignored;
      std::string name = entry->path().filename().string();
      if (is_passed_over(name, holds) || !entry->is_directory(ignored)) continue;
      names.push_back(std::move(name));
    }
    if (failed) return Unreadable{shm::system_error(directory.path, failed.value())};
    std::sort(names.begin(), names.end(), std::greater<>());  // the last is taken first
    for (std::string& name : names) {
      Directory child{directory.path + "/" + name, directory.names};
      child.names.push_back(std::move(name));
      waiting_.push_back(std::move(child));
    }
    return std::nullopt;
  }

  static bool is_passed_over(const std::string& name, Holds holds) {
    if (name.starts_with('.') || name.starts_with('_')) return true;  // Spark's and Hadoop's own
    if (name.find('=') != std::string::npos) return true;             // a partition
    return holds == Holds::kTable && (name == kMetadata || name == "data");
  }

  SourceItem object_of(const Directory& directory, const std::string& metadata) {
    FoundObject found;
    found.ident.levels = directory.names;
    if (found.ident.levels.empty()) {
      return unreadable(ErrorKind::kInvalidArgument,
                        directory.path +
                            ": is a table itself, so that its name is not known; "
                            "import the folder that it lies in");
    }
    found.ident.name = std::move(found.ident.levels.back());
    found.ident.levels.pop_back();
    if (options_.db_suffix == FolderOptions::DbSuffix::kCut) {
      for (std::string& level : found.ident.levels) {
        if (level.size() > kDbSuffix.size() && level.ends_with(kDbSuffix)) {
          level.resize(level.size() - kDbSuffix.size());
        }
      }
    }
    const auto bytes = read_metadata_file(metadata, MetadataLimits{});
    if (!bytes) return Unreadable{bytes.error()};
    const auto header = iceberg::parse_metadata_header(std::as_bytes(std::span(bytes->view())));
    if (!header) {
      return unreadable(header.error().kind(), metadata + ": " + header.error().message());
    }
    if (header->is_view) found.kind = ObjectKind::kView;
    found.metadata_location = metadata;
    return found;
  }

  const FolderOptions options_;
  std::vector<Directory> waiting_;  // the next is the last
  std::vector<SourceItem> waiting_items_;
  std::set<std::pair<dev_t, ino_t>> visited_;
};

}  // namespace

Result<std::unique_ptr<Source>> open_folder(const FolderOptions& options) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(options.path, failed).lexically_normal();
  if (options.path.empty() || failed) {
    return {ErrorKind::kInvalidArgument, "'" + options.path + "' is no path"};
  }
  std::string root = absolute.string();
  while (root.size() > 1 && root.back() == '/') root.pop_back();
  const bool is_directory = fs::is_directory(root, failed);
  if (failed) return shm::system_error(root, failed.value());
  if (!is_directory) return {ErrorKind::kInvalidArgument, root + ": not a directory"};
  return std::unique_ptr<Source>(std::make_unique<FolderSource>(std::move(root), options));
}

}  // namespace iceblink::cli
