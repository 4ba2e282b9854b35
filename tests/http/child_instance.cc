#include "tests/http/child_instance.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace iceblink::test {
namespace {

constexpr int kWatchdogMs = 20'000;

}  // namespace

NotifySocket::NotifySocket(const std::string& path) : path_(path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  EXPECT_LT(path.size(), sizeof(address.sun_path));
  std::memcpy(address.sun_path, path.data(), path.size());
  fd_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  EXPECT_EQ(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
}

NotifySocket::~NotifySocket() {
  ::close(fd_);
}

std::string NotifySocket::receive(int timeout_ms) {
  pollfd waiting{fd_, POLLIN, 0};
  if (::poll(&waiting, 1, timeout_ms) != 1) return {};
  char message[512];
  const auto got = ::recv(fd_, message, sizeof(message), 0);
  return got <= 0 ? std::string() : std::string(message, static_cast<std::size_t>(got));
}

bool NotifySocket::wait_for(const std::string& text) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(kWatchdogMs);
  while (std::chrono::steady_clock::now() < until) {
    if (receive(kWatchdogMs).find(text) != std::string::npos) return true;
  }
  return false;
}

void NotifySocket::forget_what_came() {
  while (!receive(0).empty()) {
  }
}

pid_t thread_named(pid_t process, const std::string& name) {
  const std::string tasks = "/proc/" + std::to_string(process) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream file(task.path() / "comm");
    std::string found;
    std::getline(file, found);
    if (found == name) return std::stoi(task.path().filename().string());
  }
  return -1;
}

}  // namespace iceblink::test
