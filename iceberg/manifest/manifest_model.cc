// The functions of the model in <iceblink/metadata/manifest.h>.
#include <iceblink/metadata/manifest.h>

#include <algorithm>
#include <utility>

#include "iceberg/arena.h"

namespace iceblink {
namespace {

Result<std::optional<Literal>> decode(const Type& type,
                                      const std::optional<std::string_view>& bound) noexcept {
  if (!bound) return std::optional<Literal>{};
  ICEBLINK_ASSIGN_OR_RETURN(const Literal literal, decode_single_value(type, *bound));
  return std::optional(literal);
}

}  // namespace

ManifestDocument::ManifestDocument(std::size_t own_bytes,
                                   std::unique_ptr<iceberg::Arena> arena) noexcept
    : arena_(std::move(arena)), weight_bytes_(own_bytes + arena_->bytes()) {}

ManifestDocument::~ManifestDocument() = default;

ManifestList::ManifestList(std::unique_ptr<iceberg::Arena> arena, std::int64_t snapshot_id,
                           std::span<const ManifestFile> manifests) noexcept
    : ManifestDocument(sizeof(*this), std::move(arena)),
      snapshot_id_(snapshot_id),
      manifests_(manifests) {}

Manifest::Manifest(std::unique_ptr<iceberg::Arena> arena, std::int32_t spec_id,
                   ManifestContent content, const ManifestCounts& counts,
                   std::span<const ManifestEntry> entries) noexcept
    : ManifestDocument(sizeof(*this), std::move(arena)),
      spec_id_(spec_id),
      content_(content),
      counts_(counts),
      entries_(entries) {}

std::string_view name_of(FileFormat format) noexcept {
  switch (format) {
    case FileFormat::kAvro:
      return "AVRO";
    case FileFormat::kOrc:
      return "ORC";
    case FileFormat::kParquet:
      return "PARQUET";
    case FileFormat::kPuffin:
      return "PUFFIN";
    case FileFormat::kUnknown:
      break;
  }
  return "UNKNOWN";
}

Result<std::optional<Literal>> ColumnMetrics::lower(const Type& type) const noexcept {
  return decode(type, lower_bound);
}

Result<std::optional<Literal>> ColumnMetrics::upper(const Type& type) const noexcept {
  return decode(type, upper_bound);
}

const ColumnMetrics* DataFile::find_column(std::int32_t field_id) const noexcept {
  const auto found = std::lower_bound(
      columns.begin(), columns.end(), field_id,
      [](const ColumnMetrics& column, std::int32_t id) { return column.field_id < id; });
  return found == columns.end() || found->field_id != field_id ? nullptr : &*found;
}

}  // namespace iceblink
