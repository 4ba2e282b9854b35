#include "tests/fuzz/json_judgement.h"

#include <boost/json.hpp>

namespace iceblink::test {
namespace {

namespace json = boost::json;

json::value parse(std::string_view text, json::error_code& error) {
  json::parse_options options;
  options.max_depth = 1000;
  return json::parse(json::string_view(text.data(), text.size()), error, {}, options);
}

/// Of which one without its other half is refused, in one way or another.
bool has_surrogate(std::string_view text) {
  return text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos;
}

}  // namespace

JsonJudgement judge_json(std::string_view text) {
  json::error_code error;
  (void)parse(text, error);
  if (!error) return JsonJudgement::kValid;
  const bool is_beyond_grammar = error == json::error::exponent_overflow ||
                                 error == json::error::too_deep || has_surrogate(text);
  return is_beyond_grammar ? JsonJudgement::kUnknown : JsonJudgement::kInvalid;
}

bool is_load_table_response(std::string_view text) {
  json::error_code error;
  const json::value value = parse(text, error);
  if (error) return true;  // not to be known
  if (!value.is_object()) return false;
  const auto& object = value.get_object();
  // Where the member occurs more than once, the first decides for us, the last for this parser.
  return object.contains("metadata") && !object.contains("format-version");
}

}  // namespace iceblink::test
