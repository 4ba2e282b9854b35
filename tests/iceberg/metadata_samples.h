// Small metadata documents to be changed a member at a time, and what the parser says of them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "iceberg/metadata_parser.h"

namespace iceblink::iceberg::testing {

/// A JSON object whose members are texts: also texts that no JSON library would write.
class Document {
 public:
  Document(std::initializer_list<std::pair<std::string, std::string>> members)
      : members_(members) {}

  /// With this member, in the place of one of the same name if there is one.
  [[nodiscard]] Document with(const std::string& name, const std::string& json) const {
    Document changed = *this;
    const auto is_it = [&](const auto& member) { return member.first == name; };
    const auto found = std::find_if(changed.members_.begin(), changed.members_.end(), is_it);
    if (found == changed.members_.end()) return with_another(name, json);
    found->second = json;
    return changed;
  }
  /// With this member behind the others, whatever they are.
  [[nodiscard]] Document with_another(const std::string& name, const std::string& json) const {
    Document changed = *this;
    changed.members_.emplace_back(name, json);
    return changed;
  }
  [[nodiscard]] Document without(const std::string& name) const {
    Document changed = *this;
    std::erase_if(changed.members_, [&](const auto& member) { return member.first == name; });
    return changed;
  }
  /// In their order.
  [[nodiscard]] const auto& members() const noexcept { return members_; }
  /// Names stand in it as they were given: escapes are the caller's.
  [[nodiscard]] std::string text() const {
    std::string text = "{";
    for (const auto& [name, json] : members_) {
      if (text.size() > 1) text += ',';
      text += '"' + name + "\":" + json;
    }
    return text + '}';
  }

 private:
  std::vector<std::pair<std::string, std::string>> members_;
};

inline void PrintTo(const Document& document, std::ostream* out) {
  *out << document.text();
}

inline const std::string kUuid = "9c12d441-03fe-4693-9a96-a0705ddf69c1";
inline const std::string kQuotedUuid = '"' + kUuid + '"';

/// A field of a schema: "long", optional, but for what is given.
inline Document field(int id, const std::string& name, const std::string& type = R"("long")") {
  return {{"id", std::to_string(id)},
          {"name", '"' + name + '"'},
          {"required", "false"},
          {"type", type}};
}
inline Document schema(const std::string& fields, int id = 0) {
  return {
      {"type", R"("struct")"}, {"schema-id", std::to_string(id)}, {"fields", '[' + fields + ']'}};
}

/// The smallest table of format 1 that is valid, as its first writers made them.
inline Document v1() {
  return {{"format-version", "1"},
          {"location", R"("s3://b/t")"},
          {"last-updated-ms", "1700000000000"},
          {"last-column-id", "1"},
          {"schema", schema(field(1, "x").text()).text()},
          {"partition-spec", "[]"}};
}
/// The smallest of format 2: one column, no snapshot.
inline Document v2() {
  return {{"format-version", "2"},
          {"table-uuid", kQuotedUuid},
          {"location", R"("s3://b/t")"},
          {"last-sequence-number", "9"},
          {"last-updated-ms", "1700000000000"},
          {"last-column-id", "1"},
          {"schemas", '[' + schema(field(1, "x").text()).text() + ']'},
          {"current-schema-id", "0"},
          {"partition-specs", R"([{"spec-id":0,"fields":[]}])"},
          {"default-spec-id", "0"},
          {"last-partition-id", "999"},
          {"sort-orders", R"([{"order-id":0,"fields":[]}])"},
          {"default-sort-order-id", "0"}};
}
inline Document v3() {
  return v2().with("format-version", "3").with("next-row-id", "0");
}
inline Document view() {
  return {
      {"view-uuid", kQuotedUuid},
      {"format-version", "1"},
      {"location", R"("s3://b/v")"},
      {"current-version-id", "1"},
      {"schemas", '[' + schema(field(1, "x").text()).text() + ']'},
      {"versions", R"([{"version-id":1,"schema-id":0,"timestamp-ms":1700000000000,"summary":{},)"
                   R"("representations":[{"type":"sql","sql":"SELECT 1 x","dialect":"spark"}],)"
                   R"("default-namespace":["n"]}])"},
      {"version-log", R"([{"timestamp-ms":1700000000000,"version-id":1}])"}};
}

inline Document snapshot(const std::string& id) {
  return {{"snapshot-id", id},
          {"sequence-number", "1"},
          {"timestamp-ms", "1700000000000"},
          {"summary", R"({"operation":"append"})"},
          {"manifest-list", "\"s3://b/t/m" + id + ".avro\""}};
}
/// With one snapshot, which is the current one.
inline Document with_snapshot(const Document& table, const Document& of) {
  return table.with("snapshots", '[' + of.text() + ']');
}
inline Document with_schema(const Document& table, const std::string& fields) {
  return table.with("schemas", '[' + schema(fields).text() + ']');
}

inline std::string gzipped(std::string_view text, int level = 6) {
  auto* const compressor = libdeflate_alloc_compressor(level);
  std::string out(libdeflate_gzip_compress_bound(compressor, text.size()), '\0');
  out.resize(
      libdeflate_gzip_compress(compressor, text.data(), text.size(), out.data(), out.size()));
  libdeflate_free_compressor(compressor);
  return out;
}

// ---- What the parser says.

inline auto load(std::string_view text, const MetadataLimits& limits = {}) {
  return parse_table_metadata(ByteBuffer(text), limits);
}
inline auto load(const Document& document, const MetadataLimits& limits = {}) {
  return load(document.text(), limits);
}

/// "path: what", or "what" alone where it is about the whole document.
inline std::vector<std::string> problems_of(std::string_view text,
                                            const MetadataLimits& limits = {}) {
  const auto problems = check_metadata(ByteBuffer(text), limits);
  if (!problems) return {problems.error().message()};
  std::vector<std::string> lines;
  for (const auto& [path, what] : *problems)
    lines.push_back(path.empty() ? what : path + ": " + what);
  return lines;
}
inline std::vector<std::string> problems_of(const Document& document) {
  return problems_of(document.text());
}

/// "kind: message" of the load; "accepted" where it succeeds.
inline std::string error_of(std::string_view text, const MetadataLimits& limits = {}) {
  const auto loaded = parse_metadata(ByteBuffer(text), limits);
  return loaded ? "accepted"
                : std::string(to_string(loaded.error().kind())) + ": " + loaded.error().message();
}
inline std::string error_of(const Document& document) {
  return error_of(document.text());
}

/// Loaded, and nothing of it is wrong when all of it is looked at.
MATCHER(IsAccepted, "") {
  const auto problems = problems_of(arg);
  *result_listener << error_of(arg) << "; " << ::testing::PrintToString(problems);
  return problems.empty() && error_of(arg) == "accepted";
}
/// Refused by the load and by the check, which both say exactly that of that field.
MATCHER_P2(IsRefused, path, what, "") {
  const std::string line = std::string(path) + ": " + what;
  const auto problems = problems_of(arg);
  *result_listener << error_of(arg) << "; " << ::testing::PrintToString(problems);
  return error_of(arg) == "corrupt: " + line && problems == std::vector{line};
}
/// A fault that shows when what was raw is looked at: loaded, and found by the check.
MATCHER_P2(HasDeepFault, path, what, "") {
  const auto problems = problems_of(arg);
  *result_listener << error_of(arg) << "; " << ::testing::PrintToString(problems);
  return error_of(arg) == "accepted" &&
         problems == std::vector{std::string(path) + ": " + std::string(what)};
}

}  // namespace iceblink::iceberg::testing
