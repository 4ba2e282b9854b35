// What commits are applied to: a table of format 1, 2 and 3, and a view, with some of everything.
#pragma once

#include <string>
#include <string_view>

namespace iceblink::test {

inline constexpr std::string_view kBaseTableV1 = R"json({"format-version":1,
"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t",
"last-updated-ms":1700000000000,"last-column-id":2,
"schema":{"type":"struct","schema-id":0,"fields":[
 {"id":1,"name":"id","required":true,"type":"long"},
 {"id":2,"name":"ts","required":false,"type":"timestamp"}]},
"partition-spec":[{"source-id":2,"field-id":1000,"name":"d","transform":"day"}],
"properties":{"a":"b"},"current-snapshot-id":7,
"snapshots":[{"snapshot-id":7,"timestamp-ms":1700000000000,"manifest-list":"s3://b/t/m/7.avro"}],
"snapshot-log":[{"timestamp-ms":1700000000000,"snapshot-id":7}]})json";

/// Of format 2 or 3: what only format 3 has is given, members of the table, and of its snapshots.
inline std::string base_table(std::string_view head, std::string_view first,
                              std::string_view second, std::string_view third) {
  constexpr std::string_view kStructure = R"json(
"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1","location":"s3://b/t",
"last-updated-ms":1700000000002,"last-column-id":9,"last-sequence-number":3,
"schemas":[{"type":"struct","schema-id":0,"fields":[
 {"id":1,"name":"id","required":true,"type":"long"},
 {"id":2,"name":"ts","required":false,"type":"timestamp"}]},
{"type":"struct","schema-id":1,"identifier-field-ids":[1],"fields":[
 {"id":1,"name":"id","required":true,"type":"long"},
 {"id":2,"name":"ts","required":false,"type":"timestamp"},
 {"id":4,"name":"s","required":false,"type":{"type":"struct","fields":[
  {"id":5,"name":"x","required":true,"type":"int"}]}},
 {"id":6,"name":"m","required":false,"type":{"type":"map","key-id":7,"key":"string",
  "value-id":8,"value":"float","value-required":false}}]}],"current-schema-id":1,
"partition-specs":[{"spec-id":0,"fields":[]},{"spec-id":1,"fields":[
 {"source-id":2,"field-id":1000,"name":"d","transform":"day"},
 {"source-id":1,"field-id":1001,"name":"b","transform":"bucket[4]"}]}],
"default-spec-id":1,"last-partition-id":1001,
"sort-orders":[{"order-id":0,"fields":[]},{"order-id":3,"fields":[{"transform":"identity",
 "source-id":1,"direction":"asc","null-order":"nulls-first"}]}],"default-sort-order-id":3,
"properties":{"a":"b","write.metadata.previous-versions-max":"2",
 "write.metadata.delete-after-commit.enabled":"true"},
"snapshot-log":[{"timestamp-ms":1700000000000,"snapshot-id":7},
 {"timestamp-ms":1700000000001,"snapshot-id":8}],
"metadata-log":[{"timestamp-ms":1699999999999,"metadata-file":"s3://b/t/metadata/0.json"},
 {"timestamp-ms":1700000000001,"metadata-file":"s3://b/t/metadata/1.json"}],
"refs":{"main":{"snapshot-id":8,"type":"branch"},
 "audit":{"snapshot-id":9,"type":"branch","min-snapshots-to-keep":3},
 "v1":{"snapshot-id":7,"type":"tag","max-ref-age-ms":1}},
"statistics":[{"snapshot-id":7,"statistics-path":"s3://b/t/m/7.stats","file-size-in-bytes":9,
 "file-footer-size-in-bytes":4,"blob-metadata":[]}],
"partition-statistics":[{"snapshot-id":8,"statistics-path":"s3://b/t/m/p.parquet",
 "file-size-in-bytes":7}],"current-snapshot-id":8,"snapshots":[)json";
  std::string text = "{" + std::string(head) + std::string(kStructure);
  text += R"({"snapshot-id":7,"timestamp-ms":1700000000000,"sequence-number":1,)"
          R"("manifest-list":"s3://b/t/m/7.avro","summary":{"operation":"append"},"schema-id":0)";
  text += first;
  text += R"(},{"snapshot-id":8,"parent-snapshot-id":7,"timestamp-ms":1700000000001,)"
          R"("sequence-number":2,"manifest-list":"s3://b/t/m/8.avro",)"
          R"("summary":{"operation":"append"},"schema-id":1)";
  text += second;
  text += R"(},{"snapshot-id":9,"parent-snapshot-id":7,"timestamp-ms":1700000000002,)"
          R"("sequence-number":3,"manifest-list":"s3://b/t/m/9.avro",)"
          R"("summary":{"operation":"overwrite"},"schema-id":1)";
  text += third;
  return text + "}]}";
}

inline std::string base_table_v2() {
  return base_table(R"("format-version":2,)", "", "", "");
}
inline std::string base_table_v3() {
  return base_table(R"("format-version":3,"next-row-id":30,"encryption-keys":)"
                    R"([{"key-id":"k","encrypted-key-metadata":"bQ=="}],)",
                    R"(,"first-row-id":0,"added-rows":10)",
                    R"(,"first-row-id":10,"added-rows":10,"key-id":"k")",
                    R"(,"first-row-id":20,"added-rows":10)");
}

inline constexpr std::string_view kBaseView = R"json({
"view-uuid":"fa6506c3-7681-40c8-86dc-e36561f83385","format-version":1,"location":"s3://b/v",
"current-version-id":2,"properties":{"comment":"c","version.history.num-entries":"2"},
"versions":[{"version-id":1,"timestamp-ms":1700000000000,"schema-id":1,"default-namespace":["a"],
 "summary":{"engine-name":"Spark"},"representations":[
 {"type":"sql","sql":"SELECT 1","dialect":"spark"}]},
{"version-id":2,"timestamp-ms":1700000000001,"schema-id":2,"default-namespace":[],"summary":{},
 "default-catalog":"prod","representations":[{"type":"sql","sql":"SELECT 1","dialect":"trino"},
 {"type":"sql","sql":"SELECT 2","dialect":"spark"}]}],
"schemas":[{"type":"struct","schema-id":1,"fields":[]},{"type":"struct","schema-id":2,"fields":[
 {"id":1,"name":"c1","required":true,"type":"boolean"}]}],
"version-log":[{"timestamp-ms":1700000000000,"version-id":1},
 {"timestamp-ms":1700000000001,"version-id":2}]})json";

}  // namespace iceblink::test
