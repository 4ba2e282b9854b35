#include "client/cli/file_rows.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

using iceberg::JsonWriter;

std::string_view format_text(const DataFile& file) {
  return file.format == FileFormat::kUnknown ? file.file_format : name_of(file.format);
}

/// Calls with the name and the value of each field of a file's partition.
template <typename Visit>
void for_each_partition_value(const Table& table, const DataFile& file, Visit visit) {
  const PartitionSpec* const spec = table.partition_spec(file.spec_id);
  if (spec == nullptr) return;
  const std::size_t count = std::min(spec->fields.size(), file.partition.size());
  for (std::size_t i = 0; i < count; ++i) visit(spec->fields[i].name, file.partition[i]);
}

/// "a=1/b=2", or "-".
std::string partition_text(const Table& table, const DataFile& file) {
  std::string text;
  for_each_partition_value(table, file, [&](std::string_view name, const Literal& value) {
    if (!text.empty()) text += '/';
    text.append(name).append("=").append(to_text(value));
  });
  return text.empty() ? "-" : text;
}

std::string counted(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

template <typename Integer>
void write_optional(JsonWriter& json, std::string_view name, const std::optional<Integer>& value) {
  if (value) json.integer(name, *value);
}

template <typename Integer>
void write_list(JsonWriter& json, std::string_view name, std::span<const Integer> values) {
  if (values.empty()) return;
  json.begin_array(name);
  for (const auto value : values) json.integer(value);
  json.end_array();
}

/// A path is the bytes that a writer chose, and JSON is UTF-8.
void write_path(JsonWriter& json, std::string_view name, std::string_view path) {
  json.string(name, is_utf8(path) ? std::string(path) : on_one_line(path));
}

const AlignedRows::Row kHeader{"content", "format", "records", "bytes", "partition", "path"};

}  // namespace

std::string content_text(const DataFile& file) {
  switch (file.content) {
    case FileContent::kData:
      return "data";
    case FileContent::kPositionDeletes:
      return file.is_deletion_vector() ? "deletion vector" : "position deletes";
    case FileContent::kEqualityDeletes:
      return "equality deletes";
  }
  return "unknown";
}

FileRows::FileRows(const Table& table)
    : table_(table),
      rows_({Alignment::kLeft, Alignment::kLeft, Alignment::kRight, Alignment::kRight,
             Alignment::kLeft, Alignment::kLeft}) {
  rows_.measure(kHeader);
}

AlignedRows::Row FileRows::row_of(const DataFile& file) const {
  return {content_text(file),
          std::string(format_text(file)),
          std::to_string(file.record_count),
          std::to_string(file.file_size_in_bytes),
          partition_text(table_, file),
          std::string(file.file_path)};
}

void FileRows::measure(std::span<const DataFile* const> files) {
  for (const DataFile* const file : files) rows_.measure(row_of(*file));
}

void FileRows::print_header(LineBuffer& lines, std::string_view mark) const {
  for (const std::string& line : rows_.lines_of(kHeader)) lines.add(std::string(mark) + line);
}

void FileRows::print(LineBuffer& lines, const DataFile& file, std::string_view mark) const {
  for (const std::string& line : rows_.lines_of(row_of(file))) lines.add(std::string(mark) + line);
}

void FileCounts::add(const DataFile& file) {
  Count& count = file.content == FileContent::kData ? data_ : deletes_;
  ++count.files;
  count.records += static_cast<std::uint64_t>(file.record_count);
  count.bytes += static_cast<std::uint64_t>(file.file_size_in_bytes);
}

std::string FileCounts::Count::text(const std::string& kind) const {
  return counted(files, kind + " file") + " (" + counted(records, "record") + ", " +
         counted(bytes, "byte") + ")";
}

std::string FileCounts::text() const {
  return data_.text("data") + (deletes_.files == 0 ? "" : ", " + deletes_.text("delete"));
}

void write_file_members(JsonWriter& json, const Table& table, const DataFile& file) {
  json.integer("content", static_cast<std::int64_t>(file.content));
  write_path(json, "file_path", file.file_path);
  json.string("file_format", format_text(file));
  json.integer("spec_id", file.spec_id);
  json.begin_object("partition");
  for_each_partition_value(table, file, [&](std::string_view name, const Literal& value) {
    json.key(name);
    json.raw(to_json(value));
  });
  json.end_object();
  json.integer("record_count", file.record_count);
  json.integer("file_size_in_bytes", file.file_size_in_bytes);
  write_optional(json, "snapshot_id", file.snapshot_id);
  json.integer("sequence_number", file.sequence_number);
  json.integer("file_sequence_number", file.file_sequence_number);
  write_list(json, "split_offsets", file.split_offsets);
  write_list(json, "equality_ids", file.equality_ids);
  write_optional(json, "sort_order_id", file.sort_order_id);
  write_optional(json, "first_row_id", file.first_row_id);
  if (file.referenced_data_file) {
    write_path(json, "referenced_data_file", *file.referenced_data_file);
  }
  write_optional(json, "content_offset", file.content_offset);
  write_optional(json, "content_size_in_bytes", file.content_size_in_bytes);
}

void write_delete_file(JsonWriter& json, const DataFile& file) {
  json.begin_object();
  json.integer("content", static_cast<std::int64_t>(file.content));
  write_path(json, "file_path", file.file_path);
  json.integer("sequence_number", file.sequence_number);
  write_list(json, "equality_ids", file.equality_ids);
  write_optional(json, "content_offset", file.content_offset);
  write_optional(json, "content_size_in_bytes", file.content_size_in_bytes);
  json.end_object();
}

}  // namespace iceblink::cli
