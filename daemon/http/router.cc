#include "daemon/http/router.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "daemon/http/access_policy.h"
#include "daemon/http/error_body.h"
#include "daemon/http/idempotency.h"
#include "daemon/http/resources.h"

namespace iceblink::daemon::http {
namespace {

struct Route {
  Verb verb;
  std::string_view pattern;
  Handler handler;
};

constexpr std::string_view kRestRoot = "/v1/";

constexpr Route kRoutes[] = {
    {Verb::kHead, "/v1/namespaces/{namespace}/tables/{table}", table_exists},
    {Verb::kGet, "/v1/namespaces/{namespace}/tables/{table}", load_table},
    {Verb::kDelete, "/v1/namespaces/{namespace}/tables/{table}", drop_table},
    {Verb::kPost, "/v1/namespaces/{namespace}/tables/{table}", commit_table},
    {Verb::kPost, "/v1/namespaces/{namespace}/tables/{table}/metrics", report_metrics},
    {Verb::kPost, "/v1/namespaces/{namespace}/tables/{table}/unregister", unregister_table},
    {Verb::kGet, "/v1/namespaces/{namespace}/tables", list_tables},
    {Verb::kPost, "/v1/namespaces/{namespace}/tables", create_table},
    {Verb::kPost, "/v1/namespaces/{namespace}/register", register_table},
    {Verb::kPost, "/v1/tables/rename", rename_table},
    {Verb::kPost, "/v1/transactions/commit", commit_transaction},
    {Verb::kHead, "/v1/namespaces/{namespace}/views/{view}", view_exists},
    {Verb::kGet, "/v1/namespaces/{namespace}/views/{view}", load_view},
    {Verb::kPost, "/v1/namespaces/{namespace}/views/{view}", commit_view},
    {Verb::kDelete, "/v1/namespaces/{namespace}/views/{view}", drop_view},
    {Verb::kGet, "/v1/namespaces/{namespace}/views", list_views},
    {Verb::kPost, "/v1/namespaces/{namespace}/views", create_view},
    {Verb::kPost, "/v1/namespaces/{namespace}/register-view", register_view},
    {Verb::kPost, "/v1/views/rename", rename_view},
    {Verb::kGet, "/v1/namespaces", list_namespaces},
    {Verb::kPost, "/v1/namespaces", create_namespace},
    {Verb::kGet, "/v1/namespaces/{namespace}", load_namespace},
    {Verb::kHead, "/v1/namespaces/{namespace}", namespace_exists},
    {Verb::kDelete, "/v1/namespaces/{namespace}", drop_namespace},
    {Verb::kPost, "/v1/namespaces/{namespace}/properties", update_properties},
    {Verb::kGet, "/v1/config", get_config},
    {Verb::kPost, "/iceblink/v1/batch", apply_batch},
    {Verb::kPost, "/iceblink/v1/backup", make_backup},
    {Verb::kGet, "/iceblink/v1/changes", list_changes},
    {Verb::kGet, "/iceblink/v1/objects", list_object_rows},
    {Verb::kGet, "/healthz", healthz},
    {Verb::kGet, "/readyz", readyz},
    {Verb::kGet, "/metrics", metrics},
};

/// What a caller must be allowed to do: decided here for every route, so that no handler forgets
/// it.
constexpr Access access_needed(const Route& route) {
  if (route.handler == healthz || route.handler == readyz) return Access::kNone;
  const bool reads = route.verb == Verb::kGet || route.verb == Verb::kHead;
  return reads || route.handler == report_metrics ? Access::kRead : Access::kWrite;
}

struct CompiledRoute {
  const Route* route;
  std::vector<std::string_view> segments;
};

const std::vector<CompiledRoute>& compiled_routes() {
  static const std::vector<CompiledRoute> routes = [] {
    std::vector<CompiledRoute> out;
    for (const Route& route : kRoutes) {
      out.push_back({&route, split_target(route.pattern).value().segments});
    }
    return out;
  }();
  return routes;
}

std::optional<RawNames> match(const CompiledRoute& compiled, const Target& target) {
  if (compiled.segments.size() != target.segments.size()) return std::nullopt;
  RawNames names;
  for (std::size_t i = 0; i < target.segments.size(); ++i) {
    if (compiled.segments[i] == "{namespace}") {
      names.levels = target.segments[i];
    } else if (compiled.segments[i] == "{table}" || compiled.segments[i] == "{view}") {
      names.name = target.segments[i];
    } else if (compiled.segments[i] != target.segments[i]) {
      return std::nullopt;
    }
  }
  return names;
}

// An answer under a key is stored, which who may only read must not bring about.
bool takes_key(const Route& route) {
  return (route.verb == Verb::kPost || route.verb == Verb::kDelete) &&
         route.pattern.starts_with(kRestRoot) && access_needed(route) == Access::kWrite;
}

struct Match {
  Handler handler = nullptr;
  bool takes_key = false;        // an Idempotency-Key
  Access needs = Access::kRead;  // where there is no such route, too
  RawNames names;
  std::vector<Verb> verbs;  // served on this path
};

Match find_route(Verb verb, const Target& target) {
  Match found;
  const Route* get_route = nullptr;
  for (const CompiledRoute& compiled : compiled_routes()) {
    const auto names = match(compiled, target);
    if (!names) continue;
    found.names = *names;
    if (compiled.route->verb == verb) {
      found.handler = compiled.route->handler;
      found.takes_key = takes_key(*compiled.route);
      found.needs = access_needed(*compiled.route);
      return found;
    }
    if (compiled.route->verb == Verb::kGet) get_route = compiled.route;
    found.verbs.push_back(compiled.route->verb);
  }
  if (verb == Verb::kHead && get_route != nullptr) {
    found.handler = get_route->handler;
    found.needs = access_needed(*get_route);
  }
  return found;
}

std::string allow_of(std::vector<Verb> verbs) {
  const auto has = [&](Verb verb) {
    return std::find(verbs.begin(), verbs.end(), verb) != verbs.end();
  };
  if (has(Verb::kGet) && !has(Verb::kHead)) verbs.push_back(Verb::kHead);
  std::sort(verbs.begin(), verbs.end());
  std::string allow;
  for (const Verb verb : verbs) {
    if (!allow.empty()) allow += ", ";
    allow += to_string(verb);
  }
  return allow;
}

void route(const ExchangePtr& exchange) {
  const Request& request = exchange->request();
  auto target = split_target(request.target);
  Match found = target ? find_route(request.verb, *target) : Match{};
  if (const auto refused = refusal_of(exchange->caller(), found.needs)) {
    return exchange->answer(error_response(refused->error, refused->message));
  }
  if (!target) {
    exchange->answer(error_response({400, "BadRequestException"}, target.error().message()));
    return;
  }
  if (found.handler != nullptr) {
    exchange->set_target(std::move(*target), found.names);
    if (found.takes_key && request.idempotency_key) {
      return handle_under_key(exchange, found.handler);
    }
    return found.handler(exchange);
  }
  const std::string what = request.method + " " + std::string(path_of(request.target));
  if (found.verbs.empty()) {
    exchange->answer(
        error_response({404, "NoSuchEndpointException"}, "No route for request: " + what));
    return;
  }
  Response response =
      error_response({405, "MethodNotAllowedException"}, "This path does not serve: " + what);
  response.allow = allow_of(std::move(found.verbs));
  exchange->answer(std::move(response));
}

}  // namespace

void dispatch(const ExchangePtr& exchange) noexcept {
  exchange->guard([&] { route(exchange); });
}

const std::vector<std::string>& served_endpoints() {
  static const std::vector<std::string> endpoints = [] {
    std::vector<std::string> out;
    for (const Route& served : kRoutes) {
      if (!served.pattern.starts_with(kRestRoot) || served.handler == get_config) continue;
      out.push_back(std::string(to_string(served.verb)) + " /v1/{prefix}/" +
                    std::string(served.pattern.substr(kRestRoot.size())));
    }
    return out;
  }();
  return endpoints;
}

}  // namespace iceblink::daemon::http
