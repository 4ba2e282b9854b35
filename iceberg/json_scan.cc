#include "iceberg/json_scan.h"

#include <simdjson.h>

#include <bitset>
#include <cstdint>

#include "iceberg/ascii.h"

namespace iceblink::iceberg {
namespace {

/// Walks over a text. Every skip_… stands behind what it skipped, or has set the error.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }
  [[nodiscard]] char peek() const noexcept { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] std::size_t offset() const noexcept { return at_; }
  [[nodiscard]] std::string_view since(std::size_t begin) const noexcept {
    return text_.substr(begin, at_ - begin);
  }

  void skip_space() noexcept {
    while (!at_end() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }
  [[nodiscard]] bool skip_char(char c, const char* expected) {
    if (peek() != c || at_end()) return fail(expected);
    ++at_;
    return true;
  }
  [[nodiscard]] bool skip_string();
  [[nodiscard]] bool skip_value();

  bool fail(const char* why) {
    if (why_ == nullptr) why_ = at_end() ? "the text ends too early" : why;
    return false;
  }
  [[nodiscard]] Error error() const {
    return {ErrorKind::kInvalidArgument,
            "not valid JSON at byte " + std::to_string(at_) + ": " + why_};
  }

 private:
  [[nodiscard]] bool skip_escape();
  [[nodiscard]] bool skip_number();
  [[nodiscard]] bool skip_digits();
  [[nodiscard]] bool skip_word(std::string_view word);
  [[nodiscard]] bool skip_scalar();
  [[nodiscard]] bool skip_name();
  [[nodiscard]] bool enter(bool is_object);
  [[nodiscard]] bool leave_or_go_on();

  std::string_view text_;
  std::size_t at_ = 0;
  const char* why_ = nullptr;

  std::size_t depth_ = 0;
  std::bitset<kJsonDepthMax> is_object_;
  bool wants_value_ = false;
};

bool Scanner::skip_string() {
  if (!skip_char('"', "expected a string")) return false;
  while (!at_end()) {
    const char c = text_[at_];
    if (c == '"') {
      ++at_;
      return true;
    }
    if (static_cast<std::uint8_t>(c) < 0x20) return fail("a control character in a string");
    ++at_;
    if (c == '\\' && !skip_escape()) return false;
  }
  return fail("");
}

bool Scanner::skip_escape() {
  const char c = peek();
  if (at_end() || std::string_view("\"\\/bfnrtu").find(c) == std::string_view::npos) {
    return fail("an unknown escape in a string");
  }
  ++at_;
  if (c != 'u') return true;
  for (int i = 0; i < 4; ++i, ++at_) {
    if (hex_value(peek()) < 0) return fail("\\u is followed by four hex digits");
  }
  return true;
}

bool Scanner::skip_digits() {
  if (!is_digit(peek())) return fail("expected a digit");
  while (is_digit(peek())) ++at_;
  return true;
}

bool Scanner::skip_number() {
  if (peek() == '-') ++at_;
  if (peek() == '0') {
    ++at_;
  } else if (!skip_digits()) {
    return false;
  }
  if (peek() == '.') {
    ++at_;
    if (!skip_digits()) return false;
  }
  if (peek() == 'e' || peek() == 'E') {
    ++at_;
    if (peek() == '+' || peek() == '-') ++at_;
    if (!skip_digits()) return false;
  }
  return true;
}

bool Scanner::skip_word(std::string_view word) {
  if (text_.substr(at_, word.size()) != word) return fail("expected a value");
  at_ += word.size();
  return true;
}

bool Scanner::skip_scalar() {
  switch (peek()) {
    case '"':
      return skip_string();
    case 't':
      return skip_word("true");
    case 'f':
      return skip_word("false");
    case 'n':
      return skip_word("null");
    default:
      if (peek() == '-' || is_digit(peek())) return skip_number();
      return fail("expected a value");
  }
}

bool Scanner::skip_name() {
  skip_space();
  if (!skip_string()) return false;
  skip_space();
  return skip_char(':', "expected ':' after a name");
}

bool Scanner::enter(bool is_object) {
  if (depth_ == kJsonDepthMax) return fail("nested too deep");
  ++at_;
  skip_space();
  if (peek() == (is_object ? '}' : ']')) {
    ++at_;
    return true;
  }
  is_object_[depth_++] = is_object;
  wants_value_ = true;
  return !is_object || skip_name();
}

// Behind a value inside an object or array: its end, or a comma and the next.
bool Scanner::leave_or_go_on() {
  const bool is_object = is_object_[depth_ - 1];
  skip_space();
  if (peek() == (is_object ? '}' : ']')) {
    ++at_;
    --depth_;
    return true;
  }
  if (!skip_char(',', is_object ? "expected ',' or '}'" : "expected ',' or ']'")) return false;
  wants_value_ = true;
  return !is_object || skip_name();
}

bool Scanner::skip_value() {
  depth_ = 0;
  wants_value_ = true;
  while (wants_value_ || depth_ > 0) {
    if (!wants_value_) {
      if (!leave_or_go_on()) return false;
      continue;
    }
    wants_value_ = false;
    skip_space();
    const char c = peek();
    if (!(c == '{' || c == '[' ? enter(c == '{') : skip_scalar())) return false;
  }
  return true;
}

void append_utf8(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6));
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3f));
    put(0x80 | ((code >> 6) & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

std::uint32_t four_hex_digits(std::string_view text) {
  std::uint32_t code = 0;
  for (const char c : text.substr(0, 4)) code = code * 16 + static_cast<unsigned>(hex_value(c));
  return code;
}

/// The code point of the \u escape whose digits begin at `at`, which is moved behind it.
std::uint32_t take_code_point(std::string_view text, std::size_t& at) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  const std::uint32_t first = four_hex_digits(text.substr(at));
  at += 4;
  if (first < 0xd800 || first > 0xdfff) return first;
  if (first > 0xdbff || text.substr(at, 2) != "\\u") return kReplacement;
  const std::uint32_t second = four_hex_digits(text.substr(at + 2));
  if (second < 0xdc00 || second > 0xdfff) return kReplacement;
  at += 6;
  return 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
}

}  // namespace

std::string unescape_json_string(std::string_view quoted) {
  constexpr std::string_view kEscapes = "bfnrt";
  constexpr std::string_view kCharacters = "\b\f\n\r\t";
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  if (text.find('\\') == std::string_view::npos) return std::string(text);
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i++];
    if (c != '\\') {
      out += c;
      continue;
    }
    const char escape = text[i++];
    if (escape == 'u') {
      append_utf8(out, take_code_point(text, i));
    } else {
      const auto known = kEscapes.find(escape);
      out += known == std::string_view::npos ? escape : kCharacters[known];
    }
  }
  return out;
}

Status scan_json_object(
    std::string_view text,
    const std::function<Status(const std::string& name, std::string_view value)>& visit) {
  if (!simdjson::validate_utf8(text.data(), text.size())) {
    return {ErrorKind::kInvalidArgument, "not valid JSON: the text is not UTF-8"};
  }
  Scanner scanner(text);
  scanner.skip_space();
  if (!scanner.skip_char('{', "expected an object")) return scanner.error();
  scanner.skip_space();
  bool more = scanner.peek() != '}';
  while (more) {
    scanner.skip_space();
    std::size_t begin = scanner.offset();
    if (!scanner.skip_string()) return scanner.error();
    const std::string name = unescape_json_string(scanner.since(begin));
    scanner.skip_space();
    if (!scanner.skip_char(':', "expected ':' after a name")) return scanner.error();
    scanner.skip_space();
    begin = scanner.offset();
    if (!scanner.skip_value()) return scanner.error();
    ICEBLINK_RETURN_IF_ERROR(visit(name, scanner.since(begin)));
    scanner.skip_space();
    more = scanner.peek() == ',';
    if (more && !scanner.skip_char(',', "")) return scanner.error();
  }
  if (!scanner.skip_char('}', "expected ',' or '}'")) return scanner.error();
  scanner.skip_space();
  if (!scanner.at_end()) {
    scanner.fail("something follows the object");
    return scanner.error();
  }
  return Ok{};
}

}  // namespace iceblink::iceberg
