// The system as the code under test meets it: mutexes, condition variables, threads and futexes of
// the model; files that are real, but whose mappings are all one memory, so that an address names a
// byte of a file in whatever "process" it is read.
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/relacy/fiber.h"
#include "tests/relacy/model_memory.h"

namespace {

using iceblink::relacy::is_modelled;

constexpr std::size_t kFileBytesMax = 512 << 10;
constexpr std::size_t kFilesMax = 8;

/// The pages of files that were made since the scenario began.
struct File {
  ino_t inode = 0;
  std::size_t used_bytes = 0;  // not zero any more
};
alignas(4096) std::array<std::array<unsigned char, kFileBytesMax>, kFilesMax> pages;
std::array<File, kFilesMax> files;
std::size_t file_count = 0;

/// The builder's thread: one of the scenario's runs it.
std::thread::_State* made_thread = nullptr;
bool thread_has_ended = false;
int thread_lock, thread_change;  // addresses, for the model

struct ThreadExit {
  void (*run)(void*);
  void* argument;
};
std::array<std::array<ThreadExit, 8>, 8> thread_exits;
std::array<std::size_t, 8> thread_exit_counts{};

std::uint64_t directory = 0;
void change_directory() {
  iceblink::relacy::fetch_add(&directory, sizeof(directory), 1, std::memory_order_release,
                              iceblink::relacy::Place::current());
}
void look_at_directory() {
  const int error = errno;
  iceblink::relacy::fetch_add(&directory, sizeof(directory), 0, std::memory_order_acquire,
                              iceblink::relacy::Place::current());
  errno = error;
}

ino_t inode_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) std::abort();
  return status.st_ino;
}

File* find_file(ino_t inode) {
  for (std::size_t i = file_count; i-- > 0;) {
    if (files[i].inode == inode) return &files[i];
  }
  return nullptr;
}

unsigned char* pages_of(const File& file) {
  return pages[static_cast<std::size_t>(&file - files.data())].data();
}

bool is_page(const void* at) {
  const auto* byte = static_cast<const unsigned char*>(at);
  return byte >= pages.front().data() && byte < pages.front().data() + sizeof(pages);
}

void wait_for_thread(bool (*is_due)()) {
  iceblink::relacy::lock(&thread_lock);
  while (!is_due()) iceblink::relacy::wait(&thread_change, &thread_lock, false);
  iceblink::relacy::unlock(&thread_lock);
}

void change_thread(void (*change)(void*), void* to) {
  if (!is_modelled()) {
    change(to);
    return;
  }
  iceblink::relacy::lock(&thread_lock);
  change(to);
  iceblink::relacy::notify(&thread_change, true);
  iceblink::relacy::unlock(&thread_lock);
}

}  // namespace

namespace iceblink::relacy {

void run_thread_exits(int thread) {
  auto& count = thread_exit_counts[static_cast<std::size_t>(thread)];
  while (count > 0) {
    const ThreadExit& exit = thread_exits[static_cast<std::size_t>(thread)][--count];
    exit.run(exit.argument);
  }
}

void run_made_thread() {
  wait_for_thread([] { return made_thread != nullptr; });
  made_thread->_M_run();
  change_thread([](void*) { thread_has_ended = true; }, nullptr);
}

void begin_files() {
  for (std::size_t i = 0; i < file_count; ++i) {
    std::memset(pages[i].data(), 0, files[i].used_bytes);
  }
  file_count = 0;
  delete made_thread;
  made_thread = nullptr;
  thread_has_ended = false;
}

}  // namespace iceblink::relacy

extern "C" {

int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
int __real_pthread_mutex_unlock(pthread_mutex_t* mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (!is_modelled()) return __real_pthread_mutex_lock(mutex);
  iceblink::relacy::lock(mutex);
  return 0;
}
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (!is_modelled()) return __real_pthread_mutex_unlock(mutex);
  iceblink::relacy::unlock(mutex);
  return 0;
}
int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t,
                                  const timespec*) {
  return iceblink::relacy::wait(condition, mutex, true) ? 0 : ETIMEDOUT;
}

// std::condition_variable's own, by their names in the library.
void __wrap__ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE(
    std::condition_variable* condition, std::unique_lock<std::mutex>* lock) {
  iceblink::relacy::wait(condition, lock->mutex()->native_handle(), false);
}
void __wrap__ZNSt18condition_variable10notify_oneEv(std::condition_variable* condition) {
  if (is_modelled()) iceblink::relacy::notify(condition, false);
}
void __wrap__ZNSt18condition_variable10notify_allEv(std::condition_variable* condition) {
  if (is_modelled()) iceblink::relacy::notify(condition, true);
}

// std::thread's start and join.
void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    std::thread* thread, std::unique_ptr<std::thread::_State>* state, void (*)()) {
  const pthread_t number = 1;  // it can be joined
  std::memcpy(static_cast<void*>(thread), &number, sizeof(number));
  change_thread([](void* made) { made_thread = static_cast<std::thread::_State*>(made); },
                state->release());
}
void __wrap__ZNSt6thread4joinEv(std::thread* thread) {
  if (is_modelled()) {
    wait_for_thread([] { return thread_has_ended; });
  } else {
    made_thread->_M_run();  // it was told to end before it began
    delete std::exchange(made_thread, nullptr);
  }
  const pthread_t none = 0;
  std::memcpy(static_cast<void*>(thread), &none, sizeof(none));
}
int __real___cxa_thread_atexit(void (*run)(void*), void* argument, void* object);
int __wrap___cxa_thread_atexit(void (*run)(void*), void* argument, void* object) {
  if (!is_modelled()) return __real___cxa_thread_atexit(run, argument, object);
  const auto thread = static_cast<std::size_t>(iceblink::relacy::this_fiber());
  thread_exits[thread][thread_exit_counts[thread]++] = {run, argument};
  return 0;
}

int __real___cxa_guard_acquire(std::int64_t* guard);
void __real___cxa_guard_release(std::int64_t* guard);
int __wrap___cxa_guard_acquire(std::int64_t* guard) {
  const int is_mine = __real___cxa_guard_acquire(guard);
  if (is_mine != 0) iceblink::relacy::begin_static();
  return is_mine;
}
void __wrap___cxa_guard_release(std::int64_t* guard) {
  iceblink::relacy::end_static();
  __real___cxa_guard_release(guard);
}

// The kernel's directories have locks of their own: who finds a name, or finds it gone, has seen
// what was stored before it was given or taken.
int __real_link(const char* from, const char* to);
int __real_rename(const char* from, const char* to);
int __real_unlink(const char* path);
int __real_stat(const char* path, struct stat* status);
int __real_open(const char* path, int flags, ...);
int __wrap_link(const char* from, const char* to) {
  change_directory();
  return __real_link(from, to);
}
int __wrap_rename(const char* from, const char* to) {
  change_directory();
  return __real_rename(from, to);
}
int __wrap_unlink(const char* path) {
  change_directory();
  return __real_unlink(path);
}
int __wrap_open(const char* path, int flags, mode_t mode) {
  const int descriptor = __real_open(path, flags, mode);
  look_at_directory();
  return descriptor;
}
int __wrap_stat(const char* path, struct stat* status) {
  const int result = __real_stat(path, status);
  look_at_directory();
  return result;
}

int __wrap_nanosleep(const timespec*, timespec*) {
  iceblink::relacy::give_way();
  return 0;
}

long __wrap_syscall(long number, void* address, long operation, long value) {
  if (number == SYS_membarrier) {
    const auto command = reinterpret_cast<std::intptr_t>(address);
    if (command == MEMBARRIER_CMD_QUERY) {  // ICEBLINK_FENCES: a kernel that does not offer it
      return std::getenv("ICEBLINK_FENCES") != nullptr
                 ? 0
                 : MEMBARRIER_CMD_PRIVATE_EXPEDITED | MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED;
    }
    if (command == MEMBARRIER_CMD_PRIVATE_EXPEDITED) iceblink::relacy::system_wide_fence();
    return 0;
  }
  if (number != SYS_futex) std::abort();
  if (operation == FUTEX_WAKE) {
    iceblink::relacy::wake_all(address);
  } else {
    iceblink::relacy::sleep_while(address, sizeof(std::uint32_t),
                                  static_cast<std::uint32_t>(value));
  }
  return 0;
}

int __wrap_posix_fallocate(int descriptor, off_t from, off_t bytes) {
  if (find_file(inode_of(descriptor)) == nullptr) {
    if (file_count == kFilesMax) std::abort();
    files[file_count++] = {inode_of(descriptor), 0};
  }
  return ::ftruncate(descriptor, from + bytes) == 0 ? 0 : errno;
}
void* __wrap_mmap(void*, std::size_t bytes, int, int, int descriptor, off_t) {
  File* const file = find_file(inode_of(descriptor));
  if (file == nullptr || bytes > kFileBytesMax) std::abort();
  file->used_bytes = bytes;
  return pages_of(*file);
}
int __wrap_munmap(void* at, std::size_t) {
  if (!is_page(at)) std::abort();
  return 0;
}
int __wrap_madvise(void*, std::size_t, int) {
  return 0;
}

}  // extern "C"
