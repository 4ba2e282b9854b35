// An event loop of one thread, to which connections belong: a request wakes no other thread.
//
// Thread safety: run by one thread; stop from any; the count as it says.
#pragma once

#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstddef>
#include <functional>
#include <memory>

namespace iceblink::daemon::http {

class Loop {
 public:
  /// Throws what Asio throws where the kernel gives no descriptors.
  Loop();

  [[nodiscard]] boost::asio::io_context& io() noexcept { return io_; }
  /// Of its connections; each takes itself off, which may be when the loop is gone. Relaxed: to
  /// choose a loop by.
  [[nodiscard]] const std::shared_ptr<std::atomic<std::size_t>>& connection_count() const noexcept {
    return connection_count_;
  }

  /// Until stop(). Nothing a handler throws ends it; after that, `goes_on` is asked until it says
  /// so.
  void run(const std::function<bool()>& goes_on = [] { return true; });
  void stop() noexcept { io_.stop(); }

 private:
  void tick();
  bool tick_again() noexcept;

  boost::asio::io_context io_;
  const boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::steady_timer timer_;
  bool is_ticking_ = false;  // the running thread's
  const std::shared_ptr<std::atomic<std::size_t>> connection_count_;
};

}  // namespace iceblink::daemon::http
