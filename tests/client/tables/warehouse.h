// Tables with manifest lists and manifests on disk, in the catalog's one namespace.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/client/metadata_fixture.h"
#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::testing {

using iceberg::testing::AvroRecord;

/// A snapshot of one sequence number: of manifests, each with so many added data files, and one of
/// position deletes for each data file, where that is asked for.
struct SnapshotFiles {
  std::int64_t snapshot_id = 1;
  std::vector<int> data_files_of_manifests{};
  bool has_deletes = false;
};

class WarehouseTest : public MetadataTest {
 protected:
  /// Writes the manifests and the list, named by the snapshot; the snapshot's JSON.
  std::string write_snapshot(const SnapshotFiles& files) {
    const std::string id = std::to_string(files.snapshot_id);
    std::vector<AvroRecord> list;
    for (std::size_t m = 0; m < files.data_files_of_manifests.size(); ++m) {
      const int count = files.data_files_of_manifests[m];
      const std::string name = id + "-m" + std::to_string(m);
      list.push_back(write_manifest(files.snapshot_id, name, count, 0));
      if (files.has_deletes) {
        list.push_back(write_manifest(files.snapshot_id, name + "-deletes", count, 1));
      }
    }
    put_file(list_path(files.snapshot_id), iceberg::testing::avro_file(list));
    return R"({"snapshot-id":)" + id + R"(,"sequence-number":)" + id +
           R"(,"timestamp-ms":1700000000000,"summary":{"operation":"append"},"manifest-list":")" +
           list_path(files.snapshot_id) + "\"}";
  }

  /// The entry of a manifest list for the manifest that it writes, content 0 or 1.
  AvroRecord write_manifest(std::int64_t snapshot_id, const std::string& name, int file_count,
                            int content) {
    using namespace iceberg::testing;
    std::vector<AvroRecord> entries;
    for (int i = 0; i < file_count; ++i) {
      AvroRecord file = content == 0 ? data_file(data_path(name, i))
                                     : position_deletes(path(name + '-' + std::to_string(i)));
      entries.push_back(entry(file));
    }
    if (entries.empty()) entries.push_back(entry(data_file(data_path(name, 0)), 2));
    const std::string bytes = avro_file(entries);
    put_file(path(name + ".avro"), bytes);
    return counted(list_entry(path(name + ".avro")), file_count)
        .with(long_field("manifest_length", 501, static_cast<std::int64_t>(bytes.size())))
        .with(int_field("content", 517, content))
        .with(long_field("sequence_number", 515, snapshot_id))
        .with(long_field("min_sequence_number", 516, snapshot_id))
        .with(long_field("added_snapshot_id", 503, snapshot_id));
  }
  static AvroRecord counted(const AvroRecord& entry, int added) {
    using namespace iceberg::testing;
    return entry.with(int_field("added_files_count", 504, added))
        .with(int_field("existing_files_count", 505, 0))
        .with(int_field("deleted_files_count", 506, added == 0 ? 1 : 0))
        .with(long_field("added_rows_count", 512, added * 10))
        .with(long_field("existing_rows_count", 513, 0))
        .with(long_field("deleted_rows_count", 514, added == 0 ? 10 : 0));
  }

  /// Metadata with these snapshots (JSON), the last of them current.
  static std::string table_metadata(std::uint64_t number, std::int64_t current_id,
                                    const std::vector<std::string>& snapshots) {
    std::string text = numbered_metadata(number);
    const std::string sequence = R"("last-sequence-number":0)";
    text.replace(text.find(sequence), sequence.size(), R"("last-sequence-number":99)");
    text.pop_back();
    text += R"(,"current-snapshot-id":)" + std::to_string(current_id) + R"(,"snapshots":[)";
    for (std::size_t i = 0; i < snapshots.size(); ++i) text += (i == 0 ? "" : ",") + snapshots[i];
    return text + "]}";
  }

  [[nodiscard]] std::string list_path(std::int64_t snapshot_id) const {
    return path("snap-" + std::to_string(snapshot_id) + ".avro");
  }
  static std::string data_path(const std::string& manifest, int index) {
    return "s3://b/t/data/" + manifest + '-' + std::to_string(index) + ".parquet";
  }
};

}  // namespace iceblink::testing
