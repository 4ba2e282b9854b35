#include "iceberg/json_tokens.h"

#include <simdjson.h>

#include <algorithm>
#include <string>

namespace iceblink::iceberg {

struct JsonTokens::Implementation {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
};

JsonTokens::JsonTokens() : implementation_(std::make_unique<Implementation>()) {}
JsonTokens::~JsonTokens() = default;

Status JsonTokens::find(std::string_view text) {
  auto& parser = implementation_->parser;
  if (parser == nullptr || parser->capacity() < text.size()) {
    parser.reset();
    // Its second stage is not used: the smallest depth does.
    const auto failed = simdjson::get_active_implementation()->create_dom_parser_implementation(
        std::max<std::size_t>(text.size(), 4096), 1, parser);
    if (failed == simdjson::MEMALLOC) return {ErrorKind::kOutOfMemory, "out of memory"};
    if (failed != simdjson::SUCCESS) {
      return {ErrorKind::kTooLarge, "a JSON text of " + std::to_string(text.size()) + " bytes"};
    }
  }
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto failed = parser->stage1(bytes, text.size(), simdjson::stage1_mode::regular);
  switch (failed) {
    case simdjson::SUCCESS:
      return Ok{};
    case simdjson::EMPTY:
      return {ErrorKind::kCorrupt, "the document is empty"};
    case simdjson::UTF8_ERROR:
      return {ErrorKind::kCorrupt, "not valid JSON: the text is not UTF-8"};
    case simdjson::UNCLOSED_STRING:
      return {ErrorKind::kCorrupt, "not valid JSON: the text ends inside of a string"};
    case simdjson::UNESCAPED_CHARS:
      return {ErrorKind::kCorrupt, "not valid JSON: a control character in a string"};
    default:
      return {ErrorKind::kCorrupt,
              std::string("not valid JSON: ") + simdjson::error_message(failed)};
  }
}

const std::uint32_t* JsonTokens::begin() const noexcept {
  return implementation_->parser->structural_indexes.get();
}
const std::uint32_t* JsonTokens::end() const noexcept {
  return begin() + implementation_->parser->n_structural_indexes;
}

}  // namespace iceblink::iceberg
