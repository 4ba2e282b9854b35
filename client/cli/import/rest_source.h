// Another Iceberg REST catalog.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/cli/import/source.h"

namespace iceblink::cli {

struct RestOptions {
  std::string url;                        // http:// or https://, without /v1
  std::optional<std::string> token_file;  // a bearer token
  std::optional<std::string> warehouse;
  std::optional<std::string> ca_file;
};

/// Asks for the catalog's configuration; the rest is asked for as it is taken: namespaces from the
/// root down, their properties, their tables and views, and each one's metadata location.
///
/// What is busy (429, 503) is asked again, for a bounded time. Redirects are not followed: the
/// token is for this host. The token stands in no message. What cannot be loaded alone is
/// Unreadable. kInvalidArgument: the URL, or a token over http:// to another host; kNotAllowed,
/// kIo, kTimedOut, kIncompatible: not such a catalog.
[[nodiscard]] Result<std::unique_ptr<Source>> open_rest(const RestOptions& options);

}  // namespace iceblink::cli
