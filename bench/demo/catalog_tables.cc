#include "bench/demo/catalog_tables.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>

namespace iceblink::demo {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRealData = ICEBLINK_SOURCE_DIR "/../shared/data";
constexpr int kMadeUpTables = 40;
constexpr int kMadeUpVersions = 3;

/// Metadata files by the folder of their table.
std::map<fs::path, std::vector<std::string>> find_real_metadata() {
  std::map<fs::path, std::vector<std::string>> found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(kRealData, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(".metadata.json") || entry->path().parent_path().filename() != "metadata") {
      continue;
    }
    const fs::path table = entry->path().parent_path().parent_path();
    found[table].push_back(fs::weakly_canonical(entry->path(), error).string());
  }
  for (auto& [table, versions] : found) std::sort(versions.begin(), versions.end());
  return found;
}

std::string made_up_metadata(int table, int version, const std::string& location) {
  char uuid[40];
  std::snprintf(uuid, sizeof(uuid), "00000000-0000-4000-8000-%012d", table + 1);
  return R"({"format-version":2,"table-uuid":")" + std::string(uuid) + R"(","location":")" +
         location + R"(","last-sequence-number":)" + std::to_string(version) +
         R"(,"last-updated-ms":)" + std::to_string(1700000000000 + version) +
         R"(,"last-column-id":1,"current-schema-id":0,"schemas":[{"type":"struct","schema-id":0,)"
         R"("fields":[{"id":1,"name":"id","required":true,"type":"long"}]}],"default-spec-id":0,)"
         R"("partition-specs":[{"spec-id":0,"fields":[]}],"last-partition-id":999,)"
         R"("default-sort-order-id":0,"sort-orders":[{"order-id":0,"fields":[]}],)"
         R"("properties":{},"current-snapshot-id":-1,"refs":{},"snapshots":[],)"
         R"("statistics":[],"snapshot-log":[],"metadata-log":[]})";
}

std::map<fs::path, std::vector<std::string>> write_metadata(const std::string& scratch_dir) {
  std::map<fs::path, std::vector<std::string>> written;
  for (int table = 0; table < kMadeUpTables; ++table) {
    const fs::path location = fs::path(scratch_dir) / ("table_" + std::to_string(table));
    fs::create_directories(location / "metadata");
    for (int version = 1; version <= kMadeUpVersions; ++version) {
      const fs::path file =
          location / "metadata" / ("v" + std::to_string(version) + ".metadata.json");
      std::ofstream(file) << made_up_metadata(table, version, location.string());
      written[location].push_back(file.string());
    }
  }
  return written;
}

}  // namespace

Result<DemoTables> register_tables(Catalog& catalog, const std::string& scratch_dir) {
  DemoTables demo;
  auto candidates = find_real_metadata();
  demo.origin = "real Iceberg tables of other projects";
  if (candidates.empty()) {
    candidates = write_metadata(scratch_dir);
    demo.origin = "tables written for this demonstration";
  }
  const Namespace levels{"demo"};
  ICEBLINK_RETURN_IF_ERROR(catalog.create_namespace(levels));
  RegisterOptions overwrite;
  overwrite.if_exists = RegisterOptions::IfExists::kOverwrite;
  for (const auto& [folder, versions] : candidates) {
    // Two folders may have one name.
    DemoTable table{{levels, folder.filename().string() + "_" + std::to_string(demo.tables.size())},
                    {}};
    for (const auto& version : versions) {
      if (catalog.register_table(table.ident, version, overwrite)) {
        table.versions.push_back(version);
      } else {
        ++demo.refused_count;
      }
    }
    if (!table.versions.empty()) demo.tables.push_back(std::move(table));
  }
  if (demo.tables.empty()) return {ErrorKind::kInternal, "no table could be registered"};
  return demo;
}

}  // namespace iceblink::demo
