#include "client/cli/summary.h"

#include "client/cli/columns.h"
#include "iceberg/type_text.h"
#include "iceberg/utf8.h"

namespace iceblink::cli {
namespace {

constexpr std::size_t kLabelColumns = 16;
constexpr std::size_t kNameColumnsMax = 36;

/// How wide the widest name is, with what it is indented by.
std::size_t name_columns_of(std::span<const Field> fields, std::size_t depth) {
  std::size_t columns = 0;
  for (const Field& field : fields) {
    columns = std::max({columns, 2 * depth + width_of(on_one_line(field.name)),
                        name_columns_of(field.type.fields, depth + 1)});
  }
  return std::min(columns, kNameColumnsMax);
}

}  // namespace

void Summary::add(std::string_view label, std::string_view text) {
  lines_.push_back(padded(std::string(label), kLabelColumns) + on_one_line(text));
}

void Summary::add_below(std::string_view text) {
  lines_.push_back("  " + fit(text, kColumns - 2));
}

void Summary::add_properties(std::string_view label, std::span<const Property> properties) {
  add_count(label, properties.size());
  add_list(properties, [](const Property& property) {
    return std::string(property.key) + " = " + std::string(property.value);
  });
}

void Summary::add_fields(const Schema& schema, std::span<const Field> fields, std::size_t depth,
                         std::size_t name_columns) {
  const auto& identifiers = schema.identifier_field_ids;
  for (const Field& field : fields) {
    const std::string id = std::to_string(field.id);
    std::string line(id.size() < 4 ? 4 - id.size() : 0, ' ');
    line += id + "  ";
    line += padded(fit(std::string(2 * depth, ' ') + std::string(field.name), kNameColumnsMax),
                   name_columns);
    line += "  " + iceberg::format_type_briefly(field.type);
    if (field.required) line += ", required";
    if (std::find(identifiers.begin(), identifiers.end(), field.id) != identifiers.end()) {
      line += ", identifier";
    }
    if (field.doc && !field.doc->empty()) line += "  -- " + std::string(*field.doc);
    add_below(line);
    add_fields(schema, field.type.fields, depth + 1, name_columns);
  }
}

void Summary::add_schema(const Schema& schema, std::size_t schema_count) {
  add("schema", chosen(schema.schema_id, schema_count));
  add_fields(schema, schema.fields, 0, name_columns_of(schema.fields, 0));
}

std::string chosen(std::int32_t id, std::size_t count) {
  return "id " + std::to_string(id) + (count == 1 ? "" : ", of " + std::to_string(count));
}

}  // namespace iceblink::cli
