// Names of namespaces and tables, as people write them and as keys are made of them.
//
// A name part is valid when it is not empty, is valid UTF-8, and holds neither NUL nor 0x1F (the
// separators of the encoded key). Names are case-sensitive and are never normalised.
#pragma once

#include <iceblink/result.h>

#include <compare>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace iceblink {

/// The levels of a namespace, outermost first. The empty vector is the root.
using Namespace = std::vector<std::string>;

/// A table (or view): its namespace and its name.
struct TableIdent {
  Namespace levels;
  std::string name;

  friend bool operator==(const TableIdent&, const TableIdent&) = default;
  friend auto operator<=>(const TableIdent&, const TableIdent&) = default;
};

/// Longest encoded identifier, in bytes: the key limit of the store behind the catalog.
inline constexpr std::size_t kEncodedIdentifierBytesMax = 511;
/// Between the levels of an encoded namespace.
inline constexpr char kLevelSeparator = '\x1f';
/// Between the namespace and the name of an encoded table.
inline constexpr char kNameSeparator = '\0';

/// "a\x1Fb" for {"a","b"}; the root is the empty string. Does not validate.
[[nodiscard]] std::string encode(const Namespace& levels);
/// "a\x1Fb\0t" for {{"a","b"},"t"}. Does not validate.
[[nodiscard]] std::string encode(const TableIdent& ident);

/// The inverse of encode; kCorrupt when `key` cannot have come from it.
[[nodiscard]] Result<Namespace> decode_namespace(std::string_view key);
[[nodiscard]] Result<TableIdent> decode_table(std::string_view key);

/// kInvalidArgument naming the bad part: empty, NUL, 0x1F, not UTF-8, or too long once encoded.
/// The root namespace is valid only where the caller says so (`validate` refuses it).
[[nodiscard]] Status validate(const Namespace& levels);
/// As above; a table in the root namespace is refused.
[[nodiscard]] Status validate(const TableIdent& ident);
/// As above, of a table's or view's name by itself: whether it fits behind its namespace is left.
[[nodiscard]] Status validate_name(std::string_view name);

/// Parses the dotted form: `analytics.web.events`. A part that holds a dot or a double quote is
/// written in double quotes, a quote doubled: `"a.b"."say ""hi"""`. kInvalidArgument says where.
[[nodiscard]] Result<Namespace> parse_namespace(std::string_view text);
[[nodiscard]] Result<TableIdent> parse_table(std::string_view text);

/// The dotted form, quoted where needed; parse(format(x)) == x.
[[nodiscard]] std::string format(const Namespace& levels);
[[nodiscard]] std::string format(const TableIdent& ident);

}  // namespace iceblink
