#include "daemon/new_location.h"

#include <cstddef>

namespace iceblink::daemon {
namespace {

/// Of one name: file systems take 255, and the uuid comes behind it.
constexpr std::size_t kNameBytesMax = 128;

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

void append_name(std::string& out, std::string_view name) {
  out += '/';
  for (const char c : name.substr(0, kNameBytesMax)) {
    const bool is_hidden = c == '.' && out.back() == '/';
    out += is_plain(c) && !is_hidden ? c : '_';
  }
}

}  // namespace

std::string new_location(std::string_view warehouse, const TableIdent& ident,
                         const iceberg::Uuid& uuid) {
  while (warehouse.size() > 1 && warehouse.ends_with('/')) warehouse.remove_suffix(1);
  if (warehouse.empty()) return {};
  std::string out(warehouse);
  for (const auto& level : ident.levels) append_name(out, level);
  append_name(out, ident.name);
  out += '-';
  out += iceberg::format_uuid(uuid);
  return out;
}

}  // namespace iceblink::daemon
