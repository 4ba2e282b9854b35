// What the service manager is told (sd_notify(3)), without its library.
#pragma once

#include <string_view>

namespace iceblink::daemon {

/// Sends `state` ("READY=1", "STOPPING=1") to $NOTIFY_SOCKET. Nothing happens when there is
/// none, or when it does not listen: a daemon serves without a manager too.
void notify_service_manager(std::string_view state) noexcept;

/// "RELOADING=1", with the time that goes with it.
void notify_reloading() noexcept;

}  // namespace iceblink::daemon
