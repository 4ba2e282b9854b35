#include "iceberg/json_reader.h"

#include <array>
#include <utility>

#include "iceberg/ascii.h"
#include "iceberg/json_number.h"
#include "iceberg/json_scan.h"
#include "iceberg/utf8.h"

namespace iceblink::iceberg {
namespace {

constexpr std::size_t kShownBytesMax = 80;
constexpr std::size_t kProblemBytesMax = 400;
constexpr std::size_t kPathBytesMax = 1000;
/// Whoever wants all problems has seen enough then.
constexpr std::size_t kProblemsMax = 1000;

/// On one line; what is long loses its end.
std::string shown(std::string_view text, std::size_t bytes_max = kShownBytesMax) {
  if (text.size() <= bytes_max) return on_one_line(text);
  while (bytes_max > 0 && (text[bytes_max] & 0xc0) == 0x80) --bytes_max;  // no half a character
  return on_one_line(text.substr(0, bytes_max)) + "…";
}

const char* kind_of(char first) noexcept {
  switch (first) {
    case '{':
      return "an object";
    case '[':
      return "an array";
    case '"':
      return "a string";
    case 't':
    case 'f':
      return "a boolean";
    case 'n':
      return "null";
    default:
      return "a number";
  }
}

/// How a token that begins with this character changes the depth of what follows.
constexpr std::array<std::int8_t, 256> kDepthChange = [] {
  std::array<std::int8_t, 256> change{};
  change['{'] = change['['] = 1;
  change['}'] = change[']'] = -1;
  return change;
}();

bool has_valid_escapes(std::string_view content) noexcept {
  for (std::size_t i = content.find('\\'); i != std::string_view::npos; i = content.find('\\', i)) {
    if (i + 1 == content.size()) return false;
    const char c = content[i + 1];
    if (std::string_view("\"\\/bfnrtu").find(c) == std::string_view::npos) return false;
    i += 2;
    if (c != 'u') continue;
    if (content.size() - i < 4) return false;
    for (const std::size_t end = i + 4; i < end; ++i) {
      const char h = content[i];
      const char lower = static_cast<char>(h | 0x20);
      if (!is_digit(h) && !(lower >= 'a' && lower <= 'f')) return false;
    }
  }
  return true;
}

}  // namespace

JsonReader::JsonReader(std::string_view text, const JsonTokens& tokens,
                       const MetadataLimits& limits, Arena& arena, Wanted wanted,
                       std::vector<MetadataProblem>& problems)
    : text_(text),
      limits_(limits),
      arena_(arena),
      wanted_(wanted),
      problems_(problems),
      next_(tokens.begin()),
      end_(tokens.end()),
      has_escapes_(std::memchr(text.data(), '\\', text.size()) != nullptr) {}

std::string JsonReader::path(std::string_view member) const {
  std::vector<const Step*> steps;
  for (const Step* step = path_; step != nullptr; step = step->parent) steps.push_back(step);
  std::string path;
  const auto add_key = [&](std::string_view key) {
    if (key.empty()) return;
    if (!path.empty()) path += '.';
    path += shown(key);
  };
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if ((*step)->is_array) {
      path += '[' + std::to_string((*step)->index) + ']';
    } else {
      add_key((*step)->key);
    }
  }
  add_key(member);
  return shown(path, kPathBytesMax);
}

void JsonReader::report(std::string_view what, std::string_view member) {
  if (stopped_) return;
  if (lenient_ > 0) {
    lenient_failed_ = true;
    return;
  }
  std::string at = path(member);
  // Of one value the first problem is told: others mostly follow from it.
  if (!problems_.empty() && problems_.back().path == at) return;
  problems_.push_back({std::move(at), shown(what, kProblemBytesMax)});
  stopped_ = wanted_ == Wanted::kFirstProblem || problems_.size() == kProblemsMax;
}

void JsonReader::refuse(ErrorKind kind, std::string_view what, std::string_view member) {
  if (stopped_) return;
  if (problems_.empty()) error_kind_ = kind;
  problems_.push_back({path(member), shown(what, kProblemBytesMax)});
  stopped_ = true;
}

void JsonReader::broken(std::string what) {
  broken_at(next_, std::move(what));
}

void JsonReader::broken_at(Place place, std::string what) {
  if (stopped_) return;
  const std::string where = place < end_ ? " at byte " + std::to_string(text_offset_ + *place)
                                         : " at the end of the text";
  refuse(ErrorKind::kCorrupt, "not valid JSON" + where + ": " + what);
}

std::string_view JsonReader::bad_string() {
  broken_at(next_ - 1, "a string that does not end");
  return {};
}

std::string_view JsonReader::unescaped(std::string_view quoted) {
  if (!has_valid_escapes(quoted.substr(1, quoted.size() - 2))) {
    broken_at(next_ - 1, "a bad escape in a string");
    return {};
  }
  return arena_.copy(std::string_view(unescape_json_string(quoted)));
}

// True where a value of the right kind is here; else it says so, and passes over what is.
bool JsonReader::expect(const char* wanted, bool fits) {
  if (fits && !stopped_) return true;
  skip_wrong(wanted);
  return false;
}

void JsonReader::skip_wrong(const char* wanted) {
  if (stopped_) return;
  const char first = peek();
  if (first == '\0' || first == ',' || first == ':' || first == '}' || first == ']') {
    broken("expected a value");
    return;
  }
  if (first != '{' && first != '[' && first != '"') {
    check_scalar(take_scalar());
    --next_;
  }
  report("expected " + std::string(wanted) + ", found " + kind_of(first));
  skip();
}

bool JsonReader::take_null() {
  if (peek() != 'n') return false;
  check_scalar(take_scalar());
  return true;
}

std::int64_t JsonReader::read_int64() {
  const char first = peek();
  if (!expect("an integer", is_digit(first) || first == '-')) return 0;
  const std::string_view text = take_scalar();
  std::int64_t value = 0;
  switch (parse_json_integer(text, value)) {
    [[likely]] case IntegerFault::kNone : return value;
    case IntegerFault::kNoNumber:
      broken_at(next_ - 1, "'" + shown(text) + "' is not a number");
      break;
    case IntegerFault::kTooLarge:
      report(shown(text) + " does not fit into 64 bits");
      break;
    case IntegerFault::kNoInteger:
      report(shown(text) + " is not written as an integer");
      break;
  }
  return 0;
}

std::int32_t JsonReader::read_int32() {
  const std::int64_t value = read_int64();
  if (value < INT32_MIN || value > INT32_MAX) {
    report(std::to_string(value) + " does not fit into 32 bits");
  }
  return static_cast<std::int32_t>(value);
}

bool JsonReader::read_bool() {
  const char first = peek();
  if (!expect("a boolean", first == 't' || first == 'f')) return false;
  check_scalar(take_scalar());
  return first == 't';
}

std::string_view JsonReader::read_string() {
  if (!expect("a string", peek() == '"')) return {};
  return take_string();
}

std::string_view JsonReader::read_filled_string() {
  if (!expect("a string", peek() == '"')) return {};
  const std::string_view text = take_string();
  if (text.empty()) report("is empty");
  return text;
}

std::string_view JsonReader::read_text() {
  const char first = peek();
  if (first == '"') return stopped_ ? std::string_view{} : take_string();
  const bool is_scalar = is_digit(first) || first == '-' || first == 't' || first == 'f';
  if (!expect("a string", is_scalar)) return {};
  const std::string_view text = take_scalar();
  check_scalar(text);
  return text;
}

std::string_view JsonReader::read_raw() {
  if (stopped_ || next_ == end_) {
    broken("expected a value");
    return {};
  }
  const std::size_t begin = *next_;
  skip();
  return stopped_ ? std::string_view{} : text_.substr(begin, end_offset() - begin);
}

void JsonReader::check_scalar(std::string_view text) {
  switch (text.front()) {
    case 't':
      if (text == "true") return;
      break;
    case 'f':
      if (text == "false") return;
      break;
    case 'n':
      if (text == "null") return;
      break;
    default:
      if (is_json_number(text)) return;
  }
  broken_at(next_ - 1, "'" + shown(text) + "' is no value");
}

bool JsonReader::enter(char bracket, const char* wanted) {
  if (!expect(wanted, peek() == bracket)) return false;
  if (depth_ == limits_.depth_max) {
    refuse(ErrorKind::kTooLarge,
           "nested deeper than " + std::to_string(limits_.depth_max) + " levels");
    return false;
  }
  ++depth_;
  ++next_;
  return true;
}

// In front of the first element: whether there is none.
bool JsonReader::at_end_of(char bracket) {
  if (peek() != bracket) return false;
  ++next_;
  return true;
}

bool JsonReader::goes_on_after(std::size_t count, char bracket) {
  if (stopped_) return false;
  const char c = peek();
  if (c == ',') [[likely]] {
    if (count >= limits_.elements_max) {
      refuse(ErrorKind::kTooLarge,
             "more than " + std::to_string(limits_.elements_max) + " elements");
      return false;
    }
    ++next_;
    return true;
  }
  if (c == bracket) {
    ++next_;
  } else {
    broken(bracket == '}' ? "expected ',' or '}'" : "expected ',' or ']'");
  }
  return false;
}

std::string_view JsonReader::read_key() {
  if (peek() != '"') {
    broken("expected a member's name");
    return {};
  }
  const std::string_view key = take_string();
  if (peek() != ':') {
    broken("expected ':' after a name");
    return {};
  }
  ++next_;
  return key;
}

void JsonReader::skip() {
  if (stopped_) return;
  switch (peek()) {
    case '{':
      read_object([&](std::string_view) { skip(); });
      return;
    case '[':
      read_array([&] { skip(); });
      return;
    case '"':
      (void)take_string();
      return;
    case '\0':
    case ',':
    case ':':
    case '}':
    case ']':
      broken("expected a value");
      return;
    default:
      check_scalar(take_scalar());
  }
}

// Without branches on what a token is: most of a large document goes through here.
JsonReader::Place JsonReader::find_closing(Place at, std::int64_t depth) const noexcept {
  const char* const text = text_.data();
  for (; at < end_; ++at) {
    depth += kDepthChange[static_cast<unsigned char>(text[*at])];
    if (depth <= 0) break;
  }
  return at;
}

void JsonReader::skip_raw() {
  if (stopped_) return;
  const char first = peek();
  if (first == '}' || first == ']' || first == '\0') {
    broken("expected a value");
    return;
  }
  const Place last = find_closing(next_, 0);
  if (last == end_) return broken("brackets that do not match");
  next_ = last + 1;
}

void JsonReader::skip_raw_to_end() {
  if (!stopped_) next_ = find_closing(next_, 1);
}

void JsonReader::expect_end() {
  if (!stopped_ && next_ != end_) broken("something follows the document");
}

}  // namespace iceblink::iceberg
