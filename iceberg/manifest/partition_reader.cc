#include "iceberg/manifest/partition_reader.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "iceberg/pruning/transforms.h"

namespace iceblink::iceberg {
namespace {

/// The column of this id; the current schema's before those of older ones.
const Field* find_source(const TableMetadata& table, std::int32_t id) noexcept {
  if (const Field* field = table.current_schema().find_field(id)) return field;
  for (auto schema = table.schemas.rbegin(); schema != table.schemas.rend(); ++schema) {
    if (const Field* field = schema->find_field(id)) return field;
  }
  return nullptr;
}

struct Source {
  bool is_void = false;
  /// Whether there may be another value than null.
  bool may_have_values = true;
  std::optional<Type> type;  ///< of the values; nothing: what Avro says
};

Source source_of(const PartitionField& field, const TableMetadata& table) noexcept {
  Source source;
  if (field.transform.kind == TransformKind::kVoid) {
    source.is_void = true;
    source.may_have_values = false;
  }
  if (field.source_ids.size() != 1) return source;
  const Field* const column = find_source(table, field.source_ids[0]);
  if (column == nullptr || column->type.kind == TypeKind::kUnknown) {
    source.may_have_values = false;
  } else {
    source.type = result_type(field.transform, column->type);
  }
  return source;
}

/// SIZE_MAX: it is not there.
std::size_t find_position(const avro::Schema& record, std::int32_t field_id) noexcept {
  for (std::size_t i = 0; i < record.fields.size(); ++i) {
    if (record.fields[i].field_id == field_id) return i;
  }
  return SIZE_MAX;
}

}  // namespace

Result<PartitionReader> PartitionReader::make(const avro::Schema* record, const PartitionSpec& spec,
                                              const TableMetadata& table) {
  PartitionReader reader;
  reader.columns_.reserve(spec.fields.size());
  for (const PartitionField& field : spec.fields) {
    ICEBLINK_ASSIGN_OR_RETURN(const Column column, reader.bind(record, field, table));
    reader.columns_.push_back(column);
  }
  return reader;
}

Result<PartitionReader::Column> PartitionReader::bind(const avro::Schema* record,
                                                      const PartitionField& field,
                                                      const TableMetadata& table) {
  const Source source = source_of(field, table);
  const std::string what = "partition: " + text_of(field.field_id, field.name);
  if (source.may_have_values) may_be_missing_ = false;
  Column column{PartitionColumn::null(source.type ? source.type->kind : TypeKind::kUnknown),
                kAbsent, field.name};
  if (record == nullptr || source.is_void) return column;
  column.position = find_position(*record, field.field_id);
  if (column.position == kAbsent) {
    if (!source.may_have_values) return column;
    return Error(ErrorKind::kCorrupt, {what, " is not in the file's schema"});
  }
  ICEBLINK_ASSIGN_OR_RETURN(const avro::Schema* const type,
                            value_type(*record->fields[column.position].type, what));
  if (type == nullptr) return column;
  const auto made = PartitionColumn::make(*type, source.type);
  if (!made) return Error(ErrorKind::kCorrupt, {what, " ", made.error().message()});
  column.type = *made;
  return column;
}

std::span<const Literal> PartitionReader::read(const avro::Value* record, Arena& arena,
                                               EntryFault& fault) const {
  if (record == nullptr && !may_be_missing_) fault.set("data_file.partition", "is missing");
  if (columns_.empty()) return {};
  Literal* const literals = arena.allocate_array<Literal>(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    Literal literal = Literal::null(column.type.kind());
    if (record != nullptr && column.position < record->children.size()) {
      auto read = column.type.read(record->children[column.position], arena);
      if (read) {
        literal = *read;
      } else {
        fault.set(std::string("data_file.partition.").append(column.name), read.error().message());
      }
    }
    std::construct_at(literals + i, literal);
  }
  return {literals, columns_.size()};
}

}  // namespace iceblink::iceberg
