// A socket at catalog.sock whose every connection is served by a function of the test.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace iceblink::testing {

/// One accepted connection.
class FakePeer {
 public:
  FakePeer(int fd, int number) : fd_(fd), number_(number) {}

  /// 0 for the first connection.
  [[nodiscard]] int number() const { return number_; }
  /// The next request, whole; empty when the client has closed.
  std::string receive() {
    while (true) {
      const auto head_end = pending_.find("\r\n\r\n");
      if (head_end != std::string::npos) {
        const std::size_t size = head_end + 4 + content_length(pending_.substr(0, head_end));
        if (pending_.size() >= size) {
          std::string request = pending_.substr(0, size);
          pending_.erase(0, size);
          return request;
        }
      }
      char buffer[4096];
      const auto count = ::recv(fd_, buffer, sizeof(buffer), 0);
      if (count <= 0) return "";
      pending_.append(buffer, static_cast<std::size_t>(count));
    }
  }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void answer(int status, const std::string& body, const std::string& fields = "") {
    send("HTTP/1.1 " + std::to_string(status) +
         " X\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + fields + "\r\n" + body);
  }
  /// Returns when the client has closed, without reading what it sent.
  void hold() {
    pollfd closed{fd_, POLLRDHUP, 0};
    ::poll(&closed, 1, 60'000);
  }
  /// Returns when the client has closed.
  void wait_closed() {
    char byte = 0;
    while (::recv(fd_, &byte, 1, 0) > 0) {
    }
  }

 private:
  static std::size_t content_length(const std::string& head) {
    const auto at = head.find("Content-Length: ");
    return at == std::string::npos ? 0 : std::stoul(head.substr(at + 16));
  }

  const int fd_;
  const int number_;
  std::string pending_;
};

class FakeDaemon {
 public:
  using Serve = std::function<void(FakePeer&)>;

  FakeDaemon(std::string path, Serve serve) : path_(std::move(path)), serve_(std::move(serve)) {
    ::unlink(path_.c_str());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        ::listen(listener_, 16) != 0) {
      std::abort();
    }
    acceptor_ = std::thread([this] { accept(); });
  }
  ~FakeDaemon() {
    ::shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    {
      const std::lock_guard lock(mutex_);
      for (const int fd : open_) ::shutdown(fd, SHUT_RDWR);
    }
    for (auto& thread : threads_) thread.join();
    ::close(listener_);
    ::unlink(path_.c_str());
  }
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  [[nodiscard]] int connection_count() const { return accepted_.load(); }

 private:
  void accept() {
    while (true) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (fd < 0) return;
      const int number = accepted_++;
      const std::lock_guard lock(mutex_);
      open_.push_back(fd);
      threads_.emplace_back([this, fd, number] {
        FakePeer peer(fd, number);
        serve_(peer);
        const std::lock_guard closing(mutex_);
        std::erase(open_, fd);
        ::close(fd);
      });
    }
  }

  const std::string path_;
  const Serve serve_;
  int listener_ = -1;
  std::atomic<int> accepted_{0};
  std::thread acceptor_;
  std::mutex mutex_;
  std::vector<int> open_;             // under mutex_
  std::vector<std::thread> threads_;  // the acceptor's, until it has ended
};

}  // namespace iceblink::testing
