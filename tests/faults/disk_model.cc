#include "tests/faults/disk_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace iceblink::test {
namespace {

using faults::RecordKind;
using Kind = DiskChange::Kind;

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool is_of_data(const DiskChange& change) {
  return change.kind == Kind::kBytes || change.kind == Kind::kLength ||
         change.kind == Kind::kMinLength;
}

DiskChange named(Kind kind, std::string path, std::uint64_t file = 0) {
  DiskChange change;
  change.kind = kind;
  change.path = std::move(path);
  change.file = file;
  return change;
}

DiskChange sized(Kind kind, std::uint64_t file, std::uint64_t length) {
  DiskChange change;
  change.kind = kind;
  change.file = file;
  change.offset = length;
  return change;
}

/// One change for each block that is touched.
std::vector<DiskChange> blocks_of(std::uint64_t file, std::uint64_t offset, std::string_view data) {
  std::vector<DiskChange> changes;
  while (!data.empty()) {
    const auto in_block = DiskModel::kBlockBytes - offset % DiskModel::kBlockBytes;
    const auto part = data.substr(0, in_block);
    DiskChange change;
    change.file = file;
    change.offset = offset;
    change.data = part;
    changes.push_back(std::move(change));
    offset += part.size();
    data.remove_prefix(part.size());
  }
  return changes;
}

}  // namespace

std::vector<RecordEntry> read_record(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::vector<RecordEntry> entries;
  RecordEntry entry;
  while (in.read(reinterpret_cast<char*>(&entry.head), sizeof entry.head)) {
    entry.path.resize(entry.head.path_bytes);
    entry.data.resize(entry.head.data_bytes);
    in.read(entry.path.data(), entry.head.path_bytes);
    in.read(entry.data.data(), entry.head.data_bytes);
    EXPECT_TRUE(in) << file << " ends in an entry";
    entries.push_back(entry);
  }
  return entries;
}

const std::string* DiskImage::find(const std::string& path) const {
  const auto found = names.find(path);
  if (found == names.end() || !has_directory(parent_of(path))) return nullptr;
  const auto file = bytes.find(found->second);
  static const std::string kEmpty;
  return file == bytes.end() ? &kEmpty : &file->second;
}

bool DiskImage::has_directory(std::string path) const {
  // What is above the first directory that was made was there before.
  const std::string& top = *directories.begin();
  for (; path.size() >= top.size(); path = parent_of(path)) {
    if (!directories.contains(path)) return false;
  }
  return true;
}

void DiskChange::apply_to(DiskImage& image) const {
  switch (kind) {
    case Kind::kBytes: {
      std::string& bytes = image.bytes[file];
      if (bytes.size() < offset + data.size()) bytes.resize(offset + data.size());
      bytes.replace(offset, data.size(), data);
      break;
    }
    case Kind::kLength:
      image.bytes[file].resize(offset);
      break;
    case Kind::kMinLength:
      if (image.bytes[file].size() < offset) image.bytes[file].resize(offset);
      break;
    case Kind::kName:
      image.names[path] = file;
      break;
    case Kind::kNoName:
      image.names.erase(path);
      break;
    case Kind::kRename:
      if (const auto found = image.names.find(path); found != image.names.end()) {
        image.names[new_path] = found->second;
        image.names.erase(path);
      }
      break;
    case Kind::kDirectory:
      image.directories.insert(path);
      break;
    case Kind::kNoDirectory:
      image.directories.erase(path);
      break;
  }
}

std::string DiskChange::text() const {
  constexpr const char* kNames[] = {"bytes",   "length", "min length", "name",
                                    "no name", "rename", "directory",  "no directory"};
  return std::string(kNames[static_cast<int>(kind)]) + " of file " + std::to_string(file) + " " +
         std::to_string(offset) + "+" + std::to_string(data.size()) + " " + path + " " + new_path;
}

bool DiskModel::is_ours(const std::string& path) const {
  return path.starts_with(root_) && (path.size() == root_.size() || path[root_.size()] == '/');
}

std::optional<std::uint64_t> DiskModel::file_of(std::uint64_t inode) const {
  const auto found = files_.find(inode);
  if (found == files_.end()) return std::nullopt;
  return found->second;
}

std::vector<DiskChange> DiskModel::changes_of(const RecordEntry& entry) const {
  const auto& [head, path, data] = entry;
  const auto file = file_of(head.inode);
  switch (head.kind) {
    case RecordKind::kWrite:
      if (file) return blocks_of(*file, head.offset, data);
      return {};
    case RecordKind::kTruncate:
      if (file) return {sized(Kind::kLength, *file, head.offset)};
      return {};
    case RecordKind::kExtend:
      if (file) return {sized(Kind::kMinLength, *file, head.offset)};
      return {};
    case RecordKind::kCreate:
    case RecordKind::kLink:
      if (file && is_ours(path)) return {named(Kind::kName, path, *file)};
      return {};
    case RecordKind::kUnlink:
      if (is_ours(path)) return {named(Kind::kNoName, path)};
      return {};
    case RecordKind::kMkdir:
      if (is_ours(path)) return {named(Kind::kDirectory, path)};
      return {};
    case RecordKind::kRmdir:
      if (is_ours(path)) return {named(Kind::kNoDirectory, path)};
      return {};
    case RecordKind::kRename: {
      if (!is_ours(path) && !is_ours(data)) return {};
      DiskChange change = named(Kind::kRename, path);
      change.new_path = data;
      return {change};
    }
    default:
      return {};
  }
}

void DiskModel::apply(const RecordEntry& entry) {
  const faults::RecordHead& head = entry.head;
  if (head.kind == RecordKind::kSync) return sync(entry);
  ASSERT_NE(head.kind, RecordKind::kSyncMap) << "of which file is not known";
  // The inode is a new file from here on; one that is elsewhere is none of ours.
  if (head.kind == RecordKind::kCreate) {
    if (entry.path.empty() || is_ours(entry.path)) {
      files_[head.inode] = ++file_count_;
    } else {
      files_.erase(head.inode);
    }
  }
  for (DiskChange& change : changes_of(entry)) {
    if (head.is_durable != 0) {
      make_durable(change);
    } else {
      pending_.push_back(std::move(change));
    }
  }
}

// What waits for the same block goes with it.
void DiskModel::make_durable(const DiskChange& change) {
  std::erase_if(pending_, [&](const DiskChange& other) {
    const bool is_same = other.kind == Kind::kBytes && other.file == change.file &&
                         other.offset / kBlockBytes == change.offset / kBlockBytes;
    if (is_same) other.apply_to(durable_);
    return is_same;
  });
  change.apply_to(durable_);
}

void DiskModel::sync(const RecordEntry& entry) {
  const auto file = file_of(entry.head.inode);
  std::erase_if(pending_, [&](const DiskChange& change) {
    const bool is_synced = is_of_data(change) ? entry.path.empty() && file && change.file == *file
                                              : parent_of(change.path) == entry.path ||
                                                    (!change.new_path.empty() &&
                                                     parent_of(change.new_path) == entry.path);
    if (is_synced) change.apply_to(durable_);
    return is_synced;
  });
}

DiskImage DiskModel::image(const std::vector<bool>& chosen) const {
  DiskImage image = durable_;
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (chosen[i]) pending_[i].apply_to(image);
  }
  return image;
}

}  // namespace iceblink::test
