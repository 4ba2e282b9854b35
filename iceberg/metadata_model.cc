// The model's own functions.
#include <iceblink/metadata/table_metadata.h>
#include <iceblink/metadata/view_metadata.h>

#include <algorithm>
#include <utility>

#include "iceberg/arena.h"
#include "iceberg/ascii.h"
#include "iceberg/lazy_table_parts.h"
#include "iceberg/weight_observers.h"

namespace iceblink {
namespace {

/// The element with that id, or null.
template <typename Element, typename Id>
const Element* find(std::span<const Element> elements, Id Element::*id, Id wanted) noexcept {
  const auto found = std::find_if(elements.begin(), elements.end(),
                                  [&](const Element& element) { return element.*id == wanted; });
  return found == elements.end() ? nullptr : &*found;
}

const Field* find_in(std::span<const Field> fields, std::int32_t id) noexcept {
  for (const Field& field : fields) {
    if (field.id == id) return &field;
    if (!field.type.is_nested()) continue;
    if (const Field* found = find_in(field.type.fields, id)) return found;
  }
  return nullptr;
}

}  // namespace

// ---- Schema, properties

const Field* Schema::find_field(std::int32_t id) const noexcept {
  return find_in(fields, id);
}

const Field* Schema::find_column(std::string_view name) const noexcept {
  return find(fields, &Field::name, name);
}

std::optional<std::string_view> find_property(std::span<const Property> properties,
                                              std::string_view key) noexcept {
  const Property* const found = find(properties, &Property::key, key);
  return found == nullptr ? std::nullopt : std::optional(found->value);
}

// ---- MetadataDocument

MetadataDocument::MetadataDocument(Kind kind, std::size_t own_bytes,
                                   std::unique_ptr<iceberg::Arena> arena)
    : kind_(kind),
      arena_(std::move(arena)),
      observers_(std::make_unique<iceberg::WeightObservers>()),
      weight_bytes_(own_bytes + sizeof(*observers_) + arena_->bytes()) {}

MetadataDocument::~MetadataDocument() = default;

std::size_t MetadataDocument::weight_bytes() const noexcept {
  // relaxed: a count
  return weight_bytes_.load(std::memory_order_relaxed);
}

void MetadataDocument::charge(std::size_t bytes) const noexcept {
  // relaxed: a count
  weight_bytes_.fetch_add(bytes, std::memory_order_relaxed);
  observers_->tell(*this, bytes);
}

void MetadataDocument::add_weight_observer(std::shared_ptr<WeightObserver> observer) const {
  observers_->add(std::move(observer));
}

void MetadataDocument::remove_weight_observer(const WeightObserver& observer) const noexcept {
  observers_->remove(observer);
}

// ---- TableMetadata

TableMetadata::TableMetadata(std::unique_ptr<iceberg::Arena> arena, const TableValues& values,
                             std::unique_ptr<iceberg::LazyTableParts> parts)
    : MetadataDocument(Kind::kTable, sizeof(*this) + sizeof(*parts), std::move(arena)),
      TableValues(values),
      parts_(std::move(parts)) {}

TableMetadata::~TableMetadata() = default;

const Schema* TableMetadata::find_schema(std::int32_t schema_id) const noexcept {
  return find(schemas, &Schema::schema_id, schema_id);
}
const PartitionSpec* TableMetadata::find_partition_spec(std::int32_t spec_id) const noexcept {
  return find(partition_specs, &PartitionSpec::spec_id, spec_id);
}
const SortOrder* TableMetadata::find_sort_order(std::int32_t order_id) const noexcept {
  return find(sort_orders, &SortOrder::order_id, order_id);
}
const SnapshotRef* TableMetadata::find_ref(std::string_view name) const noexcept {
  return find(refs, &SnapshotRef::name, name);
}
const Schema& TableMetadata::current_schema() const noexcept {
  return *find_schema(current_schema_id);
}
const PartitionSpec& TableMetadata::default_partition_spec() const noexcept {
  return *find_partition_spec(default_spec_id);
}
const SortOrder& TableMetadata::default_sort_order() const noexcept {
  return *find_sort_order(default_sort_order_id);
}

std::span<const SnapshotIndexEntry> TableMetadata::snapshot_index() const noexcept {
  return parts_->index();
}

Result<const TableSnapshot*> TableMetadata::current_snapshot() const noexcept {
  if (!current_snapshot_id) return nullptr;
  return parts_->snapshot(*this, *current_snapshot_id);
}
Result<const TableSnapshot*> TableMetadata::snapshot(std::int64_t snapshot_id) const noexcept {
  return parts_->snapshot(*this, snapshot_id);
}
Result<std::span<const TableSnapshot>> TableMetadata::snapshots() const noexcept {
  return parts_->snapshots(*this);
}
Result<std::span<const SnapshotLogEntry>> TableMetadata::snapshot_log() const noexcept {
  return parts_->snapshot_log(*this);
}
Result<std::span<const MetadataLogEntry>> TableMetadata::metadata_log() const noexcept {
  return parts_->metadata_log(*this);
}

// ---- ViewMetadata

const ViewRepresentation* ViewVersion::find_sql(std::string_view dialect) const noexcept {
  for (const auto& representation : representations) {
    if (representation.type == "sql" &&
        iceberg::equals_ignoring_case(representation.dialect, dialect)) {
      return &representation;
    }
  }
  return nullptr;
}

ViewMetadata::ViewMetadata(std::unique_ptr<iceberg::Arena> arena, const ViewValues& values)
    : MetadataDocument(Kind::kView, sizeof(*this), std::move(arena)), ViewValues(values) {}

const ViewVersion* ViewMetadata::find_version(std::int32_t version_id) const noexcept {
  return find(versions, &ViewVersion::version_id, version_id);
}
const Schema* ViewMetadata::find_schema(std::int32_t schema_id) const noexcept {
  return find(schemas, &Schema::schema_id, schema_id);
}
const ViewVersion& ViewMetadata::current_version() const noexcept {
  return *find_version(current_version_id);
}
const Schema& ViewMetadata::current_schema() const noexcept {
  return *find_schema(current_version().schema_id);
}

}  // namespace iceblink
