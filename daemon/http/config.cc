#include "daemon/http/error_body.h"
#include "daemon/http/idempotency.h"
#include "daemon/http/json_body.h"
#include "daemon/http/resources.h"
#include "daemon/http/router.h"

namespace iceblink::daemon::http {
namespace {

std::string_view without_slash(std::string_view uri) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  return uri;
}

bool is_ours(const Services& services, const std::string& warehouse) {
  if (warehouse.empty() || warehouse == services.instance_name) return true;
  return !services.warehouse.empty() &&
         without_slash(warehouse) == without_slash(services.warehouse);
}

}  // namespace

void get_config(const ExchangePtr& exchange) {
  const auto warehouse = exchange->query("warehouse");
  if (!warehouse) return exchange->answer(error_response(warehouse.error()));
  if (!is_ours(exchange->services(), warehouse->value_or(""))) {
    return exchange->answer(error_response({404, "NoSuchWarehouseException"},
                                           "Warehouse does not exist: " + **warehouse));
  }
  std::string body = R"({"defaults":{},"overrides":{"namespace-separator":)";
  append_json_string(body, exchange->services().namespace_separator);
  body += R"(},"idempotency-key-lifetime":)";
  append_json_string(body, duration_text(exchange->services().idempotency_lifetime));
  body += R"(,"endpoints":[)";
  bool first = true;
  for (const std::string& endpoint : served_endpoints()) {
    if (!first) body += ',';
    first = false;
    append_json_string(body, endpoint);
  }
  body += "]}";
  exchange->answer(json_response(std::move(body)));
}

}  // namespace iceblink::daemon::http
