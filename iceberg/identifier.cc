#include <iceblink/identifier.h>

#include <cstdint>
#include <optional>
#include <span>

#include "iceberg/utf8.h"

namespace iceblink {
namespace {

std::optional<std::string_view> fault_of(std::string_view part) {
  if (part.empty()) return "is empty";
  if (part.find(kNameSeparator) != std::string_view::npos) return "holds a NUL character";
  if (part.find(kLevelSeparator) != std::string_view::npos) return "holds the separator 0x1F";
  if (!is_utf8(part)) return "is not valid UTF-8";
  return std::nullopt;
}

// A name as an error message may show it.
std::string printable(std::string_view text) {
  constexpr std::size_t kBytesMax = 120;
  if (text.size() <= kBytesMax) return on_one_line(text);
  std::size_t size = kBytesMax;
  while (size > kBytesMax - 3 && (text[size] & 0xc0) == 0x80) --size;  // not inside a character
  return on_one_line(text.substr(0, size)) + "…";
}

Status validate_levels(const Namespace& levels) {
  if (levels.empty()) return {ErrorKind::kInvalidArgument, "a namespace has at least one level"};
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (const auto fault = fault_of(levels[i])) {
      return {ErrorKind::kInvalidArgument, "level " + std::to_string(i + 1) + " of namespace '" +
                                               printable(format(levels)) + "' " +
                                               std::string(*fault)};
    }
  }
  return Ok{};
}

Status validate_size(const std::string& key, const char* what, const std::string& dotted) {
  if (key.size() <= kEncodedIdentifierBytesMax) return Ok{};
  return {ErrorKind::kInvalidArgument,
          std::string(what) + " '" + printable(dotted) + "' has " + std::to_string(key.size()) +
              " bytes once encoded, the limit is " + std::to_string(kEncodedIdentifierBytesMax)};
}

void append_dotted(std::string& out, const std::string& part) {
  if (!part.empty() && part.find_first_of(".\"") == std::string::npos) {
    out += part;
    return;
  }
  out += '"';
  for (const char c : part) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

Result<std::vector<std::string>> parse_parts(std::string_view text) {
  const auto fail = [&](std::size_t at, const char* why) -> Error {
    return {ErrorKind::kInvalidArgument,
            "identifier '" + printable(text) + "', byte " + std::to_string(at) + ": " + why};
  };
  std::vector<std::string> parts;
  std::size_t i = 0;
  while (true) {
    std::string part;
    if (i < text.size() && text[i] == '"') {
      const std::size_t open = i++;
      while (true) {
        if (i == text.size()) return fail(open, "this quote is never closed");
        if (text[i] == '"') {
          if (i + 1 == text.size() || text[i + 1] != '"') break;
          ++i;
        }
        part += text[i++];
      }
      ++i;
      if (i < text.size() && text[i] != '.') return fail(i, "expected '.' after a quoted part");
    } else {
      while (i < text.size() && text[i] != '.') {
        if (text[i] == '"') return fail(i, "a part that holds a quote is written in quotes");
        part += text[i++];
      }
    }
    if (part.empty()) return fail(i, "a part is empty");
    parts.push_back(std::move(part));
    if (i == text.size()) return parts;
    ++i;  // the dot
  }
}

}  // namespace

std::string encode(const Namespace& levels) {
  std::string key;
  for (const auto& level : levels) {
    if (!key.empty()) key += kLevelSeparator;
    key += level;
  }
  return key;
}

std::string encode(const TableIdent& ident) {
  std::string key = encode(ident.levels);
  key += kNameSeparator;
  key += ident.name;
  return key;
}

Result<Namespace> decode_namespace(std::string_view key) {
  Namespace levels;
  if (key.empty()) return levels;
  while (true) {
    const auto end = key.find(kLevelSeparator);
    const auto level = key.substr(0, end);
    if (fault_of(level)) return {ErrorKind::kCorrupt, "bad namespace key '" + printable(key) + "'"};
    levels.emplace_back(level);
    if (end == std::string_view::npos) return levels;
    key.remove_prefix(end + 1);
  }
}

Result<TableIdent> decode_table(std::string_view key) {
  const auto split = key.find(kNameSeparator);
  if (split == std::string_view::npos || fault_of(key.substr(split + 1))) {
    return {ErrorKind::kCorrupt, "bad table key '" + printable(key) + "'"};
  }
  ICEBLINK_ASSIGN_OR_RETURN(Namespace levels, decode_namespace(key.substr(0, split)));
  return TableIdent{std::move(levels), std::string(key.substr(split + 1))};
}

Status validate(const Namespace& levels) {
  ICEBLINK_RETURN_IF_ERROR(validate_levels(levels));
  return validate_size(encode(levels), "namespace", format(levels));
}

Status validate(const TableIdent& ident) {
  ICEBLINK_RETURN_IF_ERROR(validate_levels(ident.levels));
  if (const auto fault = fault_of(ident.name)) {
    return {ErrorKind::kInvalidArgument,
            "the name of table '" + printable(format(ident)) + "' " + std::string(*fault)};
  }
  return validate_size(encode(ident), "table", format(ident));
}

Status validate_name(std::string_view name) {
  const auto fault = fault_of(name);
  if (!fault) return Ok{};
  return {ErrorKind::kInvalidArgument, "the name '" + printable(name) + "' " + std::string(*fault)};
}

Result<Namespace> parse_namespace(std::string_view text) {
  ICEBLINK_ASSIGN_OR_RETURN(Namespace levels, parse_parts(text));
  ICEBLINK_RETURN_IF_ERROR(validate(levels));
  return levels;
}

Result<TableIdent> parse_table(std::string_view text) {
  ICEBLINK_ASSIGN_OR_RETURN(auto parts, parse_parts(text));
  if (parts.size() < 2) {
    return {ErrorKind::kInvalidArgument,
            "'" + printable(text) + "' names no table: expected NAMESPACE.TABLE"};
  }
  TableIdent ident;
  ident.name = std::move(parts.back());
  parts.pop_back();
  ident.levels = std::move(parts);
  ICEBLINK_RETURN_IF_ERROR(validate(ident));
  return ident;
}

std::string format(const Namespace& levels) {
  std::string out;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i > 0) out += '.';
    append_dotted(out, levels[i]);
  }
  return out;
}

std::string format(const TableIdent& ident) {
  std::string out = format(ident.levels);
  if (!ident.levels.empty()) out += '.';
  append_dotted(out, ident.name);
  return out;
}

}  // namespace iceblink
