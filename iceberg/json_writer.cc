#include "iceberg/json_writer.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>

namespace iceblink::iceberg {
namespace {

bool must_be_escaped(char c) noexcept {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

/// Whether one of eight characters must be.
bool must_escape_one(std::uint64_t word) noexcept {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighBits = 0x80 * kOnes;
  const auto has_zero = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes & kHighBits; };
  const std::uint64_t controls = (word - 0x20 * kOnes) & ~word & kHighBits;
  return (controls | has_zero(word ^ '"' * kOnes) | has_zero(word ^ '\\' * kOnes)) != 0;
}

/// Where the first that must be stands, from `at` on; the text's end: none.
std::size_t find_escaped(std::string_view text, std::size_t at) noexcept {
  for (std::uint64_t word = 0; text.size() - at >= sizeof word; at += sizeof word) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if (must_escape_one(word)) break;
  }
  while (at < text.size() && !must_be_escaped(text[at])) ++at;
  return at;
}

bool is_space(char c) noexcept {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view kCharacters = "\"\\\b\f\n\r\t";
  constexpr std::string_view kEscapes = "\"\\bfnrt";
  constexpr char kHex[] = "0123456789abcdef";
  out += '\\';
  const auto known = kCharacters.find(c);
  if (known != std::string_view::npos) {
    out += kEscapes[known];
    return;
  }
  out += "u00";
  out += kHex[static_cast<unsigned char>(c) >> 4];
  out += kHex[static_cast<unsigned char>(c) & 15];
}

}  // namespace

void JsonWriter::append_quoted(std::string_view text) {
  text_ += '"';
  std::size_t begin = 0;
  for (std::size_t at = find_escaped(text, 0); at < text.size(); at = find_escaped(text, begin)) {
    text_ += text.substr(begin, at - begin);
    append_escaped(text_, text[at]);
    begin = at + 1;
  }
  text_ += text.substr(begin);
  text_ += '"';
}

void JsonWriter::key(std::string_view name) {
  before_value();
  append_quoted(name);
  text_ += ':';
  follows_value_ = false;
}

void JsonWriter::string(std::string_view text) {
  before_value();
  append_quoted(text);
}

void JsonWriter::integer(std::int64_t value) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  word({digits.data(), end});
}

void JsonWriter::raw(std::string_view json) {
  before_value();
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (!in_string && is_space(c)) continue;
    text_ += c;
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string && c == '\\' && i + 1 < json.size()) {
      text_ += json[++i];
    } else if (!in_string && (c == '{' || c == '[')) {
      enter();
    } else if (!in_string && (c == '}' || c == ']')) {
      --depth_;
    }
  }
}

}  // namespace iceblink::iceberg
