#include "daemon/http/json_body.h"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "daemon/http/duplicate_key.h"
#include "iceberg/json_surrogates.h"
#include "iceberg/metadata_text.h"

namespace iceblink::daemon::http {
namespace {

namespace json = boost::json;

Error bad_member(std::string_view member, std::string_view expected) {
  return {ErrorKind::kInvalidArgument,
          "'" + std::string(member) + "' in the body must be " + std::string(expected)};
}

// Null counts as absent.
const json::value* find(const json::object& object, std::string_view member) {
  const json::value* value = object.if_contains(member);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Result<std::vector<std::string>> strings_of(const json::value& value, std::string_view member) {
  const json::array* array = value.if_array();
  if (array == nullptr) return bad_member(member, "a list of strings");
  std::vector<std::string> out;
  out.reserve(array->size());
  for (const json::value& item : *array) {
    const json::string* text = item.if_string();
    if (text == nullptr) return bad_member(member, "a list of strings");
    out.emplace_back(*text);
  }
  return out;
}

}  // namespace

Result<json::object> parse_object(std::string_view text, std::size_t depth_max) {
  text.remove_prefix(iceberg::bom_bytes_of(text));
  json::parse_options options;
  options.max_depth = depth_max;
  json::error_code error;
  json::value value = json::parse(text, error, {}, options);
  if (error == json::error::too_deep) {
    return {ErrorKind::kInvalidArgument,
            "the body is nested deeper than " + std::to_string(depth_max) + " levels"};
  }
  if (error) {
    return {ErrorKind::kInvalidArgument, "the body is not valid JSON: " + error.message()};
  }
  // Parsers differ in whether they refuse it: this one does not everywhere.
  if (const auto at = iceberg::find_half_surrogate(text)) {
    return {ErrorKind::kInvalidArgument,
            "the body is " + iceberg::half_surrogate_message(text, *at)};
  }
  if (!value.is_object()) return {ErrorKind::kInvalidArgument, "the body is not a JSON object"};
  if (const auto key = find_duplicate_key(text, depth_max)) {
    return {ErrorKind::kInvalidArgument, "'" + *key + "' stands twice in one object of the body"};
  }
  return std::move(value.get_object());
}

Result<std::string> required_string(const json::object& object, std::string_view member) {
  const json::value* value = find(object, member);
  if (value == nullptr || !value->is_string()) return bad_member(member, "a string");
  return std::string(value->get_string());
}

Result<std::optional<std::string>> optional_string(const json::object& object,
                                                   std::string_view member) {
  const json::value* value = find(object, member);
  if (value == nullptr) return std::optional<std::string>{};
  if (!value->is_string()) return bad_member(member, "a string");
  return std::optional<std::string>{std::string(value->get_string())};
}

Result<bool> optional_flag(const json::object& object, std::string_view member) {
  const json::value* value = find(object, member);
  if (value == nullptr) return false;
  if (!value->is_bool()) return bad_member(member, "true or false");
  return value->get_bool();
}

Result<std::vector<std::string>> string_list(const json::object& object, std::string_view member) {
  const json::value* value = find(object, member);
  if (value == nullptr) return std::vector<std::string>{};
  return strings_of(*value, member);
}

Result<Properties> properties_member(const json::object& object, std::string_view member) {
  const json::value* value = find(object, member);
  Properties out;
  if (value == nullptr) return out;
  if (!value->is_object()) return bad_member(member, "an object of strings");
  for (const auto& [key, item] : value->get_object()) {
    if (!item.is_string()) {
      return bad_member(std::string(member) + "." + std::string(key), "a string");
    }
    out.insert_or_assign(std::string(key), std::string(item.get_string()));
  }
  return out;
}

Result<Namespace> namespace_member(const json::object& object) {
  const json::value* value = find(object, "namespace");
  if (value == nullptr) return bad_member("namespace", "a list of strings");
  ICEBLINK_ASSIGN_OR_RETURN(Namespace levels, strings_of(*value, "namespace"));
  ICEBLINK_RETURN_IF_ERROR(validate(levels));
  return levels;
}

Result<TableIdent> table_ident_of(const json::object& object) {
  TableIdent ident;
  ICEBLINK_ASSIGN_OR_RETURN(ident.levels, namespace_member(object));
  ICEBLINK_ASSIGN_OR_RETURN(ident.name, required_string(object, "name"));
  ICEBLINK_RETURN_IF_ERROR(validate(ident));
  return ident;
}

Result<TableIdent> table_ident_member(const json::object& object, std::string_view member) {
  const json::value* value = find(object, member);
  if (value == nullptr || !value->is_object()) {
    return bad_member(member, "an object with 'namespace' and 'name'");
  }
  return table_ident_of(value->get_object());
}

void append_json_string(std::string& out, std::string_view text) {
  out += json::serialize(json::string_view(text));
}

void append_json_levels(std::string& out, const Namespace& levels) {
  out += '[';
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, levels[i]);
  }
  out += ']';
}

void append_json_properties(std::string& out, const Properties& properties) {
  out += '{';
  bool first = true;
  for (const auto& [key, value] : properties) {
    if (!first) out += ',';
    first = false;
    append_json_string(out, key);
    out += ':';
    append_json_string(out, value);
  }
  out += '}';
}

}  // namespace iceblink::daemon::http
