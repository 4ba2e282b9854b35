#include "client/cli/verify/file_check.h"

#include <sys/stat.h>

#include <algorithm>

#include "client/cli/verify/live_objects.h"
#include "iceberg/fingerprint.h"
#include "iceberg/metadata_header.h"

namespace iceblink::cli {
namespace {

/// Files that are read at a time: as many as have this size together, one at least.
constexpr std::uint64_t kPieceBytes = std::uint64_t{16} << 20;
/// For files that have no local path to ask.
constexpr std::uint64_t kUnknownBytes = kPieceBytes / 16;
constexpr std::size_t kFilesPerPieceMax = 256;

std::string with_location(const shm::RecordView& record, std::string_view what) {
  return name_of_key(record.key()) + ": " + on_one_line(record.location()) + ": " +
         std::string(what);
}

}  // namespace

void FileCheck::run(Progress& progress) {
  std::uint64_t seen = 0;
  const bool is_whole = visit_live_objects(begin_, [&](const shm::RecordView& record) {
    if (record.kind() == shm::RecordKind::kNamespace) return;
    add(record);
    progress.show(++seen);
  });
  read_pending();
  if (!is_whole) problems_.add("the segment's index is damaged: some files were not looked at");
}

void FileCheck::add(const shm::RecordView& record) {
  if (record.metadata_fingerprint() == shm::Id{}) {
    ++counts_.unverified;
    return;
  }
  const std::uint64_t bytes = bytes_of(record);
  if (pending_bytes_ + bytes > kPieceBytes || pending_.size() == kFilesPerPieceMax) read_pending();
  pending_.push_back(record);
  pending_bytes_ += bytes;
}

std::uint64_t FileCheck::bytes_of(const shm::RecordView& record) const {
  const auto path = places_.path_of(record.location());
  struct stat status {};
  if (!path || ::stat(path->c_str(), &status) != 0) return kUnknownBytes;
  return std::min(static_cast<std::uint64_t>(status.st_size), kPieceBytes);
}

void FileCheck::read_pending() {
  if (pending_.empty()) return;
  std::vector<client::FileRead> files;
  files.reserve(pending_.size());
  for (const auto& record : pending_) files.push_back({std::string(record.location())});
  files_.read_many(files, file_bytes_max_);
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& content = files[i].content;
    if (!content && content.error().kind() == ErrorKind::kUnsupported) {
      ++counts_.other_schemes;
      continue;
    }
    std::string problem;
    if (!content && content.error().kind() == ErrorKind::kNotFound) {
      problem = with_location(pending_[i], "is not there");
    } else if (!content) {
      problem = name_of_key(pending_[i].key()) + ": " + content.error().message();
    } else {
      ++counts_.read;
      counts_.bytes += content->size();
      problem = problem_of(pending_[i], *content);
    }
    if (problem.empty()) continue;
    if (has_moved_on(pending_[i])) {
      ++counts_.moved_on;
    } else {
      problems_.add(std::move(problem));
    }
  }
  pending_.clear();
  pending_bytes_ = 0;
}

std::string FileCheck::problem_of(const shm::RecordView& record,
                                  const iceberg::ByteBuffer& content) const {
  if (iceberg::fingerprint_of(content.bytes()) != record.metadata_fingerprint()) {
    return with_location(record, "is not what was registered: its fingerprint is another one");
  }
  const auto header = iceberg::parse_metadata_header(content.bytes());
  if (!header) return with_location(record, header.error().message());
  if (header->is_view != (record.kind() == shm::RecordKind::kView)) {
    return with_location(record, header->is_view ? "is metadata of a view" : "is one of a table");
  }
  if (record.table_uuid() != shm::Id{} && header->table_uuid != record.table_uuid()) {
    return with_location(record, "has another uuid than the catalog");
  }
  if (record.format_version() != 0 && header->format_version != record.format_version()) {
    return with_location(record, "has format version " + std::to_string(header->format_version) +
                                     ", the catalog " + std::to_string(record.format_version()));
  }
  return {};
}

bool FileCheck::has_moved_on(const shm::RecordView& record) {
  const auto now = segment_.pin();
  if (!now) return false;
  const shm::RecordView again = find_key(*now, record.key(), now->generation);
  return !again || again.generation() != record.generation();
}

}  // namespace iceblink::cli
