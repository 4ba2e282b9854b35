#include "tests/faults/fault_list.h"

#include <cerrno>
#include <cstring>

namespace iceblink::test {
namespace {

using faults::Action;
using faults::Call;

std::vector<int> errors_of(Call call) {
  switch (call) {
    case Call::kOpen:
    case Call::kOpenat:
    case Call::kOpenat2:
    case Call::kOpendir:
      return {EMFILE, ENOMEM, EINTR, EIO, ENOSPC};
    case Call::kWrite:
    case Call::kWritev:
    case Call::kPwrite:
    case Call::kPwritev:
    case Call::kFallocate:
    case Call::kFtruncate:
      return {ENOSPC, EIO, EINTR, EDQUOT};
    case Call::kFsync:
    case Call::kFdatasync:
    case Call::kMsync:
      return {EIO, ENOSPC, EINTR};
    case Call::kLink:
    case Call::kLinkat:
    case Call::kMkdir:
    case Call::kMkdirat:
    case Call::kRename:
      return {ENOSPC, EIO, EDQUOT};
    case Call::kMmap:
    case Call::kMadvise:
    case Call::kEpollCtl:
      return {ENOMEM};
    case Call::kRingSetup:
      return {ENOMEM, EMFILE, EPERM};
    case Call::kRingEnter:
      return {ENOMEM, EAGAIN, EINTR};
    case Call::kPthreadCreate:
    case Call::kFork:
      return {EAGAIN};
    case Call::kAccept:
      return {EMFILE, ENFILE, ENOMEM, EINTR, ECONNABORTED};
    case Call::kRecv:
    case Call::kSend:
    case Call::kSendto:
    case Call::kSendmsg:
      return {EINTR, ENOMEM, ECONNRESET};
    case Call::kEpollWait:
      return {EINTR};
    case Call::kGetsockopt:
      return {ENOBUFS};
    case Call::kPoll:
    case Call::kGetrandom:
      return {EINTR, ENOMEM};
    default:
      return {EIO, EINTR};
  }
}

bool moves_bytes(Call call) {
  switch (call) {
    case Call::kRead:
    case Call::kPread:
    case Call::kPreadv2:
    case Call::kWrite:
    case Call::kWritev:
    case Call::kPwrite:
    case Call::kPwritev:
    case Call::kGetrandom:
    case Call::kRecv:
    case Call::kSend:
    case Call::kSendmsg:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<Fault> faults_of(Call call, std::uint64_t count) {
  std::vector<Fault> faults;
  for (std::uint64_t number = 1; number <= count; ++number) {
    for (const int error : errors_of(call)) faults.push_back({call, number, Action::kFail, error});
    if (moves_bytes(call)) faults.push_back({call, number, Action::kShort, 0});
  }
  return faults;
}

std::string text_of(const Fault& fault) {
  return std::string(faults::name_of(fault.call)) + " " + std::to_string(fault.at_number) + " " +
         (fault.action == Action::kShort ? "short" : ::strerrorname_np(fault.error));
}

}  // namespace iceblink::test
