#include "stress/requests.h"

namespace iceblink::stress::requests {
namespace {

std::string quoted(std::string_view text) {
  return '"' + std::string(text) + '"';  // names and locations of ours need no escapes
}

std::string named(const TableIdent& ident) {
  return R"("namespace":[)" + quoted(ident.levels.front()) + R"(],"name":)" + quoted(ident.name);
}

std::string changes(std::string_view value) {
  return R"("requirements":[],"updates":[{"action":"set-properties","updates":{"stress":)" +
         quoted(value) + "}}]";
}

}  // namespace

std::string register_line(const TableIdent& ident, std::string_view location,
                          std::string_view more) {
  return R"({"op":"register",)" + named(ident) + R"(,"metadata-location":)" + quoted(location) +
         R"(,"unverified":true)" + std::string(more) + "}\n";
}

std::string drop_line(const TableIdent& ident) {
  return R"({"op":"drop",)" + named(ident) + "}\n";
}

std::string create_namespace_line(std::string_view name) {
  return R"({"op":"create-namespace","namespace":[)" + quoted(name) + "]}\n";
}

std::string drop_namespace_line(std::string_view name) {
  return R"({"op":"drop-namespace","namespace":[)" + quoted(name) + "]}\n";
}

std::string creation(std::string_view table) {
  return R"({"name":)" + quoted(table) +
         R"(,"schema":{"type":"struct","schema-id":0,"fields":[)"
         R"({"id":1,"name":"x","required":false,"type":"long"}]},)"
         R"("properties":{"write.metadata.previous-versions-max":"3",)"
         R"("write.metadata.delete-after-commit.enabled":"true"}})";
}

std::string registration(std::string_view table, std::string_view location) {
  return R"({"name":)" + quoted(table) + R"(,"metadata-location":)" + quoted(location) +
         R"(,"unverified":true})";
}

std::string renaming(const TableIdent& from, const TableIdent& to) {
  return R"({"source":{)" + named(from) + R"(},"destination":{)" + named(to) + "}}";
}

std::string commit(std::string_view value) {
  return '{' + changes(value) + '}';
}

std::string transaction(const std::vector<TableIdent>& tables, std::string_view value) {
  std::string body = R"({"table-changes":[)";
  for (const TableIdent& table : tables) {
    if (&table != &tables.front()) body += ',';
    body += R"({"identifier":{)" + named(table) + "}," + changes(value) + '}';
  }
  return body + "]}";
}

}  // namespace iceblink::stress::requests
