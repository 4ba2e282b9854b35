// Parts of the daemon as settings ask for them: what starting, reloading and --check-config have in
// common. Nothing is written.
//
// Thread safety: thread-safe.
#pragma once

#include <iceblink/result.h>

#include <memory>
#include <string>
#include <vector>

#include "daemon/file_identity.h"
#include "daemon/http/access_policy.h"
#include "daemon/http/connection.h"
#include "daemon/http/tls_context.h"
#include "daemon/read_roots.h"
#include "daemon/settings.h"
#include "daemon/write_roots.h"
#include "iceberg/location_map.h"

namespace iceblink::daemon {

[[nodiscard]] std::string default_warehouse_of(const Settings& settings);
/// The warehouse, where none is given, is a directory of our own.
[[nodiscard]] Settings with_warehouse(Settings settings);

/// Errors of AccessPolicy::of.
[[nodiscard]] Result<std::shared_ptr<const http::AccessPolicy>> access_of(const Settings& settings);
/// Logs when everything is served over TCP to whoever connects.
void warn_unless_guarded(const Settings& settings, const http::AccessPolicy& access);

/// nullptr: without. Errors of TlsContext::of.
[[nodiscard]] Result<std::shared_ptr<const http::TlsContext>> tls_of(const Settings& settings);

[[nodiscard]] http::ConnectionLimits connection_limits_of(const Settings& settings);

/// Makes the default warehouse, if that is what is written to: engines find it there. Others may be
/// mounted later. Where that fails: a line of the log.
void make_default_warehouse(const Settings& settings, const WriteRoots& roots);

/// The store's, as far as they are there: never opened under another name.
[[nodiscard]] std::vector<FileIdentity> own_files_of(const Settings& settings);

/// The settings have a warehouse. Errors of ReadRoots::of.
[[nodiscard]] Result<ReadRoots> read_roots_of(const Settings& settings,
                                              const iceberg::LocationMap& map);
/// The settings have a warehouse. Errors of warehouse_group, of WriteRoots::keep_out_of, and of
/// WriteRoots::of if roots are given.
[[nodiscard]] Result<WriteRoots> write_roots_of(const Settings& settings,
                                                const iceberg::LocationMap& map);
/// What is wrong with them, before anything is made. Errors as above, and of LocationMap::of.
[[nodiscard]] Status check_write_roots(const Settings& settings);

}  // namespace iceblink::daemon
