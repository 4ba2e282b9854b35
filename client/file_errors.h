// What is said of a file that could not be read. Messages name the location as it is stored, never
// the path it was mapped to.
//
// Thread safety: free functions.
#pragma once

#include <iceblink/result.h>

#include <cstddef>
#include <string_view>

namespace iceblink::client {

/// `code` is the errno of a system call on the file, `doing` the call's name.
[[nodiscard]] Error file_error(int code, std::string_view location,
                               std::string_view doing) noexcept;
[[nodiscard]] Error file_not_found(std::string_view location) noexcept;
[[nodiscard]] Error file_too_large(std::string_view location, std::size_t bytes_max) noexcept;
/// What is wrong with its content, said of the file.
[[nodiscard]] Error file_content_error(std::string_view location, const Error& error) noexcept;

}  // namespace iceblink::client
