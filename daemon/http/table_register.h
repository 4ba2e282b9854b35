// What `register` asks for, over REST and in a batch, and what the file it names says.
#pragma once

#include <iceblink/result.h>

#include <boost/json/object.hpp>
#include <cstdint>
#include <string>

#include "daemon/metadata_file.h"
#include "daemon/operation.h"

namespace iceblink::daemon::http {

/// Whether the metadata file is read before its pointer is set.
enum class Verification : std::uint8_t { kReadFile, kNone };

struct RegisterRequest {
  Register operation;  // the row holds the location only
  Verification verification = Verification::kReadFile;
};

/// Members: metadata-location, overwrite, expect (implies overwrite), unverified.
[[nodiscard]] Result<RegisterRequest> register_request_of(const boost::json::object& body,
                                                          TableIdent ident);

/// Members: metadata-location. The file of a view is always read.
[[nodiscard]] Result<RegisterRequest> view_register_request_of(const boost::json::object& body,
                                                               TableIdent ident);

/// Reads the metadata file and fills in the row. Returns the document: inflated, without a BOM.
/// kNotFound: no such file. kInvalidArgument: the file cannot be read or is not metadata of its
/// kind, and why. kNotAllowed, kUnsupported; kBusy: out of descriptors or memory. No other kind:
/// nothing was done, and no client may doubt it.
[[nodiscard]] Result<std::string> verify_and_fill(Register& operation,
                                                  const MetadataFileRules& rules);

/// Whether the row may be stored without a look at its file. kNotAllowed, kInvalidArgument: its
/// location is not below the read roots, where there are any.
[[nodiscard]] Status admit_unread(const Register& operation, const MetadataFileRules& rules);

}  // namespace iceblink::daemon::http
