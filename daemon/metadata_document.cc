#include "daemon/metadata_document.h"

#include <span>
#include <utility>

#include "daemon/cached_file.h"
#include "iceberg/fingerprint.h"
#include "iceberg/metadata_text.h"

namespace iceblink::daemon {
namespace {

/// Copied and hashed in some 20 microseconds.
constexpr std::size_t kAtOnceBytesMax = 128 * 1024;
constexpr char kGzipMagic = '\x1f';

// Without a copy when the file is plain text already.
Result<std::string> text_of(std::string bytes, const std::string& location,
                            std::size_t inflated_bytes_max) {
  const auto text = iceberg::MetadataText::of(std::as_bytes(std::span(bytes)), inflated_bytes_max);
  if (!text) return {text.error().kind(), location + ": " + text.error().message()};
  const std::string_view view = text->view();
  if (view.data() == bytes.data() && view.size() == bytes.size()) return bytes;
  return std::string(view);
}

}  // namespace

Result<MetadataDocument> describe_document(const std::string& location,
                                           const MetadataFileRules& rules, ObjectKind kind) {
  ICEBLINK_ASSIGN_OR_RETURN(DescribedFile file, describe_metadata_file(location, rules));
  if (file.is_view != (kind == ObjectKind::kView)) {
    return {ErrorKind::kInvalidArgument,
            location + (file.is_view ? ": the metadata of a view, not of a table"
                                     : ": the metadata of a table, not of a view")};
  }
  MetadataDocument document;
  document.row = std::move(file.row);
  ICEBLINK_ASSIGN_OR_RETURN(document.text,
                            text_of(std::move(file.bytes), location, rules.inflated_bytes_max));
  return document;
}

Result<std::string> read_document(const TableRow& row, const MetadataFileRules& rules,
                                  ObjectKind kind) {
  if (row.metadata_fingerprint == shm::Id{}) {
    ICEBLINK_ASSIGN_OR_RETURN(MetadataDocument document,
                              describe_document(row.location, rules, kind));
    return std::move(document.text);
  }
  ICEBLINK_ASSIGN_OR_RETURN(std::string bytes, read_metadata_file(row.location, rules));
  if (iceberg::fingerprint_of(std::as_bytes(std::span(bytes))) != row.metadata_fingerprint) {
    return {ErrorKind::kCorrupt,
            "metadata file was changed in place since it was registered: " + row.location};
  }
  return text_of(std::move(bytes), row.location, rules.inflated_bytes_max);
}

std::shared_ptr<const std::string> read_document_at_once(const TableRow& row,
                                                         const MetadataFileRules& rules,
                                                         DocumentCache& cache) {
  if (row.metadata_fingerprint == shm::Id{}) return nullptr;
  const auto place = rules.read_roots.find(row.location, rules.map);
  if (!place) return nullptr;
  const auto file = CachedFile::find(*place, rules.own_files);
  if (!file) return nullptr;
  const auto stamp = FileStamp::of(file->status());
  if (auto kept = cache.find(row.metadata_fingerprint, stamp)) return kept;
  auto bytes = file->read(kAtOnceBytesMax);
  if (!bytes || bytes->front() == kGzipMagic) return nullptr;
  if (iceberg::fingerprint_of(std::as_bytes(std::span(*bytes))) != row.metadata_fingerprint) {
    return nullptr;
  }
  auto text = text_of(std::move(*bytes), row.location, kAtOnceBytesMax);
  if (!text) return nullptr;
  auto read = std::make_shared<const std::string>(std::move(*text));
  cache.keep(row.metadata_fingerprint, stamp, read);
  return read;
}

}  // namespace iceblink::daemon
