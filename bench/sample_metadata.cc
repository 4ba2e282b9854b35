#include "bench/sample_metadata.h"

#include <algorithm>
#include <cstdint>

#include "bench/sample_catalog.h"

namespace iceblink::bench {
namespace {

constexpr std::int64_t kBeginMs = 1'700'000'000'000;

std::string text(std::uint64_t value) {
  return std::to_string(value);
}
std::string snapshot_id(std::size_t i) {
  return text(scramble(i) >> 2 | 1);
}
std::string timestamp_ms(std::size_t i) {
  return text(kBeginMs + i * 1000);
}

std::string snapshot(std::size_t i) {
  std::string json = "{\"sequence-number\":" + text(i + 1) + ",\"snapshot-id\":" + snapshot_id(i);
  if (i > 0) json += ",\"parent-snapshot-id\":" + snapshot_id(i - 1);
  json +=
      ",\"timestamp-ms\":" + timestamp_ms(i) +
      ",\"summary\":{\"operation\":\"append\",\"spark.app.id\":\"local-1700000000000\","
      "\"added-data-files\":\"4\",\"added-records\":\"1000\",\"added-files-size\":\"123456\","
      "\"changed-partition-count\":\"2\",\"total-records\":\"" +
      text(i * 1000) + "\",\"total-files-size\":\"" + text(i * 123456) +
      "\",\"total-data-files\":\"" + text(i * 4) +
      "\",\"total-delete-files\":\"0\",\"total-position-deletes\":\"0\","
      "\"total-equality-deletes\":\"0\",\"engine-version\":\"3.5.0\",\"engine-name\":\"spark\"},"
      "\"manifest-list\":\"s3://bucket/warehouse/db/table/metadata/snap-" +
      snapshot_id(i) + "-1-0a1b2c3d-0000-1111-2222-333344445555.avro\",\"schema-id\":0}";
  return json;
}

/// `element` of 0, 1, … as a JSON array.
template <typename Element>
std::string array(std::size_t count, Element element) {
  std::string json = "[";
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) json += ',';
    json += element(i);
  }
  return json + "]";
}

}  // namespace

std::string sample_metadata(const SampleMetadataShape& shape) {
  const std::size_t last = shape.snapshot_count - 1;
  const auto column = [](std::size_t i) {
    return "{\"id\":" + text(i + 1) + ",\"name\":\"column_" + text(i) +
           "\",\"required\":false,\"type\":\"" + (i % 2 == 0 ? "long" : "string") + "\"}";
  };
  const auto log_entry = [](std::size_t i) {
    return "{\"timestamp-ms\":" + timestamp_ms(i) + ",\"snapshot-id\":" + snapshot_id(i) + "}";
  };
  const auto old_file = [](std::size_t i) {
    return "{\"timestamp-ms\":" + timestamp_ms(i) +
           ",\"metadata-file\":\"s3://bucket/warehouse/db/table/metadata/" + text(i) +
           "-0a1b2c3d-0000-1111-2222-333344445555.metadata.json\"}";
  };
  return "{\"format-version\":2,\"table-uuid\":\"9c12d441-03fe-4693-9a96-a0705ddf69c1\","
         "\"location\":\"" +
         shape.location + "\",\"last-sequence-number\":" + text(shape.snapshot_count) +
         ",\"last-updated-ms\":" + timestamp_ms(last) +
         ",\"last-column-id\":" + text(shape.column_count) +
         ",\"current-schema-id\":0,\"schemas\":[{\"type\":\"struct\",\"schema-id\":0,\"fields\":" +
         array(shape.column_count, column) +
         "}],\"default-spec-id\":0,\"partition-specs\":[{\"spec-id\":0,\"fields\":[{\"name\":"
         "\"column_0_bucket\",\"transform\":\"bucket[16]\",\"source-id\":1,\"field-id\":1000}]}],"
         "\"last-partition-id\":1000,\"default-sort-order-id\":0,\"sort-orders\":[{\"order-id\":0,"
         "\"fields\":[]}],\"properties\":{\"owner\":\"root\",\"write.parquet.compression-codec\":"
         "\"zstd\"},\"current-snapshot-id\":" +
         snapshot_id(last) + ",\"refs\":{\"main\":{\"snapshot-id\":" + snapshot_id(last) +
         ",\"type\":\"branch\"}},\"snapshots\":" + array(shape.snapshot_count, snapshot) +
         ",\"statistics\":[],\"partition-statistics\":[],\"snapshot-log\":" +
         array(shape.snapshot_count, log_entry) + ",\"metadata-log\":" +
         array(std::min(shape.metadata_log_count, shape.snapshot_count), old_file) + "}";
}

}  // namespace iceblink::bench
