// A reader in a process of its own, which looks up without pause and judges every answer.
//
// Tables t0..tN of one namespace carry, as their location, "<table>@<number>", and the numbers of
// a table only grow. The writer tells through a shared page which generation is acknowledged.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace iceblink {
class Catalog;
}

namespace iceblink::test {

/// Shared between the test and one reader process.
struct ReaderPage {
  std::atomic<std::uint64_t> acknowledged{0};  // generation that must be visible
  std::atomic<std::uint64_t> lookups{0};
  std::atomic<std::uint64_t> generation{0};  // last seen
  std::atomic<bool> stop{false};
  char wrong[512] = {};  // the first wrong answer
};

class ReaderProcess {
 public:
  /// `judge` is called again and again, in the child; what it returns, if not empty, is a wrong
  /// answer and ends the reader. Must be made while the test has one thread.
  using Judge = std::function<std::string(Catalog&, ReaderPage&)>;
  ReaderProcess(const std::string& runtime_dir, Judge judge);
  ~ReaderProcess();
  ReaderProcess(const ReaderProcess&) = delete;
  ReaderProcess& operator=(const ReaderProcess&) = delete;

  [[nodiscard]] ReaderPage& page() { return *page_; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const;
  /// Returns once the reader has made `count` more lookups; false when it has ended instead.
  bool wait_for_lookups(std::uint64_t count);
  /// Tells it to stop and waits for it. Empty, or its wrong answer.
  std::string finish();
  /// Waits for a reader that was killed.
  void reap();

 private:
  ReaderPage* page_;
  pid_t pid_ = -1;
};

/// Judges that generations never go back, that what was acknowledged is visible, and that each
/// lookup gives an answer without an error.
std::string judge_progress(Catalog& catalog, ReaderPage& page);

}  // namespace iceblink::test
