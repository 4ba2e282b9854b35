#include "daemon/http/table_register.h"

#include <utility>

#include "daemon/http/json_body.h"
#include "daemon/http/metadata_document.h"
#include "shm/layout.h"

namespace iceblink::daemon::http {

Result<RegisterRequest> register_request_of(const boost::json::object& body, TableIdent ident) {
  RegisterRequest request;
  RegisterTable& operation = request.operation;
  operation.ident = std::move(ident);
  ICEBLINK_ASSIGN_OR_RETURN(operation.row.location, required_string(body, "metadata-location"));
  const std::size_t bytes = operation.row.location.size();
  if (bytes == 0 || bytes > shm::kLocationBytesMax) {
    return {ErrorKind::kInvalidArgument, "'metadata-location' has " + std::to_string(bytes) +
                                             " bytes, it must have 1 to " +
                                             std::to_string(shm::kLocationBytesMax)};
  }
  ICEBLINK_ASSIGN_OR_RETURN(operation.expect, optional_string(body, "expect"));
  ICEBLINK_ASSIGN_OR_RETURN(const bool overwrite, optional_flag(body, "overwrite"));
  ICEBLINK_ASSIGN_OR_RETURN(const bool unverified, optional_flag(body, "unverified"));
  if (overwrite || operation.expect) operation.if_exists = RegisterTable::IfExists::kOverwrite;
  if (unverified) request.verification = Verification::kNone;
  return request;
}

Result<std::string> verify_and_fill(RegisterTable& operation) {
  auto document = describe_document(operation.row.location);
  if (document) {
    operation.row = std::move(document->row);
    return std::move(document->text);
  }
  // Of the file; 413 would speak of the request.
  if (document.error().kind() == ErrorKind::kTooLarge) {
    return {ErrorKind::kInvalidArgument, document.error().message()};
  }
  return document.error();
}

}  // namespace iceblink::daemon::http
