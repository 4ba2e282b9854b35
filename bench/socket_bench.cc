// C6a, through the whole daemon: pointer moves a second over its socket, one a request, by many
// connections that each wait for their answer.
//
//   socket_bench --runtime-dir DIR --tables N --connections N --rounds N --milliseconds N
#include <iceblink/catalog.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "bench/measurement.h"
#include "bench/sample_catalog.h"
#include "shm/layout.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

/// One connection to the daemon, one request at a time.
class Connection {
 public:
  explicit Connection(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    require(path.size() < sizeof(address.sun_path), "the socket's path is too long");
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    require(fd_ >= 0 &&
                ::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0,
            "cannot connect to the daemon");
  }
  ~Connection() { ::close(fd_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void post_batch(const std::string& body) {
    const std::string request =
        "POST /iceblink/v1/batch HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\n"
        "Content-Length: " +
        std::to_string(body.size()) + "\r\n\r\n" + body;
    require(::send(fd_, request.data(), request.size(), MSG_NOSIGNAL) ==
                static_cast<ssize_t>(request.size()),
            "cannot send");
    const std::string answer = receive();
    if (!answer.starts_with("HTTP/1.1 200")) fail("refused: " + answer);
  }

 private:
  std::string receive() {
    std::string text;
    std::size_t wanted = 0;  // known when the header is complete
    std::array<char, 4096> buffer;
    while (wanted == 0 || text.size() < wanted) {
      const ssize_t size = ::recv(fd_, buffer.data(), buffer.size(), 0);
      if (size <= 0) fail("the daemon hung up after: " + text);
      text.append(buffer.data(), static_cast<std::size_t>(size));
      const auto end = text.find("\r\n\r\n");
      if (wanted == 0 && end != std::string::npos) wanted = end + 4 + body_bytes(text);
    }
    return text;
  }
  static std::size_t body_bytes(const std::string& header) {
    constexpr std::string_view kName = "Content-Length: ";
    const auto at = header.find(kName);
    return at == std::string::npos ? 0 : std::stoul(header.substr(at + kName.size()));
  }

  const int fd_;
};

std::string move_line(const SampleCatalog& catalog, std::size_t index, std::size_t version) {
  const TableIdent ident = catalog.ident(index);
  return R"({"op":"register","namespace":[")" + ident.levels[0] + R"(",")" + ident.levels[1] +
         R"("],"name":")" + ident.name + R"(","metadata-location":")" +
         catalog.location(index, version) + R"(","overwrite":true,"unverified":true})";
}

}  // namespace

int main(int argc, char** argv) {
  const std::string dir = argument(argc, argv, "--runtime-dir", "");
  const SampleCatalog sample(number(argc, argv, "--tables", 10'000));
  const std::size_t connections = number(argc, argv, "--connections", 64);
  const std::uint64_t duration_ns = number(argc, argv, "--milliseconds", 2000) * 1'000'000;
  const Catalog catalog = take(Catalog::open(dir));
  std::vector<std::size_t> versions(connections, 0);
  Samples samples;
  for (std::size_t round = 0; round < number(argc, argv, "--rounds", 5); ++round) {
    std::atomic<std::size_t> commits = 0;
    const std::uint64_t begin = wall_ns();
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < connections; ++i) {
      threads.emplace_back([&, i] {
        Connection connection(dir + "/" + shm::kSocketName);
        std::size_t done = 0;
        for (; wall_ns() - begin < duration_ns; ++done) {
          connection.post_batch(move_line(sample, i, ++versions[i]));
          const auto seen = catalog.resolve_location(sample.ident(i));
          require(seen.ok() && *seen == sample.location(i, versions[i]),
                  "an answered write is not visible");
        }
        commits.fetch_add(done, std::memory_order_relaxed);
      });
    }
    for (auto& thread : threads) thread.join();
    samples.add("socket", static_cast<double>(commits.load(std::memory_order_relaxed)) * 1e9 /
                              static_cast<double>(wall_ns() - begin));
  }
  samples.print();
  return 0;
}
