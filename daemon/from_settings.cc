#include "daemon/from_settings.h"

#include <sys/stat.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "daemon/data_dir.h"
#include "daemon/log_event.h"
#include "daemon/warehouse_group.h"

namespace iceblink::daemon {

std::string default_warehouse_of(const Settings& settings) {
  return std::filesystem::absolute(settings.data_dir).lexically_normal() / "warehouse";
}

Settings with_warehouse(Settings settings) {
  if (settings.warehouse.empty() && !settings.data_dir.empty()) {
    settings.warehouse = default_warehouse_of(settings);
  }
  return settings;
}

Result<std::shared_ptr<const http::AccessPolicy>> access_of(const Settings& settings) {
  ICEBLINK_ASSIGN_OR_RETURN(auto policy, http::AccessPolicy::of(settings));
  return std::shared_ptr<const http::AccessPolicy>(
      std::make_shared<http::AccessPolicy>(std::move(policy)));
}

Result<std::shared_ptr<const http::TlsContext>> tls_of(const Settings& settings) {
  std::shared_ptr<const http::TlsContext> made;
  if (settings.tls_certificate_file.empty()) return made;
  ICEBLINK_ASSIGN_OR_RETURN(
      auto context, http::TlsContext::of(settings.tls_certificate_file, settings.tls_key_file));
  made = std::make_shared<http::TlsContext>(std::move(context));
  return made;
}

void warn_unless_guarded(const Settings& settings, const http::AccessPolicy& access) {
  if (settings.listen.empty() || access.token) return;
  log_event(level::warn, "TCP is served without a token to every process of this host",
            {{"listen", settings.listen}});
}

// What it writes it reads.
Result<ReadRoots> read_roots_of(const Settings& settings, const iceberg::LocationMap& map) {
  if (settings.read_roots.empty()) return ReadRoots();
  auto roots = settings.read_roots;
  if (!settings.write_roots.empty()) {
    roots.insert(roots.end(), settings.write_roots.begin(), settings.write_roots.end());
  } else if (WriteRoots::of({settings.warehouse}, map)) {
    roots.push_back(settings.warehouse);
  }
  return ReadRoots::of(roots, map);
}

http::ConnectionLimits connection_limits_of(const Settings& settings) {
  http::ConnectionLimits limits;
  limits.body_bytes_max = settings.body_bytes_max;
  limits.idle_timeout = settings.idle_timeout;
  limits.request_timeout = settings.request_timeout;
  limits.write_timeout = settings.write_timeout;
  return limits;
}

void make_default_warehouse(const Settings& settings, const WriteRoots& roots) {
  if (!settings.write_roots.empty() || settings.warehouse != default_warehouse_of(settings)) return;
  if (const Status status = roots.make_roots(); !status) {
    log_event(level::warn, "warehouse not made", {{"message", status.error().message()}});
  }
}

std::vector<FileIdentity> own_files_of(const Settings& settings) {
  const std::string store_dir = store_dir_of(settings.data_dir);
  std::vector<FileIdentity> files;
  for (const char* const name : {"data.mdb", "lock.mdb"}) {
    struct stat status {};
    if (::stat((store_dir + "/" + name).c_str(), &status) == 0) {
      files.push_back(FileIdentity::of(status));
    }
  }
  return files;
}

// A warehouse of another scheme is one that this daemon cannot write to, which is no reason not to
// serve what is registered.
Result<WriteRoots> write_roots_of(const Settings& settings, const iceberg::LocationMap& map) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto group, warehouse_group(settings.warehouse_group));
  auto roots = settings.write_roots.empty() ? WriteRoots::of({settings.warehouse}, map, group)
                                            : WriteRoots::of(settings.write_roots, map, group);
  if (!roots && !settings.write_roots.empty()) return roots;
  if (!roots) {
    log_event(level::warn, "warehouse not writable", {{"message", roots.error().message()}});
    return WriteRoots::of({}, map);
  }
  ICEBLINK_RETURN_IF_ERROR(
      roots->keep_out_of(OwnDirectories(settings.data_dir, settings.runtime_dir)));
  return roots;
}

Status check_write_roots(const Settings& settings) {
  ICEBLINK_ASSIGN_OR_RETURN(const auto map, iceberg::LocationMap::of(settings.location_prefixes));
  auto roots = WriteRoots::of(
      settings.write_roots.empty() ? std::vector{settings.warehouse} : settings.write_roots, map);
  if (!roots) return settings.write_roots.empty() ? Status(Ok{}) : Status(roots.error());
  return roots->keep_out_of(OwnDirectories(settings.data_dir, settings.runtime_dir));
}

}  // namespace iceblink::daemon
