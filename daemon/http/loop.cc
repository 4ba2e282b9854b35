#include "daemon/http/loop.h"

#include <chrono>
#include <exception>
#include <thread>

#include "daemon/log_event.h"

namespace iceblink::daemon::http {
namespace {

namespace asio = boost::asio;

/// Asio wakes a loop once, and does not look at whether the kernel did it: it would sleep on until
/// something is sent to it. This often it wakes by itself.
constexpr std::chrono::seconds kTick{1};
/// After a handler threw: what it lacked may be there again.
constexpr std::chrono::milliseconds kPause{100};

}  // namespace

Loop::Loop()
    : io_(BOOST_ASIO_CONCURRENCY_HINT_1),
      work_(io_.get_executor()),
      timer_(io_),
      connection_count_(std::make_shared<std::atomic<std::size_t>>(0)) {}

void Loop::run(const std::function<bool()>& goes_on) {
  while (!io_.stopped()) {
    while (!(tick_again() && goes_on()) && !io_.stopped()) std::this_thread::sleep_for(kPause);
    try {
      io_.run();
    } catch (const std::exception& error) {
      log_event(level::err, "handler threw", {{"message", error.what()}});
    }
  }
}

void Loop::tick() {
  is_ticking_ = false;
  timer_.expires_after(kTick);
  timer_.async_wait([this](boost::system::error_code cancelled) {
    if (!cancelled) tick();
  });
  is_ticking_ = true;
}

/// False: there is no memory for it.
bool Loop::tick_again() noexcept {
  try {
    if (!is_ticking_) tick();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace iceblink::daemon::http
