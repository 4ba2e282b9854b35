#include "iceberg/commit/schema_identity.h"

#include <algorithm>
#include <vector>

#include "iceberg/json_writer.h"
#include "iceberg/schema_writer.h"

namespace iceblink::iceberg {

std::string identity_of(Schema schema) {
  std::vector<std::int32_t> ids(schema.identifier_field_ids.begin(),
                                schema.identifier_field_ids.end());
  std::sort(ids.begin(), ids.end());
  schema.schema_id = 0;
  schema.identifier_field_ids = ids;
  JsonWriter json;
  write_schema(json, schema);
  return json.take();
}

}  // namespace iceblink::iceberg
