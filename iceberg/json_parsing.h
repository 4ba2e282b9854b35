// A JSON text on its way to values: its tokens, a reader at its begin, and what is wrong with it.
//
// Thread safety: belongs to one thread.
#pragma once

#include <iceblink/metadata/document.h>
#include <iceblink/result.h>

#include <optional>
#include <string_view>
#include <vector>

#include "iceberg/arena.h"
#include "iceberg/json_reader.h"
#include "iceberg/json_tokens.h"
#include "iceberg/metadata_parser.h"

namespace iceblink::iceberg {

class JsonParsing {
 public:
  /// Arena and limits outlive it.
  JsonParsing(Arena& arena, const MetadataLimits& limits, JsonReader::Wanted wanted)
      : arena_(arena), limits_(limits), wanted_(wanted) {}
  JsonParsing(const JsonParsing&) = delete;
  JsonParsing& operator=(const JsonParsing&) = delete;

  /// To be called first, once. The errors of JsonTokens::find; the text outlives this.
  [[nodiscard]] Status begin(std::string_view text) {
    text_ = text;
    ICEBLINK_RETURN_IF_ERROR(tokens_.find(text));
    reader_.emplace(text, tokens_, limits_, arena_, wanted_, problems_);
    return Ok{};
  }

  [[nodiscard]] JsonReader& reader() noexcept { return *reader_; }
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  [[nodiscard]] const std::vector<MetadataProblem>& problems() const noexcept { return problems_; }
  /// Of the first problem. There is one.
  [[nodiscard]] Error error() const {
    const auto& [path, what] = problems_[0];
    return {reader_->error_kind(), path.empty() ? what : path + ": " + what};
  }

 private:
  Arena& arena_;
  const MetadataLimits& limits_;
  const JsonReader::Wanted wanted_;
  std::string_view text_;
  JsonTokens tokens_;
  std::vector<MetadataProblem> problems_;
  std::optional<JsonReader> reader_;
};

}  // namespace iceblink::iceberg
