#include "iceberg/avro/record_decoder.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>

namespace iceblink::iceberg::avro {
namespace {

/// Whether small allocations of this thread succeed: they take what this gives back.
bool has_memory() noexcept {
  bool has_all = true;
  for (const std::size_t bytes : {16, 32, 48, 64}) {
    const std::unique_ptr<void, void (*)(void*)> memory(std::malloc(bytes), std::free);
    has_all = has_all && memory != nullptr;
  }
  return has_all;
}

}  // namespace

/// What avro-c calls. Nothing in here throws.
struct RecordDecoder::Interface {
  static Frame& frame_of(const void* self) noexcept {
    return *static_cast<Frame*>(const_cast<void*>(self));
  }
  static int reset(const avro_value_iface_t*, void*) noexcept { return 0; }
  static avro_type_t get_type(const avro_value_iface_t*, const void* self) noexcept;
  static avro_schema_t get_schema(const avro_value_iface_t*, const void* self) noexcept;

  static int set_integer(void* self, std::int64_t integer) noexcept {
    frame_of(self).value->integer = integer;
    return 0;
  }
  static int set_boolean(const avro_value_iface_t*, void* self, int value) noexcept {
    return set_integer(self, value);
  }
  static int set_int(const avro_value_iface_t*, void* self, std::int32_t value) noexcept {
    return set_integer(self, value);
  }
  static int set_long(const avro_value_iface_t*, void* self, std::int64_t value) noexcept {
    return set_integer(self, value);
  }
  static int set_enum(const avro_value_iface_t*, void* self, int value) noexcept {
    return set_integer(self, value);
  }
  static int set_null(const avro_value_iface_t*, void*) noexcept { return 0; }
  static int set_float(const avro_value_iface_t*, void* self, float value) noexcept {
    frame_of(self).value->number = static_cast<double>(value);
    return 0;
  }
  static int set_double(const avro_value_iface_t*, void* self, double value) noexcept {
    frame_of(self).value->number = value;
    return 0;
  }

  static int give(void* self, avro_wrapped_buffer_t* buffer, std::size_t size) noexcept;
  static int give_bytes(const avro_value_iface_t*, void* self,
                        avro_wrapped_buffer_t* buffer) noexcept {
    return give(self, buffer, buffer->size);
  }
  static int give_string(const avro_value_iface_t*, void* self,
                         avro_wrapped_buffer_t* buffer) noexcept {
    return give(self, buffer, buffer->size - 1);  // a NUL is behind it
  }

  static int get_size(const avro_value_iface_t*, const void* self, std::size_t* size) noexcept {
    const Schema& schema = *frame_of(self).schema;
    *size = schema.kind == Kind::kUnion ? 2 : schema.fields.size();
    return 0;
  }
  /// Of a union: its branch's number, then that branch.
  static int get_union_part(Frame& frame, std::size_t index, avro_value_t* child) noexcept;
  static int get_by_index(const avro_value_iface_t*, const void* self, std::size_t index,
                          avro_value_t* child, const char** name) noexcept;
  static int append(const avro_value_iface_t*, void* self, avro_value_t* child,
                    std::size_t* index) noexcept;
  static int add(const avro_value_iface_t*, void* self, const char* key, avro_value_t* child,
                 std::size_t* index, int* is_new) noexcept;
};

avro_type_t RecordDecoder::Interface::get_type(const avro_value_iface_t*,
                                               const void* self) noexcept {
  const Schema& schema = *frame_of(self).schema;
  switch (schema.kind) {
    case Kind::kNull:
      return AVRO_NULL;
    case Kind::kBoolean:
      return AVRO_BOOLEAN;
    case Kind::kInt:
      return AVRO_INT32;
    case Kind::kLong:
      return AVRO_INT64;
    case Kind::kFloat:
      return AVRO_FLOAT;
    case Kind::kDouble:
      return AVRO_DOUBLE;
    case Kind::kBytes:
      return AVRO_BYTES;
    case Kind::kString:
      return AVRO_STRING;
    case Kind::kFixed:
      // avro-c takes no bytes for an allocation that failed.
      return schema.fixed_bytes == 0 ? AVRO_NULL : AVRO_FIXED;
    case Kind::kEnum:
      return AVRO_ENUM;
    case Kind::kRecord:
    case Kind::kUnion:  // its bytes are a long and a value; for a union it wants a schema
      return AVRO_RECORD;
    case Kind::kArray:
      return AVRO_ARRAY;
    case Kind::kMap:
      return AVRO_MAP;
  }
  return AVRO_LINK;  // which it refuses to read
}

avro_schema_t RecordDecoder::Interface::get_schema(const avro_value_iface_t*,
                                                   const void* self) noexcept {
  const Frame& frame = frame_of(self);
  const Schema& schema = *frame.schema;
  if (schema.kind != Kind::kFixed) return nullptr;
  return frame.decoder->fixed_.find(schema.fixed_bytes)->second.get();
}

int RecordDecoder::Interface::give(void* self, avro_wrapped_buffer_t* buffer,
                                   std::size_t size) noexcept {
  Frame& frame = frame_of(self);
  const bool copied =
      frame.decoder->copy_text({static_cast<const char*>(buffer->buf), size}, frame.value->bytes);
  avro_wrapped_buffer_free(buffer);
  return copied ? 0 : EINVAL;
}

int RecordDecoder::Interface::get_by_index(const avro_value_iface_t*, const void* self,
                                           std::size_t index, avro_value_t* child,
                                           const char** name) noexcept {
  Frame& frame = frame_of(self);
  if (name != nullptr) *name = "";
  if (frame.schema->kind == Kind::kUnion) return get_union_part(frame, index, child);
  if (index >= frame.room) return EINVAL;
  return frame.decoder->begin_child(frame, *frame.schema->fields[index].type, frame.elements[index],
                                    *child);
}

int RecordDecoder::Interface::append(const avro_value_iface_t*, void* self, avro_value_t* child,
                                     std::size_t* index) noexcept {
  Frame& frame = frame_of(self);
  if (frame.used == frame.room) return EINVAL;
  if (index != nullptr) *index = frame.used;
  Value& element = frame.elements[frame.used++];
  return frame.decoder->begin_child(frame, *frame.schema->children.front(), element, *child);
}

int RecordDecoder::Interface::add(const avro_value_iface_t*, void* self, const char* key,
                                  avro_value_t* child, std::size_t* index, int* is_new) noexcept {
  Frame& frame = frame_of(self);
  if (frame.room - frame.used < 2) return EINVAL;
  if (index != nullptr) *index = frame.used / 2;
  if (is_new != nullptr) *is_new = 1;
  Value& key_value = frame.elements[frame.used++];
  key_value.kind = Kind::kString;
  if (!frame.decoder->copy_text(key, key_value.bytes)) return EINVAL;
  Value& element = frame.elements[frame.used++];
  return frame.decoder->begin_child(frame, *frame.schema->children.front(), element, *child);
}

int RecordDecoder::Interface::get_union_part(Frame& frame, std::size_t index,
                                             avro_value_t* child) noexcept {
  RecordDecoder& decoder = *frame.decoder;
  if (index == 0) {
    return decoder.begin_child(frame, decoder.number_schema_, decoder.branch_number_, *child);
  }
  const auto& branches = frame.schema->children;
  const auto branch = static_cast<std::size_t>(decoder.branch_number_.integer);
  if (branch >= branches.size()) return EINVAL;
  return decoder.begin_child(frame, *branches[branch], *frame.value, *child);
}

RecordDecoder::RecordDecoder(const Schema& root)
    : root_(root), interface_{}, reader_(avro_reader_memory(nullptr, 0)) {
  number_schema_.kind = Kind::kLong;
  interface_.reset = Interface::reset;
  interface_.get_type = Interface::get_type;
  interface_.get_schema = Interface::get_schema;
  interface_.set_boolean = Interface::set_boolean;
  interface_.set_int = Interface::set_int;
  interface_.set_long = Interface::set_long;
  interface_.set_enum = Interface::set_enum;
  interface_.set_null = Interface::set_null;
  interface_.set_float = Interface::set_float;
  interface_.set_double = Interface::set_double;
  interface_.give_bytes = Interface::give_bytes;
  interface_.give_string_len = Interface::give_string;
  interface_.give_fixed = Interface::give_bytes;
  interface_.get_size = Interface::get_size;
  interface_.get_by_index = Interface::get_by_index;
  interface_.append = Interface::append;
  interface_.add = Interface::add;
}

Result<std::unique_ptr<RecordDecoder>> RecordDecoder::make(const Schema& root) {
  std::unique_ptr<RecordDecoder> decoder(new RecordDecoder(root));
  if (decoder->reader_ == nullptr || !decoder->make_avro_schemas(root)) {
    return {ErrorKind::kOutOfMemory, "out of memory"};
  }
  return decoder;
}

bool RecordDecoder::make_avro_schemas(const Schema& root) {
  std::unordered_set<const Schema*> seen = {&root};
  std::vector<const Schema*> open = {&root};
  const auto add = [&](const std::shared_ptr<const Schema>& part) {
    if (seen.insert(part.get()).second) open.push_back(part.get());
  };
  while (!open.empty()) {
    const Schema& schema = *open.back();
    open.pop_back();
    if (!make_avro_schema(schema)) return false;
    for (const SchemaField& field : schema.fields) add(field.type);
    for (const auto& child : schema.children) add(child);
  }
  return true;
}

bool RecordDecoder::make_avro_schema(const Schema& schema) {
  if (schema.kind != Kind::kFixed) return true;
  AvroSchema& fixed = fixed_[schema.fixed_bytes];
  // avro-c writes into what it allocates for the name without a look.
  if (fixed == nullptr && has_memory()) {
    fixed.reset(avro_schema_fixed("fixed", static_cast<std::int64_t>(schema.fixed_bytes)));
  }
  return fixed != nullptr;
}

void RecordDecoder::reserve(const RecordShape& shape) {
  if (shape.value_count > value_capacity_) {
    value_capacity_ = 0;
    values_.reset();
    const std::size_t capacity = shape.value_count + shape.value_count / 4;
    values_ = std::make_unique_for_overwrite<Value[]>(capacity);
    value_capacity_ = capacity;
  }
  if (shape.text_bytes > texts_.capacity()) {
    texts_ = ByteBuffer();
    texts_ = ByteBuffer(shape.text_bytes + shape.text_bytes / 4);
  }
  values_used_ = 0;
  texts_used_ = 0;
  next_count_ = shape.counts.data();
  counts_end_ = next_count_ + shape.counts.size();
}

Result<const Value*> RecordDecoder::decode(const RecordShape& shape,
                                           const std::vector<bool>& wanted, std::size_t bytes_max) {
  if (shape.text_bytes > bytes_max ||
      shape.value_count > (bytes_max - shape.text_bytes) / sizeof(Value)) {
    return {ErrorKind::kTooLarge,
            "takes more than " + std::to_string(bytes_max) + " bytes once decoded"};
  }
  reserve(shape);
  Value* const record = take_values(1);
  int failed = 0;
  if (root_.kind != Kind::kRecord) {
    failed = read(shape.fields.front(), root_, *record);
  } else {
    const std::size_t field_count = root_.fields.size();
    Value* const fields = take_values(field_count);
    record->kind = Kind::kRecord;
    record->children = {fields, field_count};
    for (std::size_t i = 0; i < field_count && failed == 0; ++i) {
      if (wanted.empty() || wanted[i]) {
        failed = read(shape.fields[i], *root_.fields[i].type, fields[i]);
      } else {
        fields[i] = Value{};
      }
    }
  }
  if (failed == ENOMEM) return {ErrorKind::kOutOfMemory, "out of memory"};
  if (failed != 0) return {ErrorKind::kInternal, "avro-c refuses it, which is well-formed"};
  return record;
}

int RecordDecoder::read(std::string_view bytes, const Schema& schema, Value& value) {
  if (!begin(frames_.front(), schema, value)) return EINVAL;
  avro_reader_memory_set_source(reader_.get(), bytes.data(),
                                static_cast<std::int64_t>(bytes.size()));
  avro_value_t destination = {&interface_, &frames_.front()};
  return avro_value_read(reader_.get(), &destination);
}

bool RecordDecoder::begin(Frame& frame, const Schema& schema, Value& value) noexcept {
  frame = {this, &value, &schema};
  value.kind = schema.kind;
  switch (schema.kind) {
    case Kind::kRecord:
      frame.room = schema.fields.size();
      break;
    case Kind::kArray:
    case Kind::kMap:
      if (next_count_ == counts_end_) return false;
      frame.room = *next_count_++ * (schema.kind == Kind::kMap ? 2 : 1);
      break;
    case Kind::kBytes:
    case Kind::kString:
    case Kind::kFixed:
      value.bytes = {};
      return true;
    default:
      value.integer = 0;
      return true;
  }
  frame.elements = take_values(frame.room);
  if (frame.elements == nullptr) return false;
  value.children = {frame.elements, frame.room};
  return true;
}

int RecordDecoder::begin_child(Frame& parent, const Schema& schema, Value& value,
                               avro_value_t& child) noexcept {
  Frame* const frame = &parent + 1;
  if (frame == frames_.data() + frames_.size() || !begin(*frame, schema, value)) return EINVAL;
  child = {&interface_, frame};
  return 0;
}

Value* RecordDecoder::take_values(std::size_t count) noexcept {
  if (count > value_capacity_ - values_used_) return nullptr;
  Value* const values = values_.get() + values_used_;
  values_used_ += count;
  return values;
}

bool RecordDecoder::copy_text(std::string_view text, std::string_view& copy) noexcept {
  if (text.size() > texts_.capacity() - texts_used_) return false;
  char* const place = texts_.data() + texts_used_;
  if (!text.empty()) std::memcpy(place, text.data(), text.size());
  texts_used_ += text.size();
  copy = {place, text.size()};
  return true;
}

}  // namespace iceblink::iceberg::avro
