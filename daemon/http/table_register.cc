#include "daemon/http/table_register.h"

#include <utility>

#include "daemon/http/json_body.h"
#include "daemon/metadata_document.h"
#include "daemon/stored_location.h"

namespace iceblink::daemon::http {
namespace {

// Nothing was done, and the client must be able to tell: no kind that becomes a 5xx. Nor
// kTooLarge, since 413 would speak of the request.
Error unreadable(const std::string& location, const Error& error) {
  switch (error.kind()) {
    case ErrorKind::kInvalidArgument:
    case ErrorKind::kNotFound:
    case ErrorKind::kNotAllowed:
    case ErrorKind::kUnsupported:
    case ErrorKind::kBusy:
      return error;
    case ErrorKind::kOutOfMemory:
      return {ErrorKind::kBusy, error.message()};
    case ErrorKind::kTooLarge:
      return {ErrorKind::kInvalidArgument, error.message()};
    default:
      return {ErrorKind::kInvalidArgument,
              "cannot read metadata file " + location + ": " + error.message()};
  }
}

}  // namespace

Result<RegisterRequest> register_request_of(const boost::json::object& body, TableIdent ident) {
  RegisterRequest request;
  Register& operation = request.operation;
  operation.ident = std::move(ident);
  ICEBLINK_ASSIGN_OR_RETURN(operation.row.location, required_string(body, "metadata-location"));
  ICEBLINK_RETURN_IF_ERROR(validate_location(operation.ident, operation.row.location));
  ICEBLINK_ASSIGN_OR_RETURN(operation.expect, optional_string(body, "expect"));
  ICEBLINK_ASSIGN_OR_RETURN(const bool overwrite, optional_flag(body, "overwrite"));
  ICEBLINK_ASSIGN_OR_RETURN(const bool unverified, optional_flag(body, "unverified"));
  if (overwrite || operation.expect) operation.if_exists = Register::IfExists::kOverwrite;
  if (unverified) request.verification = Verification::kNone;
  return request;
}

Result<RegisterRequest> view_register_request_of(const boost::json::object& body,
                                                 TableIdent ident) {
  RegisterRequest request;
  Register& operation = request.operation;
  operation.kind = ObjectKind::kView;
  operation.ident = std::move(ident);
  ICEBLINK_ASSIGN_OR_RETURN(operation.row.location, required_string(body, "metadata-location"));
  ICEBLINK_RETURN_IF_ERROR(validate_location(operation.ident, operation.row.location));
  return request;
}

Result<std::string> verify_and_fill(Register& operation, const MetadataFileRules& rules) {
  auto document = describe_document(operation.row.location, rules, operation.kind);
  if (document) {
    operation.row = std::move(document->row);
    return std::move(document->text);
  }
  return unreadable(operation.row.location, document.error());
}

Status admit_unread(const Register& operation, const MetadataFileRules& rules) {
  return rules.read_roots.admit(operation.row.location, rules.map);
}

}  // namespace iceblink::daemon::http
