// Bodies of the Iceberg REST protocol for tests that speak it to a daemon in another process.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/http/http_client.h"
#include "tests/process/world.h"

namespace iceblink::test {

inline HttpClient connect(const World& world) {
  return HttpClient::to_unix(world.runtime_dir() + "/catalog.sock");
}

inline std::string creation_of(const std::string& table) {
  return R"({"name":")" + table +
         R"(","schema":{"type":"struct","schema-id":0,"fields":[)"
         R"({"id":1,"name":"x","required":false,"type":"long"}]}})";
}

inline std::string snapshot_json(std::int64_t id, std::int64_t sequence_number) {
  return R"({"snapshot-id":)" + std::to_string(id) + R"(,"sequence-number":)" +
         std::to_string(sequence_number) +
         R"(,"timestamp-ms":4000000000000,"manifest-list":"/none/snap.avro",)"
         R"("summary":{"operation":"append"},"schema-id":0})";
}

/// Appends the first snapshot to `main`, which must not be there.
inline std::string first_append(std::int64_t snapshot_id) {
  return R"({"requirements":[{"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}],)"
         R"("updates":[{"action":"add-snapshot","snapshot":)" +
         snapshot_json(snapshot_id, 1) +
         R"(},{"action":"set-snapshot-ref","ref-name":"main","type":"branch","snapshot-id":)" +
         std::to_string(snapshot_id) + "}]}";
}

/// Sets a property, whatever there is.
inline std::string set_property(const std::string& name, const std::string& value) {
  return R"({"requirements":[],"updates":[{"action":"set-properties","updates":{")" + name +
         R"(":")" + value + R"("}}]})";
}

inline std::size_t count_files(const std::string& directory) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    count += entry.is_regular_file() ? 1 : 0;
  }
  return count;
}

}  // namespace iceblink::test
