// What the catalog reads of a metadata file, against what a reader of the whole file finds.
#include <span>
#include <string_view>

#include "iceberg/metadata_header.h"
#include "iceberg/metadata_parser.h"
#include "iceberg/metadata_text.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/json_judgement.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kJson;

namespace {

constexpr std::size_t kInflatedBytesMax = 1 << 20;

void check_against_document(const iceberg::MetadataHeader& header,
                            const MetadataDocument& document) {
  const bool is_view = document.kind() == MetadataDocument::Kind::kView;
  fuzz_check(header.is_view == is_view, "header and document agree on what it is");
  if (is_view) {
    const auto& view = static_cast<const ViewMetadata&>(document);
    fuzz_check(header.format_version == view.format_version && header.table_uuid == view.view_uuid,
               "header and view agree");
  } else {
    const auto& table = static_cast<const TableMetadata&>(document);
    fuzz_check(
        header.format_version == table.format_version && header.table_uuid == table.table_uuid,
        "header and table agree");
  }
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iceblink;
  using test::fuzz_check;
  if (size > test::kInflatedBytesMax) return 0;
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto header = iceberg::parse_metadata_header(bytes, test::kInflatedBytesMax);
  if (!header) {
    fuzz_check(header.error().kind() != ErrorKind::kInternal && !header.error().message().empty(),
               "an error says something");
    return 0;
  }
  const auto text = iceberg::MetadataText::of(bytes, test::kInflatedBytesMax);
  fuzz_check(text.ok() && test::judge_json(text->view()) != test::JsonJudgement::kInvalid,
             "what is accepted is JSON");
  fuzz_check(header->format_version >= 1 &&
                 header->format_version <= (header->is_view ? iceberg::kViewFormatVersionMax
                                                            : iceberg::kTableFormatVersionMax),
             "a format that is known");
  fuzz_check(header->table_uuid || header->format_version == 1, "later formats have a uuid");
  const std::string_view file(reinterpret_cast<const char*>(data), size);
  const auto document = iceberg::parse_metadata(iceberg::ByteBuffer(file),
                                                {.inflated_bytes_max = test::kInflatedBytesMax});
  if (document) test::check_against_document(*header, **document);
  return 0;
}
