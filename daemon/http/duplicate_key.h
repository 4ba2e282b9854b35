// Finds a key that stands twice in one object of a JSON text.
//
// Which of the two counts is up to each parser (RFC 8259, 4), so that a client and this server
// could read one body differently.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace iceblink::daemon::http {

/// The first such key, unescaped. Nothing when there is none before the text ends or is not JSON.
[[nodiscard]] std::optional<std::string> find_duplicate_key(std::string_view text,
                                                            std::size_t depth_max);

}  // namespace iceblink::daemon::http
