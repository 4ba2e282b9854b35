// The schemas that the manifest target puts in front of a block's data, with every field of format
// 3. make_corpus.py reads them from here.
#pragma once

#include <string_view>

namespace iceblink::test {

inline constexpr std::string_view kEntrySchema = R"json(
{"type":"record","name":"manifest_entry","fields":[
 {"name":"status","field-id":0,"type":"int"},
 {"name":"snapshot_id","field-id":1,"type":["null","long"]},
 {"name":"sequence_number","field-id":3,"type":["null","long"]},
 {"name":"file_sequence_number","field-id":4,"type":["null","long"]},
 {"name":"data_file","field-id":2,"type":{"type":"record","name":"r2","fields":[
  {"name":"content","field-id":134,"type":"int"},
  {"name":"file_path","field-id":100,"type":"string"},
  {"name":"file_format","field-id":101,"type":"string"},
  {"name":"partition","field-id":102,"type":{"type":"record","name":"r102","fields":[
   {"name":"s","field-id":1000,"type":["null","string"]},
   {"name":"d","field-id":1001,"type":["null",{"type":"int","logicalType":"date"}]},
   {"name":"n","field-id":1002,"type":["null",{"type":"bytes","logicalType":"decimal",
    "precision":38,"scale":2}]},
   {"name":"b","field-id":1003,"type":["null","long"]},
   {"name":"f","field-id":1004,"type":["null","float"]},
   {"name":"t","field-id":1005,"type":["null",{"type":"long","logicalType":"timestamp-millis"}]},
   {"name":"u","field-id":1006,"type":["null","string"]}]}},
  {"name":"record_count","field-id":103,"type":"long"},
  {"name":"file_size_in_bytes","field-id":104,"type":"long"},
  {"name":"column_sizes","field-id":108,"type":["null",{"type":"map","values":"long"}]},
  {"name":"value_counts","field-id":109,"type":["null",{"type":"array","logicalType":"map",
   "items":{"type":"record","name":"k119","fields":[{"name":"key","field-id":119,"type":"int"},
    {"name":"value","field-id":120,"type":"long"}]}}]},
  {"name":"null_value_counts","field-id":110,"type":["null",{"type":"array","items":["null",
   {"type":"record","name":"k121","fields":[{"name":"key","type":["null","long"]},
    {"name":"value","type":["null","int"]}]}]}]},
  {"name":"lower_bounds","field-id":125,"type":["null",{"type":"array","logicalType":"map",
   "items":{"type":"record","name":"k126","fields":[{"name":"value","field-id":127,"type":"bytes"},
    {"name":"key","field-id":126,"type":"int"}]}}]},
  {"name":"upper_bounds","field-id":128,"type":["null",{"type":"array","logicalType":"map",
   "items":{"type":"record","name":"k129","fields":[{"name":"key","field-id":129,"type":"int"},
    {"name":"value","field-id":130,"type":"bytes"}]}}]},
  {"name":"key_metadata","field-id":131,"type":["null","bytes"]},
  {"name":"split_offsets","field-id":132,"type":["null",{"type":"array","items":"long"}]},
  {"name":"equality_ids","field-id":135,"type":["null",{"type":"array","items":"long"}]},
  {"name":"sort_order_id","field-id":140,"type":["null","long"]},
  {"name":"first_row_id","field-id":142,"type":["null","long"]},
  {"name":"referenced_data_file","field-id":143,"type":["null","string"]},
  {"name":"content_offset","field-id":144,"type":["null","long"]},
  {"name":"content_size_in_bytes","field-id":145,"type":["null","long"]}]}}]}
)json";

inline constexpr std::string_view kListSchema = R"json(
{"type":"record","name":"manifest_file","fields":[
 {"name":"manifest_path","field-id":500,"type":"string"},
 {"name":"manifest_length","field-id":501,"type":"long"},
 {"name":"partition_spec_id","field-id":502,"type":"long"},
 {"name":"content","field-id":517,"type":"int"},
 {"name":"sequence_number","field-id":515,"type":"long"},
 {"name":"min_sequence_number","field-id":516,"type":"long"},
 {"name":"added_snapshot_id","field-id":503,"type":["null","long"]},
 {"name":"added_files_count","field-id":504,"type":["null","int"]},
 {"name":"existing_files_count","field-id":505,"type":"int"},
 {"name":"deleted_files_count","field-id":506,"type":"int"},
 {"name":"added_rows_count","field-id":512,"type":"long"},
 {"name":"existing_rows_count","field-id":513,"type":"long"},
 {"name":"deleted_rows_count","field-id":514,"type":"long"},
 {"name":"partitions","field-id":507,"type":["null",{"type":"array","items":
  {"type":"record","name":"r508","fields":[
   {"name":"contains_null","field-id":509,"type":"boolean"},
   {"name":"contains_nan","field-id":518,"type":["null","boolean"]},
   {"name":"lower_bound","field-id":510,"type":["null","bytes"]},
   {"name":"upper_bound","field-id":511,"type":["null","bytes"]}]}}]},
 {"name":"key_metadata","field-id":519,"type":["null","bytes"]},
 {"name":"first_row_id","field-id":520,"type":["null","long"]}]}
)json";

}  // namespace iceblink::test
