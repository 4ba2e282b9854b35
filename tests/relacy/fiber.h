// Between the search and the model: where the code under test begins and ends.
#pragma once

namespace iceblink::relacy {

/// Before the first one begins.
void begin_run() noexcept;
void begin_fiber(int thread) noexcept;
/// Relacy's code follows.
void end_fiber() noexcept;
/// After the last one: forgets all that the model knows of memory.
void end_threads() noexcept;
/// The ordered accesses that the code under test has made, one a line.
void print_reached() noexcept;
/// Which expectation was not met; empty where the model itself found fault.
[[nodiscard]] const char* found_what() noexcept;

/// As the code under test would at the end of its thread: what it left for then.
void run_thread_exits(int thread);
/// Runs what a std::thread of the code under test was made for, if any is, until it ends.
void run_made_thread();
/// Before a scenario: the files of before are gone, fresh memory for the new ones.
void begin_files();
/// What was freed while threads ran.
void free_buried() noexcept;

[[nodiscard]] int this_fiber() noexcept;

}  // namespace iceblink::relacy
