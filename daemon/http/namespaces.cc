#include "daemon/http/error_body.h"
#include "daemon/http/json_body.h"
#include "daemon/http/paging.h"
#include "daemon/http/path_names.h"
#include "daemon/http/resources.h"
#include "daemon/refusals.h"

namespace iceblink::daemon::http {
namespace {

/// A namespace that the path names, in a state it was looked up in.
struct FoundNamespace {
  Namespace levels;
  std::optional<Properties> properties;
};

Result<FoundNamespace> find_path_namespace(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  FoundNamespace found;
  ICEBLINK_ASSIGN_OR_RETURN(found.levels,
                            exchange.resolve_namespace(*reading, exchange.names().levels));
  ICEBLINK_ASSIGN_OR_RETURN(found.properties, reading->find_namespace(found.levels));
  return found;
}

std::string namespace_body(const Namespace& levels, const Properties& properties) {
  std::string body = R"({"namespace":)";
  append_json_levels(body, levels);
  body += R"(,"properties":)";
  append_json_properties(body, properties);
  body += '}';
  return body;
}

void append_strings(std::string& body, std::string_view name,
                    const std::vector<std::string>& items) {
  append_json_string(body, name);
  body += ':';
  append_json_levels(body, items);
}

std::string change_body(const PropertiesChange& change) {
  std::string body = "{";
  append_strings(body, "updated", change.updated);
  body += ',';
  append_strings(body, "removed", change.removed);
  body += ',';
  append_strings(body, "missing", change.missing);
  body += '}';
  return body;
}

StoredAnswer remembered(std::string body) {
  StoredAnswer stored;
  stored.status = 200;
  stored.form = StoredAnswer::Form::kJson;
  stored.text = std::move(body);
  return stored;
}

Result<Response> list_children(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto reading, exchange.read());
  Namespace parent;
  if (const auto raw = exchange.raw_query("parent"); raw && !raw->empty()) {
    ICEBLINK_ASSIGN_OR_RETURN(parent,
                              exchange.resolve_namespace(*reading, *raw, NamePlace::kQuery));
    ICEBLINK_ASSIGN_OR_RETURN(const auto found, reading->find_namespace(parent));
    if (!found) return error_response(no_such_namespace(parent));
  }
  ICEBLINK_ASSIGN_OR_RETURN(const PageRequest asked,
                            page_request_of(exchange, Listing::kNamespaces, parent));
  ICEBLINK_ASSIGN_OR_RETURN(const auto page,
                            reading->list_namespaces(parent, asked.after, asked.limit));
  std::string body = R"({"namespaces":[)";
  for (const Namespace& levels : page.items) {
    if (&levels != &page.items.front()) body += ',';
    append_json_levels(body, levels);
  }
  body += ']';
  append_next_page_token(body, Listing::kNamespaces, parent, page.next_after);
  body += '}';
  return json_response(std::move(body));
}

Result<CreateNamespace> creation_of(const Request& request) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(request.body));
  CreateNamespace create;
  ICEBLINK_ASSIGN_OR_RETURN(create.levels, namespace_member(body));
  ICEBLINK_ASSIGN_OR_RETURN(create.properties, properties_member(body, "properties"));
  return create;
}

Result<UpdateProperties> update_of(Exchange& exchange) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto body, parse_object(exchange.request().body));
  UpdateProperties update;
  ICEBLINK_ASSIGN_OR_RETURN(update.removals, string_list(body, "removals"));
  ICEBLINK_ASSIGN_OR_RETURN(update.updates, properties_member(body, "updates"));
  ICEBLINK_ASSIGN_OR_RETURN(update.levels, path_namespace(exchange));
  return update;
}

}  // namespace

void list_namespaces(const ExchangePtr& exchange) {
  auto response = list_children(*exchange);
  exchange->answer(response ? std::move(*response) : error_response(response.error()));
}

void create_namespace(const ExchangePtr& exchange) {
  auto create = creation_of(exchange->request());
  if (!create) return exchange->answer(refusal_response(create.error()));
  const auto body =
      std::make_shared<const std::string>(namespace_body(create->levels, create->properties));
  exchange->commit(
      {std::move(*create)}, [body](const Committed&) { return json_response(*body); },
      [body](const Committed&) { return remembered(*body); });
}

void load_namespace(const ExchangePtr& exchange) {
  const auto found = find_path_namespace(*exchange);
  if (!found) return exchange->answer(error_response(found.error()));
  if (!found->properties) return exchange->answer(error_response(no_such_namespace(found->levels)));
  exchange->answer(json_response(namespace_body(found->levels, *found->properties)));
}

void namespace_exists(const ExchangePtr& exchange) {
  const auto found = find_path_namespace(*exchange);
  if (!found) return exchange->answer(error_response(found.error()));
  exchange->answer(found->properties ? Response{}
                                     : error_response(no_such_namespace(found->levels)));
}

void drop_namespace(const ExchangePtr& exchange) {
  auto levels = path_namespace(*exchange);
  if (!levels) return exchange->answer(refusal_response(levels.error()));
  exchange->commit({DropNamespace{std::move(*levels)}},
                   [](const Committed&) { return Response{}; });
}

void update_properties(const ExchangePtr& exchange) {
  auto update = update_of(*exchange);
  if (!update) return exchange->answer(refusal_response(update.error()));
  const auto body_of = [](const Committed& committed) {
    return change_body(committed.properties.value_or(PropertiesChange{}));
  };
  exchange->commit(
      {std::move(*update)},
      [body_of](const Committed& committed) { return json_response(body_of(committed)); },
      [body_of](const Committed& committed) { return remembered(body_of(committed)); });
}

}  // namespace iceblink::daemon::http
