#include "daemon/http/metadata_document.h"

#include <span>
#include <utility>

#include "daemon/metadata_file.h"
#include "iceberg/fingerprint.h"
#include "iceberg/metadata_text.h"

namespace iceblink::daemon::http {
namespace {

// Without a copy when the file is plain text already.
Result<std::string> text_of(std::string bytes, const std::string& location) {
  const auto text = iceberg::MetadataText::of(std::as_bytes(std::span(bytes)));
  if (!text) return {text.error().kind(), location + ": " + text.error().message()};
  const std::string_view view = text->view();
  if (view.data() == bytes.data() && view.size() == bytes.size()) return bytes;
  return std::string(view);
}

}  // namespace

Result<MetadataDocument> describe_document(const std::string& location) {
  ICEBLINK_ASSIGN_OR_RETURN(DescribedFile file, describe_metadata_file(location));
  if (file.is_view) {
    return {ErrorKind::kInvalidArgument, location + ": the metadata of a view, not of a table"};
  }
  MetadataDocument document;
  document.row = std::move(file.row);
  ICEBLINK_ASSIGN_OR_RETURN(document.text, text_of(std::move(file.bytes), location));
  return document;
}

Result<std::string> read_document(const TableRow& row) {
  if (row.metadata_fingerprint == shm::Id{}) {
    ICEBLINK_ASSIGN_OR_RETURN(MetadataDocument document, describe_document(row.location));
    return std::move(document.text);
  }
  ICEBLINK_ASSIGN_OR_RETURN(std::string bytes, read_metadata_file(row.location));
  if (iceberg::fingerprint_of(std::as_bytes(std::span(bytes))) != row.metadata_fingerprint) {
    return {ErrorKind::kCorrupt,
            "metadata file was changed in place since it was registered: " + row.location};
  }
  return text_of(std::move(bytes), row.location);
}

}  // namespace iceblink::daemon::http
