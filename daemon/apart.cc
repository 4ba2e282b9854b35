#include "daemon/apart.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>

#include "daemon/file_errors.h"
#include "daemon/owned_fd.h"
#include "daemon/write_all.h"

namespace iceblink::daemon {
namespace {

// The child's descriptors behind the standard ones.
constexpr int kKeptFd = 3;
constexpr int kTellFd = 4;
constexpr int kBeyondFd = 10;  // while they are put into their places

/// What a child tells: this, then what the work returned; or an error's kind, then its message.
constexpr char kTellsDone = '\x7f';

Error failed(const char* what, int code) {
  return {file_error_kind(code), std::string(what) + ": " + std::strerror(code)};
}

bool is_damage(int signal) {
  return signal == SIGBUS || signal == SIGSEGV || signal == SIGABRT || signal == SIGFPE ||
         signal == SIGILL;
}

void tell(std::string_view bytes) noexcept {
  if (write_all(kTellFd, bytes) != 0) ::_exit(1);
}

std::string read_all(int fd) {
  std::string text;
  char buffer[1024];
  while (true) {
    const auto count = ::read(fd, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

/// All signals are blocked when this begins: a handler of the daemon's would write to descriptors
/// that are something else here.
void set_up_child(pid_t parent, int kept_fd, int tell_fd) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_IGN);
  for (const int signal : {SIGBUS, SIGSEGV, SIGABRT, SIGFPE, SIGILL}) ::signal(signal, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it was too late for that
  const int kept = ::fcntl(kept_fd, F_DUPFD, kBeyondFd);
  const int tell = ::fcntl(tell_fd, F_DUPFD, kBeyondFd);
  if (kept < 0 || tell < 0 || ::dup2(kept, kKeptFd) < 0 || ::dup2(tell, kTellFd) < 0) ::_exit(1);
  ::closefrom(kTellFd + 1);
  sigset_t none;
  ::sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_child(const std::function<Result<std::string>(int fd)>& work) noexcept {
  try {
    end_apart(work(kKeptFd));
  } catch (const std::bad_alloc&) {
    end_apart({ErrorKind::kOutOfMemory, "out of memory"});
  } catch (const std::exception& error) {
    end_apart({ErrorKind::kInternal, error.what()});
  }
}

}  // namespace

void end_apart(const Result<std::string>& outcome) noexcept {
  const char first = outcome ? kTellsDone : static_cast<char>(outcome.error().kind());
  tell({&first, 1});
  tell(outcome ? *outcome : outcome.error().message());
  ::_exit(0);
}

Result<std::string> run_apart(int kept_fd, const std::string& name,
                              const std::function<Result<std::string>(int fd)>& work) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("pipe", errno);
  const OwnedFd reading(ends[0]);
  OwnedFd writing(ends[1]);
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) {
    set_up_child(parent, kept_fd, writing.get());
    run_child(work);
  }
  const int code = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) return failed("fork", code);
  writing = OwnedFd();
  const std::string told = read_all(reading.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) {
    const int signal = WTERMSIG(status);
    if (!is_damage(signal)) {
      return {ErrorKind::kInternal,
              name + ": who reads it was ended by signal " + std::to_string(signal)};
    }
    return {ErrorKind::kCorrupt,
            name + ": the file is damaged: reading it ended by signal " + std::to_string(signal)};
  }
  if (told.empty() || WEXITSTATUS(status) != 0) {
    return {ErrorKind::kInternal, name + ": cannot be read in a process of its own"};
  }
  if (told[0] == kTellsDone) return told.substr(1);
  return {static_cast<ErrorKind>(told[0]), told.substr(1)};
}

}  // namespace iceblink::daemon
