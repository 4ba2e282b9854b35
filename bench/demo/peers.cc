#include "bench/demo/peers.h"

#include <lmdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace iceblink::demo {
namespace {

using Clock = std::chrono::steady_clock;

MDB_val value_of(const std::string& text) {
  return {text.size(), const_cast<char*>(text.data())};
}

// Every call but the last checks: a failure of one makes the next fail too.
bool fill(MDB_env* env, MDB_dbi* dbi, const DemoTables& demo) {
  MDB_txn* txn = nullptr;
  if (mdb_txn_begin(env, nullptr, 0, &txn) != 0 || mdb_dbi_open(txn, nullptr, 0, dbi) != 0) {
    return false;
  }
  for (const auto& table : demo.tables) {
    const std::string key_text = encode(table.ident);
    MDB_val key = value_of(key_text);
    MDB_val value = value_of(table.versions.back());
    if (mdb_put(txn, *dbi, &key, &value, 0) != 0) return false;
  }
  return mdb_txn_commit(txn) == 0;
}

std::string head_request(const TableIdent& ident) {
  std::string path = "/v1/namespaces/" + ident.levels[0] + "/tables/";
  for (const char c : ident.name) {
    char encoded[4];
    std::snprintf(encoded, sizeof(encoded), "%%%02X", static_cast<unsigned char>(c));
    path += encoded;
  }
  return "HEAD " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

// True when the answer is 204.
bool ask(int socket, const std::string& request) {
  if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    return false;
  }
  std::string answer;
  char chunk[1024];
  while (answer.find("\r\n\r\n") == std::string::npos) {
    const auto size = ::recv(socket, chunk, sizeof(chunk), 0);
    if (size <= 0) return false;
    answer.append(chunk, static_cast<std::size_t>(size));
  }
  return answer.starts_with("HTTP/1.1 204");
}

}  // namespace

Result<PeerOutcome> look_up_in_lmdb(const DemoTables& demo, const std::string& scratch_dir,
                                    std::chrono::milliseconds duration) {
  const std::string path = scratch_dir + "/lmdb";
  std::filesystem::create_directories(path);
  MDB_env* env = nullptr;
  MDB_dbi dbi = 0;
  MDB_txn* txn = nullptr;
  if (mdb_env_create(&env) != 0 || mdb_env_set_mapsize(env, 64 << 20) != 0 ||
      mdb_env_open(env, path.c_str(), MDB_NOSYNC, 0600) != 0 || !fill(env, &dbi, demo) ||
      mdb_txn_begin(env, nullptr, MDB_RDONLY, &txn) != 0) {
    return {ErrorKind::kIo, path + ": LMDB cannot be used"};
  }
  mdb_txn_reset(txn);
  PeerOutcome outcome;
  const auto end = Clock::now() + duration;
  for (std::size_t i = 0; Clock::now() < end; ++i) {
    const DemoTable& table = demo.tables[i % demo.tables.size()];
    const auto start = Clock::now();
    const std::string key_text = encode(table.ident);
    MDB_val key = value_of(key_text);
    MDB_val value{};
    const bool found = mdb_txn_renew(txn) == 0 && mdb_get(txn, dbi, &key, &value) == 0;
    const std::string location(static_cast<const char*>(value.mv_data), found ? value.mv_size : 0);
    mdb_txn_reset(txn);
    outcome.latency.record(ns_since(start));
    if (location != table.versions.back()) ++outcome.wrong_count;
  }
  mdb_txn_abort(txn);
  mdb_env_close(env);
  return outcome;
}

Result<PeerOutcome> look_up_over_socket(const DemoTables& demo, const std::string& runtime_dir,
                                        std::chrono::milliseconds duration) {
  const std::string path = runtime_dir + "/catalog.sock";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return {ErrorKind::kInvalidArgument, path};
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    ::close(socket);
    return {ErrorKind::kNoDaemon, path};
  }
  std::vector<std::string> requests;
  for (const auto& table : demo.tables) requests.push_back(head_request(table.ident));
  PeerOutcome outcome;
  const auto end = Clock::now() + duration;
  for (std::size_t i = 0; Clock::now() < end; ++i) {
    const auto start = Clock::now();
    const bool found = ask(socket, requests[i % requests.size()]);
    outcome.latency.record(ns_since(start));
    if (!found) ++outcome.wrong_count;
  }
  ::close(socket);
  return outcome;
}

}  // namespace iceblink::demo
