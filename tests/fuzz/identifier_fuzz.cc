// Identifiers: dotted text, encoded keys, names in URLs.
//
// The first byte chooses a separator and how names are escaped; the lines that follow are taken as
// a key, as dotted text, as parts of URLs, and as the parts of two identifiers.
#include <iceblink/identifier.h>

#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/names.h"
#include "iceberg/utf8.h"
#include "shm/key.h"
#include "tests/fuzz/fuzz_check.h"
#include "tests/fuzz/fuzz_target.h"

namespace iceblink::test {

const FuzzedText kFuzzedText = FuzzedText::kBytes;

namespace {

using daemon::http::PlusMeans;

constexpr std::string_view kSeparators[] = {"%1F", "%2E", "%7C", "%41"};
constexpr std::uint64_t kHashSeed = 0x1234;
constexpr std::size_t kInputBytesMax = 4096;

void check_error(const Error& error, ErrorKind kind) {
  fuzz_check(error.kind() == kind, "an error is of the kind that is promised", error.message());
  fuzz_check(!error.message().empty() && is_utf8(on_one_line(error.message())),
             "an error says something that can be shown", error.message());
}

/// What holds of every identifier that is valid.
void check_valid(const TableIdent& ident) {
  const std::string key = encode(ident);
  const std::string parent = encode(ident.levels);
  fuzz_check(key.size() <= kEncodedIdentifierBytesMax, "a valid identifier is short enough", key);
  fuzz_check(validate(ident.levels).ok(), "its namespace is valid", parent);
  fuzz_check(validate_name(ident.name).ok(), "its name is valid", ident.name);

  const auto decoded = decode_table(key);
  fuzz_check(decoded && *decoded == ident, "a key decodes to what it was made of", key);
  const auto levels = decode_namespace(parent);
  fuzz_check(levels && *levels == ident.levels, "so does a namespace's", parent);
  fuzz_check(!decode_namespace(key), "a table's key is no namespace's", key);
  fuzz_check(!decode_table(parent), "a namespace's key is no table's", parent);
  fuzz_check(key.starts_with(parent) && parent < key, "a namespace stands before its tables", key);

  const auto parsed = parse_table(format(ident));
  fuzz_check(parsed && *parsed == ident, "dotted text is read as it was written", format(ident));
  const auto parsed_levels = parse_namespace(format(ident.levels));
  fuzz_check(parsed_levels && *parsed_levels == ident.levels, "so is a namespace's",
             format(ident.levels));

  const shm::TableKey by_parts{ident.levels, ident.name};
  fuzz_check(by_parts.size() == key.size() && by_parts.equals(key.data()),
             "parts compare as their key does", key);
  fuzz_check(by_parts.hash(kHashSeed) == shm::hash_encoded(key, kHashSeed),
             "parts hash as their key does", key);
  fuzz_check(shm::parent_of(key) == parent && shm::leaf_of(key) == ident.name,
             "a key has its parts", key);
  fuzz_check(shm::leaf_of(parent) == ident.levels.back(), "so has a namespace's", parent);
  fuzz_check(shm::level_count_of(key) == static_cast<std::uint8_t>(ident.levels.size()),
             "a key has as many levels", key);
}

void check_key(std::string_view key) {
  const auto table = decode_table(key);
  if (table) {
    fuzz_check(encode(*table) == key, "a table's key is the only one of its parts", key);
  } else {
    check_error(table.error(), ErrorKind::kCorrupt);
  }
  const auto levels = decode_namespace(key);
  if (levels) {
    fuzz_check(encode(*levels) == key, "a namespace's key is the only one of its parts", key);
  } else {
    check_error(levels.error(), ErrorKind::kCorrupt);
  }
  fuzz_check(!table || !levels, "a key is of one class", key);
}

void check_dotted(std::string_view text) {
  const auto levels = parse_namespace(text);
  if (levels) {
    const auto again = parse_namespace(format(*levels));
    fuzz_check(again && *again == *levels, "what was read is written so that it is read again",
               text);
  } else {
    check_error(levels.error(), ErrorKind::kInvalidArgument);
  }
  const auto table = parse_table(text);
  if (!table) return check_error(table.error(), ErrorKind::kInvalidArgument);
  const auto again = parse_table(format(*table));
  fuzz_check(again && *again == *table, "what was read is written so that it is read again", text);
  if (validate(*table)) check_valid(*table);
}

/// `escapes`: which bytes are escaped that need not be.
std::string escaped(std::string_view text, std::uint8_t escapes) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  constexpr std::string_view kLowDigits = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
    if (is_plain && (byte & escapes) == 0) {
      out += c;
      continue;
    }
    const std::string_view digits = (escapes & 1) != 0 ? kLowDigits : kDigits;
    out += '%';
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

bool holds_separator(const TableIdent& ident, std::string_view separator) {
  const auto byte = daemon::http::percent_decode(separator, PlusMeans::kPlus);
  for (const auto& level : ident.levels) {
    if (level.find(*byte) != std::string::npos) return true;
  }
  return false;
}

/// A valid identifier, in a URL as a client may write it.
void check_in_url(const TableIdent& ident, std::string_view separator, std::uint8_t escapes) {
  if (holds_separator(ident, separator)) separator = daemon::http::kEncodedSeparator;
  std::string levels;
  for (const auto& level : ident.levels) {
    if (!levels.empty()) levels += separator;
    levels += escaped(level, escapes);
  }
  const std::string name = escaped(ident.name, escapes);
  for (const auto plus : {PlusMeans::kSpace, PlusMeans::kPlus}) {
    const auto read = daemon::http::decode_table_segments(levels, name, plus, separator);
    fuzz_check(read && *read == ident, "a name in a path is read as it was written", levels);
    const auto query = daemon::http::decode_namespace_query(levels, plus, separator);
    fuzz_check(query && *query == ident.levels, "and in a query", levels);
  }
}

/// Any parts of a URL: what is accepted can be written and read again.
void check_raw(std::string_view levels, std::string_view name, std::string_view separator,
               std::uint8_t escapes) {
  for (const auto plus : {PlusMeans::kSpace, PlusMeans::kPlus}) {
    const auto table = daemon::http::decode_table_segments(levels, name, plus, separator);
    if (table) {
      check_valid(*table);
      check_in_url(*table, separator, escapes);
    } else {
      check_error(table.error(), ErrorKind::kInvalidArgument);
    }
    const auto query = daemon::http::decode_namespace_query(levels, plus, separator);
    fuzz_check(!query || validate(*query).ok(), "what is accepted is valid", levels);
  }
  if (!daemon::http::is_ambiguous(levels) && !daemon::http::is_ambiguous(name)) {
    const auto spaced =
        daemon::http::decode_table_segments(levels, name, PlusMeans::kSpace, separator);
    const auto literal =
        daemon::http::decode_table_segments(levels, name, PlusMeans::kPlus, separator);
    fuzz_check(spaced.ok() == literal.ok() && (!spaced || *spaced == *literal),
               "only a plus has two readings", levels);
  }
}

void check_target(std::string_view text) {
  const auto target = daemon::http::split_target(text);
  if (!target) return check_error(target.error(), ErrorKind::kInvalidArgument);
  std::string path;
  for (const auto segment : target->segments) {
    path += '/';
    path += segment;
  }
  fuzz_check(text.find(path) != std::string_view::npos, "a path is cut at its slashes alone", text);
  for (const auto& [key, value] : target->query) {
    fuzz_check(key.data() >= text.data() && key.data() + key.size() <= text.data() + text.size(),
               "a query is part of its target", text);
    fuzz_check(value.find('&') == std::string_view::npos, "a value ends at '&'", value);
  }
}

std::vector<std::string_view> cut(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The last of the parts is the name.
TableIdent ident_of(std::string_view text) {
  TableIdent ident;
  for (const auto part : cut(text, '/')) ident.levels.emplace_back(part);
  ident.name = ident.levels.back();
  ident.levels.pop_back();
  return ident;
}

void check_two(const TableIdent& a, const TableIdent& b) {
  const Status valid_a = validate(a);
  const Status valid_b = validate(b);
  if (!valid_a) check_error(valid_a.error(), ErrorKind::kInvalidArgument);
  if (!valid_a || !valid_b) return;
  fuzz_check((encode(a) == encode(b)) == (a == b), "no two identifiers share a key", encode(a));
  fuzz_check((format(a) == format(b)) == (a == b), "nor a dotted form", format(a));
  fuzz_check((encode(a.levels) == encode(b.levels)) == (a.levels == b.levels),
             "no two namespaces share a key", encode(a.levels));
  fuzz_check(encode(a) != encode(b.levels), "nor does a table with a namespace", encode(a));
}

}  // namespace
}  // namespace iceblink::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace iceblink::test;
  if (size == 0 || size > kInputBytesMax) return 0;
  const std::uint8_t choice = data[0];
  const std::string_view separator = kSeparators[choice % std::size(kSeparators)];
  const std::uint8_t escapes = choice >> 2;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  check_key(text);
  const auto lines = cut(text, '\n');
  for (std::size_t i = 0; i < lines.size() && i < 8; ++i) {
    const std::string_view next = lines[(i + 1) % lines.size()];
    check_dotted(lines[i]);
    check_target(lines[i]);
    check_raw(lines[i], next, separator, escapes);
    const auto a = ident_of(lines[i]);
    check_two(a, ident_of(next));
    if (iceblink::validate(a)) {
      check_valid(a);
      check_in_url(a, separator, escapes);
    }
  }
  return 0;
}
