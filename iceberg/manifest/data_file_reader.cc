#include "iceberg/manifest/data_file_reader.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace iceblink::iceberg {
namespace {

using avro::Kind;

constexpr std::string_view kPath = "data_file.";

enum DataFileField : std::uint8_t {
  kContent,
  kFilePath,
  kFileFormat,
  kPartition,
  kRecordCount,
  kFileSize,
  kColumnSizes,
  kValueCounts,
  kNullValueCounts,
  kNanValueCounts,
  kLowerBounds,
  kUpperBounds,
  kKeyMetadata,
  kSplitOffsets,
  kEqualityIds,
  kSortOrderId,
  kFirstRowId,
  kReferencedDataFile,
  kContentOffset,
  kContentSize,
};

constexpr KnownField kDataFileFields[] = {
    {134, "content", FieldType::kInteger},
    {100, "file_path", FieldType::kString, Presence::kRequired},
    {101, "file_format", FieldType::kString, Presence::kRequired},
    {102, "partition", FieldType::kRecord},
    {103, "record_count", FieldType::kInteger, Presence::kRequired},
    {104, "file_size_in_bytes", FieldType::kInteger, Presence::kRequired},
    {108, "column_sizes", FieldType::kMap},
    {109, "value_counts", FieldType::kMap},
    {110, "null_value_counts", FieldType::kMap},
    {137, "nan_value_counts", FieldType::kMap},
    {125, "lower_bounds", FieldType::kMap},
    {128, "upper_bounds", FieldType::kMap},
    {131, "key_metadata", FieldType::kBytes},
    {132, "split_offsets", FieldType::kArray},
    {135, "equality_ids", FieldType::kArray},
    {140, "sort_order_id", FieldType::kInteger},
    {142, "first_row_id", FieldType::kInteger},
    {143, "referenced_data_file", FieldType::kString},
    {144, "content_offset", FieldType::kInteger},
    {145, "content_size_in_bytes", FieldType::kInteger}};

constexpr std::pair<DataFileField, Metric> kMetricFields[] = {
    {kColumnSizes, Metric::kColumnSize},         {kValueCounts, Metric::kValueCount},
    {kNullValueCounts, Metric::kNullValueCount}, {kNanValueCounts, Metric::kNanValueCount},
    {kLowerBounds, Metric::kLowerBound},         {kUpperBounds, Metric::kUpperBound}};

FileFormat format_of(std::string_view text) noexcept {
  for (const auto format :
       {FileFormat::kAvro, FileFormat::kOrc, FileFormat::kParquet, FileFormat::kPuffin}) {
    const std::string_view name = name_of(format);
    if (std::equal(text.begin(), text.end(), name.begin(), name.end(), [](char a, char b) {
          return (a >= 'a' && a <= 'z' ? static_cast<char>(a - 'a' + 'A') : a) == b;
        })) {
      return format;
    }
  }
  return FileFormat::kUnknown;
}

/// Nulls among them are passed over.
template <typename Integer>
std::span<const Integer> copy_integers(const RecordValues& values, DataFileField field,
                                       Arena& arena) {
  const auto elements = values.elements(field);
  if (elements.empty()) return {};
  Integer* const integers = arena.allocate_array<Integer>(elements.size());
  std::size_t count = 0;
  for (const avro::Value& element : elements) {
    if (element.is_null()) continue;
    if (!std::in_range<Integer>(element.integer)) {
      values.refuse(field, std::to_string(element.integer) + " does not fit into 32 bits");
      continue;
    }
    std::construct_at(integers + count++, static_cast<Integer>(element.integer));
  }
  return {integers, count};
}

}  // namespace

Result<DataFileReader> DataFileReader::make(const avro::Schema& record, const PartitionSpec& spec,
                                            const TableMetadata& table, ManifestContent content) {
  ICEBLINK_ASSIGN_OR_RETURN(RecordFields fields, RecordFields::bind(record, kDataFileFields));
  ICEBLINK_ASSIGN_OR_RETURN(PartitionReader partition,
                            PartitionReader::make(fields.type(kPartition), spec, table));
  DataFileReader reader(std::move(fields), std::move(partition), spec.spec_id, content);
  ICEBLINK_RETURN_IF_ERROR(reader.bind_elements());
  return reader;
}

Status DataFileReader::bind_elements() {
  for (const auto field : {kSplitOffsets, kEqualityIds}) {
    const avro::Schema* const array = fields_.type(field);
    if (array == nullptr) continue;
    const KnownField& known = fields_.known(field);
    const std::string what = "an element of " + text_of(known.id, known.name);
    ICEBLINK_ASSIGN_OR_RETURN(const avro::Schema* const type,
                              value_type(*array->children[0], what));
    if (type == nullptr || type->kind == Kind::kInt || type->kind == Kind::kLong) continue;
    return Error(ErrorKind::kCorrupt,
                 {what, " is ", with_article(type->kind), ", and has to be an int or a long"});
  }
  for (const auto& [field, metric] : kMetricFields) {
    ICEBLINK_RETURN_IF_ERROR(metrics_.bind(metric, fields_.type(field)));
  }
  return Ok{};
}

DataFile DataFileReader::read(const avro::Value& record, Arena& arena, EntryFault& fault) {
  const RecordValues values(fields_, record, kPath, fault);
  DataFile file;
  file.content = static_cast<FileContent>(values.enumerator(kContent, 2));
  file.file_path = arena.copy(values.text(kFilePath).value_or(""));
  file.file_format = copy_format(values.text(kFileFormat).value_or(""), arena);
  file.format = format_of(file.file_format);
  file.spec_id = spec_id_;
  file.partition = partition_.read(values.find(kPartition), arena, fault);
  file.record_count = values.count(kRecordCount).value_or(0);
  file.file_size_in_bytes = values.count(kFileSize).value_or(0);
  for (const auto& [field, metric] : kMetricFields) {
    if (const avro::Value* const map = values.find(field)) metrics_.add(metric, *map, fault);
  }
  file.columns = metrics_.read(arena);
  file.key_metadata = arena.copy_if_any(values.bytes(kKeyMetadata));
  file.split_offsets = copy_integers<std::int64_t>(values, kSplitOffsets, arena);
  file.equality_ids = copy_integers<std::int32_t>(values, kEqualityIds, arena);
  file.sort_order_id = values.int32(kSortOrderId);
  file.first_row_id = values.count(kFirstRowId);
  file.referenced_data_file = arena.copy_if_any(values.text(kReferencedDataFile));
  file.content_offset = values.count(kContentOffset);
  file.content_size_in_bytes = values.count(kContentSize);
  check(values, file);
  return file;
}

std::string_view DataFileReader::copy_format(std::string_view format, Arena& arena) {
  if (format != last_format_) last_format_ = arena.copy(format);
  return last_format_;
}

void DataFileReader::check(const RecordValues& values, const DataFile& file) const {
  if (file.file_path.empty()) values.refuse(kFilePath, "is empty");
  const bool is_data = file.content == FileContent::kData;
  if (is_data && content_ == ManifestContent::kDeletes) {
    values.refuse(kContent, "a data file in a manifest of deletes");
  }
  if (!is_data && content_ == ManifestContent::kData) {
    values.refuse(kContent, "a delete file in a manifest of data");
  }
  if (file.content == FileContent::kEqualityDeletes && file.equality_ids.empty()) {
    values.refuse(kEqualityIds, "is missing, and equality deletes need it");
  }
  if (!file.is_deletion_vector()) return;
  constexpr std::string_view kNeeded = "is missing, and a deletion vector needs it";
  if (!file.referenced_data_file) values.refuse(kReferencedDataFile, kNeeded);
  if (!file.content_offset) values.refuse(kContentOffset, kNeeded);
  if (!file.content_size_in_bytes) values.refuse(kContentSize, kNeeded);
}

}  // namespace iceblink::iceberg
