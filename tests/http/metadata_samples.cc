#include "tests/http/metadata_samples.h"

#include <libdeflate.h>

#include <fstream>

namespace iceblink::test {

std::string table_metadata(char uuid_digit) {
  return R"({ "format-version" : 2,
  "table-uuid": "00000000-0000-4000-8000-00000000000)" +
         std::string(1, uuid_digit) + R"(",
  "location": "file:///w/t", "last-sequence-number": 0, "last-updated-ms": 1700000000000,
  "last-column-id": 1,
  "schemas": [{"type": "struct", "schema-id": 0, "fields": [
    {"id": 1, "name": "a", "required": true, "type": "long"}]}],
  "current-schema-id": 0, "partition-specs": [{"spec-id": 0, "fields": []}],
  "default-spec-id": 0, "last-partition-id": 999,
  "sort-orders": [{"order-id": 0, "fields": []}], "default-sort-order-id": 0,
  "properties": {}, "x-large": 9007199254740993, "x-largest": 9223372036854775807 }
)";
}

std::string view_metadata() {
  return R"({"view-uuid": "00000000-0000-4000-8000-000000000009", "format-version": 1,
  "location": "file:///w/v", "current-version-id": 1, "properties": {},
  "schemas": [{"type": "struct", "schema-id": 0, "fields": []}],
  "versions": [{"version-id": 1, "timestamp-ms": 1, "schema-id": 0, "summary": {},
    "default-namespace": ["a"], "representations": []}],
  "version-log": [{"version-id": 1, "timestamp-ms": 1}]})";
}

std::string gzipped(const std::string& text) {
  libdeflate_compressor* const compressor = libdeflate_alloc_compressor(6);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

void write_file(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace iceblink::test
