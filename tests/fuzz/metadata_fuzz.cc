// Metadata files of tables and views: parse_metadata, check_metadata, the lazy parts, the writer.
#include <span>

#include "tests/fuzz/document_rules.h"
#include "tests/fuzz/fuzz_target.h"

namespace iceblink::test {
const FuzzedText kFuzzedText = FuzzedText::kJson;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  iceblink::test::check_document_rules(std::span(data, size), iceblink::test::ReadAs::kEither);
  return 0;
}
