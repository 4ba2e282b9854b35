// The manifests that other implementations wrote: each is read, and is what its list says.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>

#include "iceberg/manifest/delete_index.h"
#include "iceberg/manifest/manifest_counts.h"
#include "tests/iceberg/manifest/manifest_samples.h"

namespace iceblink::iceberg::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

std::string contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string file_name(std::string_view location) {
  return std::string(location.substr(location.rfind('/') + 1));
}

// Of a snapshot whose id is above what 64 bits hold.
constexpr std::string_view kWideList =
    "snap-9876543210123456789-1-a6381c94-219a-4ddf-83b5-54875a7d3775.avro";
constexpr std::string_view kWideManifest = "482c51b1-71ea-4508-b282-e2d753a5ef36-m0.avro";

class RealManifests : public ::testing::Test {
 protected:
  void SetUp() override {
    const fs::path root = fs::path(ICEBLINK_SOURCE_DIR) / "../shared/data";
    if (!fs::exists(root)) GTEST_SKIP() << root << " is not here: nothing to read";
    for (const auto& file : fs::recursive_directory_iterator(root)) {
      const std::string name = file.path().filename().string();
      if (file.path().extension() == ".avro") avro_files_[name] = file.path();
      if (name.ends_with(".metadata.json")) metadata_files_.push_back(file.path());
    }
  }

  /// By its name: where it was written is not where it is.
  [[nodiscard]] std::string bytes_of(std::string_view location) {
    const auto found = avro_files_.find(file_name(location));
    if (found == avro_files_.end()) return "";
    read_.insert(found->first);
    return contents(found->second);
  }

  struct Snapshot {
    std::shared_ptr<const TableMetadata> table;
    std::shared_ptr<const ManifestList> list;
    std::vector<std::shared_ptr<const Manifest>> manifests;
  };
  /// All whose manifest list is there.
  [[nodiscard]] std::vector<Snapshot> snapshots() {
    std::vector<Snapshot> all;
    for (const fs::path& path : metadata_files_) {
      const auto table = parse_table_metadata(ByteBuffer(contents(path)));
      if (!table) continue;
      const auto of_table = (*table)->snapshots();
      if (!of_table) continue;
      for (const TableSnapshot& each : *of_table) {
        if (!each.manifest_list.empty() && bytes_of(each.manifest_list).empty()) continue;
        SCOPED_TRACE(path.string());
        all.push_back(read_snapshot(*table, each));
      }
    }
    return all;
  }

  [[nodiscard]] Snapshot read_snapshot(const std::shared_ptr<const TableMetadata>& table,
                                       const TableSnapshot& snapshot) {
    Snapshot read;
    read.table = table;
    const auto list = snapshot.manifest_list.empty()
                          ? embedded_manifest_list(snapshot)
                          : read_manifest_list(bytes_of(snapshot.manifest_list), snapshot);
    EXPECT_TRUE(list) << snapshot.manifest_list << ": " << text_of_result(list);
    if (!list) return read;
    read.list = *list;
    for (const ManifestFile& listed : (*list)->manifests()) {
      const auto manifest = read_manifest(bytes_of(listed.manifest_path), listed, *table);
      EXPECT_TRUE(manifest) << listed.manifest_path << ": " << text_of_result(manifest);
      if (!manifest) continue;
      EXPECT_TRUE(check_listed(**manifest, listed));
      read.manifests.push_back(*manifest);
    }
    return read;
  }

  std::map<std::string, fs::path> avro_files_;
  std::vector<fs::path> metadata_files_;
  std::set<std::string> read_;
};

TEST_F(RealManifests, AreReadAndAreWhatTheirListsSay) {
  std::size_t manifests = 0;
  std::size_t entries = 0;
  std::map<ManifestContent, std::size_t> files;
  for (const Snapshot& snapshot : snapshots()) {
    for (const auto& manifest : snapshot.manifests) {
      ++manifests;
      entries += manifest->entries().size();
      files[manifest->content()] += manifest->entries().size();
    }
  }
  EXPECT_GE(manifests, 40U);
  EXPECT_GE(entries, 1000U);
  EXPECT_GE(files[ManifestContent::kDeletes], 1U);
}

TEST_F(RealManifests, AreAllOpened) {
  ASSERT_FALSE(snapshots().empty());
  std::vector<std::string> left;
  for (const auto& [name, path] : avro_files_) {
    const std::string folder = path.parent_path().string();
    const bool is_alone =
        folder.ends_with("testdata/manifests_lists") || folder.ends_with("icebird/test/files") ||
        folder.ends_with("legacy_v1/metadata") || name == kWideList || name == kWideManifest;
    if (!read_.contains(name) && !is_alone) left.push_back(path.string());
  }
  EXPECT_THAT(left, ElementsAre());
}

TEST_F(RealManifests, EmbeddedInTheMetadataAreRead) {
  std::size_t manifests = 0;
  for (const Snapshot& snapshot : snapshots()) {
    for (const auto& manifest : snapshot.manifests) {
      if (snapshot.list->manifests()[0].manifest_length) continue;
      ++manifests;
      ASSERT_EQ(manifest->entries().size(), 2U);
      EXPECT_EQ(to_text(manifest->entries()[0].file.partition[0]), "alpha");
      EXPECT_EQ(to_text(manifest->entries()[1].file.partition[0]), "beta");
    }
  }
  EXPECT_EQ(manifests, 1U);
}

TEST_F(RealManifests, WithNumbersOfMoreThan64BitsAreRefused) {
  EXPECT_THAT(read_manifest_list(bytes_of(kWideList), TableSnapshot{}),
              FailsAs("a number of more than 64 bits"));
  EXPECT_THAT(read_manifest(bytes_of(kWideManifest), listed(ManifestContent::kDeletes),
                            *unpartitioned_table()),
              FailsAs("a number of more than 64 bits"));
}

TEST_F(RealManifests, WithoutATableAreListsAlone) {
  for (const auto* const name :
       {"manifest-list-v2-1.avro", "manifest-list-v2-2.avro",
        "snap-2456114553637229296-1-d65f86b0-b799-467f-b1f4-9c697e4c4fc7.avro",
        "snap-8656952484400131532-1-a85973e4-4009-4cba-875e-5278a2c6027d.avro"}) {
    const auto list = read_manifest_list(bytes_of(name), TableSnapshot{});
    ASSERT_TRUE(list) << text_of_result(list);
    EXPECT_EQ((*list)->manifests().size(), 1U);
  }
}

TEST_F(RealManifests, EveryBoundOfATopLevelColumnDecodes) {
  std::size_t bounds = 0;
  for (const Snapshot& snapshot : snapshots()) {
    for (const auto& manifest : snapshot.manifests) {
      for (const ManifestEntry& each : manifest->entries()) {
        for (const ColumnMetrics& column : each.file.columns) {
          const Field* const field = snapshot.table->current_schema().find_field(column.field_id);
          if (field == nullptr || field->type.is_nested()) continue;
          const auto lower = column.lower(field->type);
          const auto upper = column.upper(field->type);
          EXPECT_TRUE(lower && upper) << each.file.file_path << ' ' << field->name;
          if (!lower || !upper || !*lower || !*upper) continue;
          ++bounds;
          EXPECT_FALSE(compare(**lower, **upper) > 0) << each.file.file_path << field->name;
        }
      }
    }
  }
  EXPECT_GE(bounds, 1000U);
}

TEST_F(RealManifests, DeletesFindTheirDataFiles) {
  std::size_t with_deletes = 0;
  for (const Snapshot& snapshot : snapshots()) {
    std::vector<const DataFile*> deletes;
    for (const auto& manifest : snapshot.manifests) {
      if (manifest->content() != ManifestContent::kDeletes) continue;
      for (const auto& each : manifest->entries()) {
        if (each.is_live()) deletes.push_back(&each.file);
      }
    }
    auto index = DeleteIndex::make(deletes, *snapshot.table);
    ASSERT_TRUE(index) << index.error().message();
    for (const auto& manifest : snapshot.manifests) {
      if (manifest->content() != ManifestContent::kData) continue;
      for (const auto& each : manifest->entries()) {
        std::vector<const DataFile*> own;
        const auto shared = index->find_positions(each.file, own);
        const auto equalities = index->find_equalities(each.file);
        if (!own.empty() || !shared.empty() || !equalities.empty()) ++with_deletes;
      }
    }
  }
  EXPECT_GE(with_deletes, 1U);
}

TEST_F(RealManifests, AnEncryptedListIsNotSupported) {
  const auto list =
      read_manifest_list(bytes_of("manifest-list-v3-encrypted.avro"), TableSnapshot{});
  EXPECT_THAT(list, FailsAs("unsupported"));
}

}  // namespace
}  // namespace iceblink::iceberg::testing
