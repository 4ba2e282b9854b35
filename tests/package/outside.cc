// Uses every part of the interface that needs no segment, and one that does.
#include <iceblink/catalog.h>

#include <cstdio>

int main() {
  const iceblink::TableIdent events{{"analytics", "web"}, "events"};
  iceblink::Batch batch;
  batch.create_namespace(events.levels).register_table(events, "s3://b/events.metadata.json");
  auto catalog = iceblink::Catalog::open("/nonexistent");
  if (catalog) {
    const auto location = catalog->resolve_location(events);
    const auto snapshot = catalog->snapshot();
    return location && snapshot && snapshot->find(events) && catalog->apply(batch) ? 1 : 2;
  }
  std::puts(catalog.error().message().c_str());
  return catalog.error().kind() == iceblink::ErrorKind::kNoSegment ? 0 : 3;
}
