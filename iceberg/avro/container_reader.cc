#include "iceberg/avro/container_reader.h"

#include <new>
#include <string>
#include <utility>

#include "iceberg/avro/block_reader.h"
#include "iceberg/avro/container_header.h"
#include "iceberg/avro/record_decoder.h"
#include "iceberg/avro/record_walk.h"
#include "iceberg/avro/shown.h"

namespace iceblink::iceberg::avro {
namespace {

class FileReader final : public ContainerReader {
 public:
  FileReader(std::string_view file, ContainerHeader header, std::shared_ptr<const Schema> schema,
             const ReaderLimits& limits)
      : header_(std::move(header)),
        schema_(std::move(schema)),
        record_bytes_max_(limits.inflated_bytes_max),
        blocks_(file, header_, limits.inflated_bytes_max),
        walk_(*schema_, limits.elements_max) {}

  void set_decoder(std::unique_ptr<RecordDecoder> decoder) noexcept {
    decoder_ = std::move(decoder);
  }

  [[nodiscard]] const Schema& schema() const noexcept override { return *schema_; }
  [[nodiscard]] std::optional<std::string_view> metadata(std::string_view key) const override {
    return header_.find(key);
  }
  [[nodiscard]] Result<const Value*> next() noexcept override;
  [[nodiscard]] std::size_t scratch_bytes() const noexcept override {
    return blocks_.buffer_bytes() + decoder_->buffer_bytes() + walk_.buffer_bytes();
  }
  void project(const std::vector<bool>& wanted) override {
    wanted_ = wanted;
    wanted_.resize(schema_->fields.size());
  }

 private:
  [[nodiscard]] Result<const Value*> read_next();
  [[nodiscard]] Error fault_of_walk() const;
  [[nodiscard]] std::string place() const;

  const ContainerHeader header_;
  const std::shared_ptr<const Schema> schema_;
  const std::size_t record_bytes_max_;
  std::vector<bool> wanted_;
  BlockReader blocks_;
  RecordWalk walk_;
  std::unique_ptr<RecordDecoder> decoder_;

  Block block_;
  std::uint64_t record_ = 0;  // the next one, in the block
  std::optional<Error> error_;
};

Result<const Value*> FileReader::next() noexcept {
  if (error_) return *error_;
  try {
    auto record = read_next();
    if (!record) error_ = record.error();
    return record;
  } catch (const std::bad_alloc&) {
    error_ = Error(ErrorKind::kOutOfMemory, {"out of memory"});
    return *error_;
  }
}

Result<const Value*> FileReader::read_next() {
  while (record_ == block_.record_count) {
    if (!walk_.cursor().at_end()) {
      return {ErrorKind::kCorrupt, "the block at byte " + std::to_string(block_.offset) + ": " +
                                       std::to_string(walk_.cursor().left()) +
                                       " bytes behind its last record"};
    }
    ICEBLINK_ASSIGN_OR_RETURN(const bool is_there, blocks_.next(block_));
    record_ = 0;
    if (!is_there) {
      block_ = {};
      return nullptr;
    }
    walk_.begin_block(block_.data);
  }
  if (!walk_.pass(wanted_)) return fault_of_walk();
  auto record = decoder_->decode(walk_.shape(), wanted_, record_bytes_max_);
  if (!record) return {record.error().kind(), place() + ": " + record.error().message()};
  ++record_;
  return record;
}

std::string FileReader::place() const {
  return "the block at byte " + std::to_string(block_.offset) + ", record " +
         std::to_string(record_);
}

Error FileReader::fault_of_walk() const {
  const WalkFault& fault = walk_.fault();
  std::string message = place();
  if (fault.field < schema_->fields.size()) {
    message += ", field " + shown(schema_->fields[fault.field].name);
  }
  message += ": " + std::string(fault.what) + ", at byte " + std::to_string(fault.offset) +
             " of the block's data";
  return {fault.kind, std::move(message)};
}

}  // namespace

Result<std::unique_ptr<ContainerReader>> ContainerReader::open(std::string_view file,
                                                               const ReaderLimits& limits) noexcept
    try {
  ICEBLINK_ASSIGN_OR_RETURN(ContainerHeader header, read_header(file));
  auto schema = parse_schema(header.schema);
  if (!schema) {
    return {schema.error().kind(), "the header: avro.schema: " + schema.error().message()};
  }
  auto reader = std::make_unique<FileReader>(file, std::move(header), *schema, limits);
  ICEBLINK_ASSIGN_OR_RETURN(auto decoder, RecordDecoder::make(reader->schema()));
  reader->set_decoder(std::move(decoder));
  return std::unique_ptr<ContainerReader>(std::move(reader));
} catch (const std::bad_alloc&) {
  return Error(ErrorKind::kOutOfMemory, {"out of memory"});
}

}  // namespace iceblink::iceberg::avro
