#include "tests/fuzz/json_mutator.h"

#include <algorithm>
#include <array>
#include <vector>

namespace iceblink::test {
namespace {

constexpr std::array<std::string_view, 44> kValues{
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1",
    "2",
    "3",
    "4",
    "255",
    "1000",
    "-0",
    "01",
    "1.0",
    "1e2",
    "2147483647",
    "2147483648",
    "-2147483648",
    "-2147483649",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616",
    "1e999",
    "\"\"",
    "\"a\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\ud83d\\ude00\"",
    "\"\\\"\\\\\"",
    "\"main\"",
    "\"decimal(38,38)\"",
    "\"fixed[0]\"",
    "\"geography(srid:1, karney)\"",
    "\"unknown\"",
    "\"bucket[1]\"",
    "\"struct\"",
    "[]",
    "{}",
    "[[[]]]",
    "[null]",
    "{\"a\":{}}",
    "{\"type\":\"list\",\"element-id\":9,\"element\":\"int\",\"element-required\":true}"};

/// The names that documents have; which of them stands where is left to chance.
constexpr std::array<std::string_view, 40> kNames{"format-version",
                                                  "table-uuid",
                                                  "view-uuid",
                                                  "location",
                                                  "last-sequence-number",
                                                  "last-updated-ms",
                                                  "last-column-id",
                                                  "schema",
                                                  "schemas",
                                                  "current-schema-id",
                                                  "partition-spec",
                                                  "partition-specs",
                                                  "default-spec-id",
                                                  "last-partition-id",
                                                  "properties",
                                                  "current-snapshot-id",
                                                  "snapshots",
                                                  "snapshot-log",
                                                  "metadata-log",
                                                  "sort-orders",
                                                  "default-sort-order-id",
                                                  "refs",
                                                  "statistics",
                                                  "partition-statistics",
                                                  "next-row-id",
                                                  "encryption-keys",
                                                  "snapshot-id",
                                                  "sequence-number",
                                                  "schema-id",
                                                  "source-id",
                                                  "source-ids",
                                                  "doc",
                                                  "initial-default",
                                                  "write-default",
                                                  "versions",
                                                  "manifests",
                                                  "manifest-list",
                                                  "first-row-id",
                                                  "metadata",
                                                  "identifier-field-ids"};

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

bool is_string_end(std::string_view text, std::size_t at) {
  std::size_t backslashes = 0;
  while (at > backslashes && text[at - 1 - backslashes] == '\\') ++backslashes;
  return text[at] == '"' && backslashes % 2 == 0;
}

/// From where a token begins to where its value ends, brackets balanced.
Range value_at(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"') {
      for (++at; at < text.size() && !is_string_end(text, at); ++at) {
      }
      if (depth == 0) return {begin, std::min(at + 1, text.size())};
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return {begin, at};
      if (--depth == 0) return {begin, at + 1};
    } else if (depth == 0 && (c == ',' || c == ':')) {
      return {begin, at};
    }
  }
  return {begin, text.size()};
}

class Mutation {
 public:
  Mutation(std::string_view text, std::minstd_rand& random) : text_(text), random_(random) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == '"') {
        tokens_.push_back(at);
        for (++at; at < text.size() && !is_string_end(text, at); ++at) {
        }
      } else if (c == '{' || c == '[') {
        tokens_.push_back(at);
      } else if (c != '}' && c != ']' && c != ',' && c != ':' && c > ' ' &&
                 (at == 0 || text[at - 1] <= ' ' || text[at - 1] == ':' || text[at - 1] == ',' ||
                  text[at - 1] == '[')) {
        tokens_.push_back(at);
      }
    }
  }

  std::string make() {
    if (tokens_.empty()) return std::string(kValues[pick(kValues.size())]);
    const Range range = value_at(text_, tokens_[pick(tokens_.size())]);
    switch (pick(8)) {
      case 0:
      case 1:
        return replaced(range, std::string(kValues[pick(kValues.size())]));
      case 2: {
        const Range other = value_at(text_, tokens_[pick(tokens_.size())]);
        return replaced(range, std::string(text_.substr(other.begin, other.end - other.begin)));
      }
      case 3:
        return removed(range);
      case 4:
        return replaced(range, taken(range) + "," + taken(range));
      case 5:
        return replaced(range, "\"" + std::string(kNames[pick(kNames.size())]) + "\"");
      case 6:
        return with_member(range);
      default:
        return with_other_number(range);
    }
  }

 private:
  std::size_t pick(std::size_t count) { return random_() % count; }
  std::string taken(Range range) const {
    return std::string(text_.substr(range.begin, range.end - range.begin));
  }
  std::string replaced(Range range, const std::string& by) const {
    return std::string(text_.substr(0, range.begin)) + by + std::string(text_.substr(range.end));
  }
  /// With its value, if it is a member's name, and the comma behind it.
  std::string removed(Range range) const {
    while (range.end < text_.size() && text_[range.end] <= ' ') ++range.end;
    if (range.end < text_.size() && text_[range.end] == ':') {
      std::size_t begin = range.end + 1;
      while (begin < text_.size() && text_[begin] <= ' ') ++begin;
      range.end = value_at(text_, begin).end;
    }
    if (range.end < text_.size() && text_[range.end] == ',') ++range.end;
    return replaced(range, "");
  }
  /// A member before the one whose name this is, or the first of this object.
  std::string with_member(Range range) {
    const std::string member = "\"" + std::string(kNames[pick(kNames.size())]) +
                               "\":" + std::string(kValues[pick(kValues.size())]) + ",";
    const std::size_t at = range.begin + (text_[range.begin] == '{' ? 1 : 0);
    return replaced({at, at}, member);
  }
  std::string with_other_number(Range range) {
    std::string value = taken(range);
    for (char& c : value) {
      if (c >= '0' && c <= '9' && pick(2) == 0) c = static_cast<char>('0' + pick(10));
    }
    return replaced(range, value);
  }

  const std::string_view text_;
  std::minstd_rand& random_;
  std::vector<std::size_t> tokens_;
};

}  // namespace

std::string mutate_json(std::string_view text, std::size_t bytes_max, std::minstd_rand& random) {
  std::string mutated = Mutation(text, random).make();
  if (mutated.size() > bytes_max) mutated.resize(bytes_max);
  return mutated;
}

}  // namespace iceblink::test
