// Decodes records by avro-c, into values of our own: avro-c reads each field's bytes and hands what
// it finds to us, through its avro_value_iface.
//
// Only what RecordWalk has passed over may be given to it. Memory is taken before avro-c runs, as
// much as the walk has counted, and used again for the next record.
//
// Thread safety: belongs to one thread.
#pragma once

#include <avro/io.h>
#include <avro/schema.h>
#include <avro/value.h>
#include <iceblink/result.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "iceberg/avro/avro_schema.h"
#include "iceberg/avro/container_reader.h"
#include "iceberg/avro/record_walk.h"
#include "iceberg/byte_buffer.h"

namespace iceblink::iceberg::avro {

class RecordDecoder {
 public:
  /// The root outlives it. kOutOfMemory. Throws std::bad_alloc.
  [[nodiscard]] static Result<std::unique_ptr<RecordDecoder>> make(const Schema& root);

  /// The record that has this shape; valid until the next call. Of fields that are not wanted
  /// (empty: all are) it has nulls. kTooLarge: it would take more than `bytes_max`; kOutOfMemory.
  /// Throws std::bad_alloc.
  [[nodiscard]] Result<const Value*> decode(const RecordShape& shape,
                                            const std::vector<bool>& wanted, std::size_t bytes_max);

  /// Held for values.
  [[nodiscard]] std::size_t buffer_bytes() const noexcept {
    return value_capacity_ * sizeof(Value) + texts_.capacity();
  }

 private:
  struct SchemaDecref {
    void operator()(avro_schema_t schema) const noexcept { avro_schema_decref(schema); }
  };
  struct ReaderFree {
    void operator()(avro_reader_t reader) const noexcept { avro_reader_free(reader); }
  };
  using AvroSchema = std::unique_ptr<std::remove_pointer_t<avro_schema_t>, SchemaDecref>;
  using AvroReader = std::unique_ptr<std::remove_pointer_t<avro_reader_t>, ReaderFree>;

  /// A value that avro-c is reading, as it knows it. Values are read depth first, so that there is
  /// one at a time at each depth.
  struct Frame {
    RecordDecoder* decoder = nullptr;
    Value* value = nullptr;
    const Schema* schema = nullptr;
    Value* elements = nullptr;  // of a record, an array, a map: room for them
    std::size_t room = 0;
    std::size_t used = 0;
  };
  struct Interface;

  explicit RecordDecoder(const Schema& root);
  [[nodiscard]] bool make_avro_schemas(const Schema& schema);
  [[nodiscard]] bool make_avro_schema(const Schema& schema);
  void reserve(const RecordShape& shape);
  [[nodiscard]] int read(std::string_view bytes, const Schema& schema, Value& value);
  [[nodiscard]] bool begin(Frame& frame, const Schema& schema, Value& value) noexcept;
  [[nodiscard]] int begin_child(Frame& parent, const Schema& schema, Value& value,
                                avro_value_t& child) noexcept;
  [[nodiscard]] Value* take_values(std::size_t count) noexcept;
  [[nodiscard]] bool copy_text(std::string_view text, std::string_view& copy) noexcept;

  const Schema& root_;
  avro_value_iface_t interface_;
  AvroReader reader_;
  // What avro-c asks a schema for is a fixed's size.
  std::map<std::size_t, AvroSchema> fixed_;
  Schema number_schema_;
  Value branch_number_;  // of the union that is begun

  std::unique_ptr<Value[]> values_;
  std::size_t value_capacity_ = 0;
  std::size_t values_used_ = 0;
  ByteBuffer texts_;
  std::size_t texts_used_ = 0;
  const std::size_t* next_count_ = nullptr;
  const std::size_t* counts_end_ = nullptr;
  std::array<Frame, kSchemaDepthMax> frames_;
};

}  // namespace iceblink::iceberg::avro
