// Work that may end its process, done in a child: LMDB trusts the pages that it reads, so that a
// damaged file can be an assertion, a SIGSEGV or a SIGBUS.
//
// The child is a fork without exec. It keeps one descriptor and standard error, none of the
// parent's locks, ends with the thread that waits for it, and is not ended by signals that are
// meant for the daemon.
//
// Thread safety: all of it; the calling thread waits.
#pragma once

#include <iceblink/result.h>

#include <functional>
#include <string>

namespace iceblink::daemon {

/// Runs `work` in a child, with `kept_fd` under another number, and returns what it returned. Of
/// all else that it does, only what it writes to files is seen. It must not wait for other threads
/// of this process: they do not exist there.
///
/// `name` is what the messages call the file. kCorrupt: the child was ended by a signal that damage
/// causes; kInternal: by something else; kIo, kOutOfMemory: there is no child; and what `work`
/// failed with.
[[nodiscard]] Result<std::string> run_apart(int kept_fd, const std::string& name,
                                            const std::function<Result<std::string>(int fd)>& work);

/// In the child only: ends it, and makes `outcome` what run_apart returns.
[[noreturn]] void end_apart(const Result<std::string>& outcome) noexcept;

}  // namespace iceblink::daemon
