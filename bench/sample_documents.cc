#include "bench/sample_documents.h"

#include <filesystem>
#include <fstream>
#include <span>
#include <utility>

#include "iceberg/fingerprint.h"

namespace iceblink::bench {

std::string sample_document(std::size_t index) {
  return R"({"format-version":2,"table-uuid":"00000000-0000-4000-8000-000000000001",
    "location":"file:///w/t","last-sequence-number":0,"last-updated-ms":1700000000000,
    "last-column-id":1,"schemas":[{"type":"struct","schema-id":0,"fields":[
    {"id":1,"name":"a","required":true,"type":"long"}]}],"current-schema-id":0,
    "partition-specs":[{"spec-id":0,"fields":[]}],"default-spec-id":0,"last-partition-id":999,
    "sort-orders":[{"order-id":0,"fields":[]}],"default-sort-order-id":0,
    "properties":{"number":")" +
         std::to_string(index) + "\"}}";
}

DocumentSource::DocumentSource(SampleCatalog sample, std::string directory)
    : sample_(sample), directory_(std::move(directory)) {
  std::filesystem::create_directories(directory_);
  for (std::size_t i = 0; i < sample_.table_count(); ++i) {
    std::ofstream(location(i), std::ios::binary) << sample_document(i);
  }
}

Status DocumentSource::for_each(const std::function<Status(const shm::Change&)>& visit) const {
  const SampleSource names(sample_);
  std::size_t index = 0;  // tables come in their order
  return names.for_each([&](const shm::Change& change) {
    if (change.kind != shm::RecordKind::kTable) return visit(change);
    const std::string text = sample_document(index);
    const std::string file = location(index++);
    shm::Change moved = change;
    moved.location = file;
    moved.metadata_fingerprint =
        iceberg::fingerprint_of(std::as_bytes(std::span(text.data(), text.size())));
    return visit(moved);
  });
}

std::string DocumentSource::location(std::size_t index) const {
  return directory_ + "/" + std::to_string(index) + ".metadata.json";
}

}  // namespace iceblink::bench
