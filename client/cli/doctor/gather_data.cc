// The data directory, and systemd's unit of the instance.
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

std::string instance_of(const std::string& runtime_dir) {
  std::filesystem::path path(runtime_dir);
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

/// What a daemon puts there, by its present layout and by the one before.
bool is_known(const std::string& name) {
  constexpr std::array kNames = {"lmdb", "warehouse", "data.mdb", "lock.mdb", "daemon.lock"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

}  // namespace

DataFacts gather_data(const std::string& runtime_dir, const std::optional<std::string>& data_dir) {
  DataFacts facts;
  facts.is_asked_for = data_dir.has_value();
  const std::string path = data_dir.value_or(kDefaultParent + instance_of(runtime_dir));
  facts.directory = path_facts_of(path);
  if (!facts.directory.exists()) return facts;
  facts.store = path_facts_of(path + "/lmdb");
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
    if (!is_known(name)) facts.unknown_names.push_back(name);
  }
  std::sort(facts.unknown_names.begin(), facts.unknown_names.end());
  return facts;
}

UnitFacts gather_unit(const std::string& runtime_dir) {
  UnitFacts facts;
  if (::access("/run/systemd/system", F_OK) != 0) return facts;
  facts.name = "iceblinkd@" + instance_of(runtime_dir) + ".service";
  facts.enabled = command_output({"systemctl", "is-enabled", facts.name}, kSystemctlTimeout);
  facts.active = command_output({"systemctl", "is-active", facts.name}, kSystemctlTimeout);
  return facts;
}

}  // namespace iceblink::cli
