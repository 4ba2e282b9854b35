// The data directory, and systemd's unit of the instance.
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "client/cli/doctor/command_output.h"
#include "client/cli/doctor/gather.h"

namespace iceblink::cli {
namespace {

constexpr const char* kDefaultParent = "/var/lib/iceblink/";
constexpr std::chrono::milliseconds kSystemctlTimeout{2000};

struct FileSystemName {
  std::uint32_t magic;
  const char* name;
};
/// Those that the daemon refuses.
constexpr std::array kNetworks = {
    FileSystemName{0x6969, "NFS"},       FileSystemName{0x517b, "SMB"},
    FileSystemName{0xff534d42, "CIFS"},  FileSystemName{0xfe534d42, "SMB2"},
    FileSystemName{0x01021997, "9p"},    FileSystemName{0x00c36400, "Ceph"},
    FileSystemName{0x5346414f, "AFS"},   FileSystemName{0x73757245, "Coda"},
    FileSystemName{0x0bd00bd0, "Lustre"}};

/// What a daemon puts there, by its present layout and by the one before.
bool is_known(const std::string& name) {
  constexpr std::array kNames = {"lmdb", "warehouse", "data.mdb", "lock.mdb", "daemon.lock"};
  if (std::find(kNames.begin(), kNames.end(), name) != kNames.end()) return true;
  // A backup has a name for a moment, where a file cannot be without.
  constexpr std::string_view kBackup = "backup-";
  return name.starts_with(kBackup) && name.size() == kBackup.size() + 6;
}

std::optional<std::uint64_t> taken_bytes(const std::string& file) {
  struct stat status {};
  if (::lstat(file.c_str(), &status) != 0) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_blocks) * 512;
}

}  // namespace

std::string instance_of(const std::string& runtime_dir) {
  std::filesystem::path path = std::filesystem::path(runtime_dir).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.parent_path() == "/run/iceblink" ? path.filename().string() : "";
}

bool is_kept_store(std::string_view name) {
  constexpr std::string_view kShape = "lmdb.00000000T000000Z";
  if (name.size() < kShape.size()) return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == '0' ? !is_digit(name[i]) : name[i] != kShape[i]) return false;
  }
  const std::string_view again = name.substr(kShape.size());
  return again.empty() || (again.size() > 1 && again[0] == '-' &&
                           std::all_of(again.begin() + 1, again.end(), is_digit));
}

DataFacts gather_data(const std::string& instance, const std::optional<std::string>& data_dir) {
  DataFacts facts;
  facts.is_asked_for = data_dir.has_value();
  if (!data_dir && instance.empty()) {
    facts.directory.error = ENOENT;
    return facts;
  }
  const std::string path = data_dir.value_or(kDefaultParent + instance);
  facts.directory = path_facts_of(path);
  if (!facts.directory.exists()) return facts;
  facts.store = path_facts_of(path + "/lmdb");
  facts.store_file = path_facts_of(path + "/lmdb/data.mdb");
  facts.warehouse = path_facts_of(path + "/warehouse");
  facts.room = room_of(path);
  struct statfs status {};
  if (::statfs(path.c_str(), &status) == 0) {
    const auto magic = static_cast<std::uint32_t>(status.f_type);
    const auto* const found = std::find_if(kNetworks.begin(), kNetworks.end(),
                                           [&](const auto& each) { return each.magic == magic; });
    facts.is_network = found != kNetworks.end();
    if (facts.is_network) facts.file_system = found->name;
  }
  std::error_code error;
  for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (is_kept_store(name)) {
      facts.kept_stores.push_back({name, taken_bytes(at->path().string() + "/data.mdb")});
    } else if (!is_known(name)) {
      facts.unknown_names.push_back(name);
    }
  }
  std::sort(facts.unknown_names.begin(), facts.unknown_names.end());
  return facts;
}

UnitFacts gather_unit(const std::string& instance) {
  UnitFacts facts;
  if (instance.empty() || ::access("/run/systemd/system", F_OK) != 0) return facts;
  facts.name = "iceblinkd@" + instance + ".service";
  facts.enabled = command_output({"systemctl", "is-enabled", facts.name}, kSystemctlTimeout);
  facts.active = command_output({"systemctl", "is-active", facts.name}, kSystemctlTimeout);
  facts.result = command_output({"systemctl", "show", "--property=Result", "--value", facts.name},
                                kSystemctlTimeout);
  return facts;
}

}  // namespace iceblink::cli
