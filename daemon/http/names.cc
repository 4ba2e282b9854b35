#include "daemon/http/names.h"

#include <cstdint>
#include <iterator>

namespace iceblink::daemon::http {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The byte that an escape stands for; -1 when it is none.
int escaped_byte(std::string_view escape) {
  if (escape.size() < 3 || escape[0] != '%') return -1;
  const int high = hex_digit(escape[1]);
  const int low = hex_digit(escape[2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

std::size_t find_separator(std::string_view raw, std::size_t from, std::string_view separator) {
  for (std::size_t at = raw.find('%', from); at != std::string_view::npos;
       at = raw.find('%', at + 1)) {
    const int byte = escaped_byte(raw.substr(at, 3));
    if (byte < 0) continue;
    if (byte == kLevelSeparator || byte == escaped_byte(separator)) return at;
  }
  return std::string_view::npos;
}

}  // namespace

Result<std::string> percent_decode(std::string_view text, PlusMeans plus) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus == PlusMeans::kSpace) {
      out += ' ';
    } else if (text[i] != '%') {
      out += text[i];
    } else {
      const int byte = escaped_byte(text.substr(i, 3));
      if (byte < 0) {
        return {ErrorKind::kInvalidArgument, "'" + std::string(text) +
                                                 "' in the URL has a broken escape at byte " +
                                                 std::to_string(i)};
      }
      out += static_cast<char>(byte);
      i += 2;
    }
  }
  return out;
}

Result<Namespace> decode_namespace_segment(std::string_view raw, PlusMeans plus,
                                           std::string_view separator) {
  Namespace levels;
  for (std::size_t from = 0;;) {
    const std::size_t end = find_separator(raw, from, separator);
    ICEBLINK_ASSIGN_OR_RETURN(std::string level,
                              percent_decode(raw.substr(from, end - from), plus));
    levels.push_back(std::move(level));
    if (end == std::string_view::npos) break;
    from = end + kEncodedSeparator.size();
  }
  ICEBLINK_RETURN_IF_ERROR(validate(levels));
  return levels;
}

Result<Namespace> decode_namespace_query(std::string_view raw, PlusMeans plus,
                                         std::string_view separator) {
  ICEBLINK_ASSIGN_OR_RETURN(const std::string value, percent_decode(raw, plus));
  const char separators[] = {kLevelSeparator, static_cast<char>(escaped_byte(separator))};
  Namespace levels;
  for (std::size_t from = 0;;) {
    const std::size_t end = value.find_first_of(separators, from, std::size(separators));
    levels.push_back(value.substr(from, end - from));
    if (end == std::string::npos) break;
    from = end + 1;
  }
  ICEBLINK_RETURN_IF_ERROR(validate(levels));
  return levels;
}

Result<TableIdent> decode_table_segments(std::string_view raw_namespace, std::string_view raw_name,
                                         PlusMeans plus, std::string_view separator) {
  TableIdent ident;
  ICEBLINK_ASSIGN_OR_RETURN(ident.levels, decode_namespace_segment(raw_namespace, plus, separator));
  ICEBLINK_ASSIGN_OR_RETURN(ident.name, percent_decode(raw_name, plus));
  ICEBLINK_RETURN_IF_ERROR(validate(ident));
  return ident;
}

Result<Target> split_target(std::string_view target) {
  const std::string_view whole = target;
  if (const auto scheme = target.find("://");
      scheme != std::string_view::npos && target.find('/') == scheme + 1) {
    const auto path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? "/" : target.substr(path);
  }
  target = target.substr(0, target.find('#'));
  if (target.empty() || target.front() != '/') {
    return {ErrorKind::kInvalidArgument,
            "the request target '" + std::string(whole) + "' is not a path"};
  }
  const auto question = target.find('?');
  std::string_view path =
      target.substr(1, question == std::string_view::npos ? std::string_view::npos : question - 1);
  Target out;
  for (;;) {
    const auto slash = path.find('/');
    out.segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  if (question == std::string_view::npos) return out;
  for (std::string_view rest = target.substr(question + 1); !rest.empty();) {
    const auto end = rest.find('&');
    const auto pair = rest.substr(0, end);
    const auto equals = pair.find('=');
    out.query.emplace_back(pair.substr(0, equals), equals == std::string_view::npos
                                                       ? std::string_view{}
                                                       : pair.substr(equals + 1));
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace iceblink::daemon::http
