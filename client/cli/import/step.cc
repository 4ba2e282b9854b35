#include "client/cli/import/step.h"

#include "client/wire.h"

namespace iceblink::cli {

std::string describe(const FoundObject& object) {
  return (object.kind == ObjectKind::kView ? "view " : "table ") + format(object.ident);
}

std::string Step::name() const {
  return op == Op::kCreateNamespace ? "namespace " + format(space.levels) : describe(object);
}

void Step::append_line(std::string& lines) const {
  if (op == Op::kCreateNamespace) {
    lines += R"({"op":"create-namespace","namespace":)";
    client::append_json_names(lines, space.levels);
    lines += R"(,"properties":)";
    client::append_json_properties(lines, space.properties);
    lines += "}\n";
    return;
  }
  lines += R"({"op":"register","namespace":)";
  client::append_json_names(lines, object.ident.levels);
  lines += R"(,"name":)";
  client::append_json_string(lines, object.ident.name);
  lines += R"(,"metadata-location":)";
  client::append_json_string(lines, object.metadata_location);
  if (op == Op::kMove) {
    lines += R"(,"expect":)";
    client::append_json_string(lines, expected);
  }
  if (!is_verified) lines += R"(,"unverified":true)";
  if (object.kind == ObjectKind::kView) lines += R"(,"kind":"view")";
  lines += "}\n";
}

}  // namespace iceblink::cli
