// The metadata of a view, format 1 (Iceberg view specification).
//
// Names are the specification's. Times are milliseconds since 1970-01-01T00:00:00Z.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/metadata/schema.h>
#include <iceblink/metadata/table_metadata.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace iceblink {

/// SQL, or something that this version does not know.
struct ViewRepresentation {
  std::string_view type;
  std::string_view sql;
  std::string_view dialect;
  std::string_view json;  ///< of a type other than "sql": all of it, as written
};

struct ViewVersion {
  std::int32_t version_id = 0;
  std::int32_t schema_id = 0;
  std::int64_t timestamp_ms = 0;
  std::span<const Property> summary;
  std::span<const ViewRepresentation> representations;
  std::optional<std::string_view> default_catalog;
  std::span<const std::string_view> default_namespace;  ///< its levels

  /// The first of this dialect, whose case does not matter. Null: none.
  [[nodiscard]] const ViewRepresentation* find_sql(std::string_view dialect) const noexcept;
};

struct ViewHistoryEntry {
  std::int64_t timestamp_ms = 0;
  std::int32_t version_id = 0;
};

struct ViewValues {
  std::uint8_t format_version = 0;
  std::array<std::uint8_t, 16> view_uuid{};
  std::string_view location;
  std::int32_t current_version_id = 0;
  std::span<const Schema> schemas;
  std::span<const ViewVersion> versions;
  std::span<const ViewHistoryEntry> version_log;
  std::span<const Property> properties;
};

/// Immutable; nothing of it is lazy.
class ViewMetadata final : public MetadataDocument, public ViewValues {
 public:
  ViewMetadata(std::unique_ptr<iceberg::Arena> arena, const ViewValues& values);

  [[nodiscard]] const ViewVersion* find_version(std::int32_t version_id) const noexcept;
  [[nodiscard]] const Schema* find_schema(std::int32_t schema_id) const noexcept;
  /// They are there: a document without them is refused.
  [[nodiscard]] const ViewVersion& current_version() const noexcept;
  [[nodiscard]] const Schema& current_schema() const noexcept;
};

}  // namespace iceblink
