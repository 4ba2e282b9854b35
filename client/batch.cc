#include <iceblink/batch.h>

#include "client/wire.h"

namespace iceblink {
namespace {

using client::append_json_names;
using client::append_json_string;

void append_ident(std::string& out, const TableIdent& ident) {
  out += R"("namespace":)";
  append_json_names(out, ident.levels);
  out += R"(,"name":)";
  append_json_string(out, ident.name);
}

void append_verification(std::string& out, RegisterOptions::Verification verification) {
  if (verification == RegisterOptions::Verification::kUnverified) out += R"(,"unverified":true)";
}

}  // namespace

Batch& Batch::create_namespace(const Namespace& levels, const Properties& properties) {
  lines_ += R"({"op":"create-namespace","namespace":)";
  append_json_names(lines_, levels);
  lines_ += R"(,"properties":)";
  client::append_json_properties(lines_, properties);
  lines_ += "}\n";
  return *this;
}

Batch& Batch::drop_namespace(const Namespace& levels) {
  lines_ += R"({"op":"drop-namespace","namespace":)";
  append_json_names(lines_, levels);
  lines_ += "}\n";
  return *this;
}

Batch& Batch::register_table(const TableIdent& ident, std::string_view metadata_location,
                             RegisterOptions options) {
  lines_ += R"({"op":"register",)";
  append_ident(lines_, ident);
  lines_ += R"(,"metadata-location":)";
  append_json_string(lines_, metadata_location);
  if (options.if_exists == RegisterOptions::IfExists::kOverwrite) {
    lines_ += R"(,"overwrite":true)";
  }
  append_verification(lines_, options.verification);
  lines_ += "}\n";
  return *this;
}

Batch& Batch::move_table(const TableIdent& ident, std::string_view expected_location,
                         std::string_view new_location,
                         RegisterOptions::Verification verification) {
  lines_ += R"({"op":"register",)";
  append_ident(lines_, ident);
  lines_ += R"(,"metadata-location":)";
  append_json_string(lines_, new_location);
  lines_ += R"(,"expect":)";
  append_json_string(lines_, expected_location);
  append_verification(lines_, verification);
  lines_ += "}\n";
  return *this;
}

Batch& Batch::drop_table(const TableIdent& ident) {
  lines_ += R"({"op":"drop",)";
  append_ident(lines_, ident);
  lines_ += "}\n";
  return *this;
}

Batch& Batch::rename_table(const TableIdent& from, const TableIdent& to) {
  lines_ += R"({"op":"rename","source":{)";
  append_ident(lines_, from);
  lines_ += R"(},"destination":{)";
  append_ident(lines_, to);
  lines_ += "}}\n";
  return *this;
}

Batch& Batch::append_json_lines(std::string_view lines) {
  lines_ += lines;
  if (!lines_.empty() && lines_.back() != '\n') lines_ += '\n';
  return *this;
}

}  // namespace iceblink
