// A table's metadata from JSON: its members in any order, the rules between them, and what stays
// raw (Iceberg table specification, "Table Metadata Fields", appendix C "Table Metadata", appendix
// E).
#pragma once

#include <iceblink/metadata/table_metadata.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "iceberg/json_reader.h"
#include "iceberg/lazy_table_parts.h"

namespace iceblink::iceberg {

class TableReader {
 public:
  /// `text` is the reader's.
  TableReader(JsonReader& reader, std::string_view text) : reader_(reader), text_(text) {}

  /// The reader stands at the document's object; `parent` is the way to it, if it is part of
  /// another. Afterwards it stands behind it.
  void read(const JsonReader::Step* parent);

  /// Reads what stayed raw, and reports what is wrong with it.
  void check_raw_parts();

  [[nodiscard]] const TableValues& values() const noexcept { return values_; }
  [[nodiscard]] const RawTableParts& raw_parts() const noexcept { return raw_; }

 private:
  enum class Member : std::uint8_t {
    kFormatVersion,
    kTableUuid,
    kLocation,
    kLastSequenceNumber,
    kLastUpdatedMs,
    kLastColumnId,
    kSchema,
    kSchemas,
    kCurrentSchemaId,
    kPartitionSpec,
    kPartitionSpecs,
    kDefaultSpecId,
    kLastPartitionId,
    kProperties,
    kCurrentSnapshotId,
    kSnapshots,
    kSnapshotLog,
    kMetadataLog,
    kSortOrders,
    kDefaultSortOrderId,
    kRefs,
    kStatistics,
    kPartitionStatistics,
    kNextRowId,
    kEncryptionKeys,
    kCount
  };
  static constexpr std::size_t kMemberCount = static_cast<std::size_t>(Member::kCount);
  static const std::array<std::string_view, kMemberCount> kNames;

  [[nodiscard]] static std::string_view name_of(Member member) noexcept {
    return kNames[static_cast<std::size_t>(member)];
  }
  [[nodiscard]] static std::uint32_t bit_of(Member member) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(member);
  }
  [[nodiscard]] JsonReader::Place& place_of(Member member) noexcept {
    return places_[static_cast<std::size_t>(member)];
  }

  void find_members();
  void note_member(Member member);
  TextRange skip_range();
  /// There, and not null.
  [[nodiscard]] bool has(Member member) noexcept;
  /// Reports that it is missing, or null.
  bool require(Member member);
  /// Goes to the member and has `read` read it.
  template <typename Read>
  void at(Member member, Read read);
  /// False: it has been reported.
  bool read_required_int32(Member member, std::int32_t& value);
  bool read_required_int64(Member member, std::int64_t& value);
  void report_at(Member member, std::string what);
  /// Of an element of an array, or of a member of an object: of its member `name`.
  void report_in(Member member, std::size_t index, std::string_view name, std::string what);
  void report_in(Member member, std::string_view key, std::string_view name, std::string what);

  void read_format_version();
  void read_identity();
  void read_schemas_of_table();
  void use_single_schema(std::vector<Schema>& schemas);
  void read_partition_specs_of_table();
  void read_last_partition_id();
  void read_sort_orders_of_table();
  void index_snapshots();
  void check_sequence_numbers();
  void read_current_snapshot_id();
  void read_refs_of_table();
  void read_rest();
  void check_unread_members();
  [[nodiscard]] bool has_snapshot(std::int64_t snapshot_id) const noexcept;

  JsonReader& reader_;
  const std::string_view text_;
  const JsonReader::Step* parent_ = nullptr;
  std::array<JsonReader::Place, kMemberCount> places_{};
  std::uint32_t read_members_ = 0;  // a bit for each that has been read, or stays raw
  bool knows_snapshots_ = true;     // false: some id is none
  bool knows_current_ = true;
  bool knows_last_sequence_number_ = false;
  std::vector<ScannedSnapshot> scanned_;
  TableValues values_;
  RawTableParts raw_;
};

template <typename Read>
void TableReader::at(Member member, Read read) {
  read_members_ |= bit_of(member);
  JsonReader::Step step;
  step.parent = parent_;
  step.key = name_of(member);
  reader_.set_origin(&step);
  reader_.go_to(place_of(member));
  read();
  reader_.set_origin(parent_);
}

}  // namespace iceblink::iceberg
