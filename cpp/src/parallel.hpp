// Work in parts, on threads that end before the call does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace pincite {

/// More threads than this help nobody, and a mistyped number should not take the machine down.
inline constexpr std::size_t max_threads = 256;

/// Calls `work(part)` for every part from 0 to `parts` - 1, each on a thread of its own but the last, which
/// runs here. Rethrows the exception of the first part that had one, once all have ended. Where the system
/// gives no more threads, the parts left over run here.
template <class Work>
void run_parts(std::size_t parts, const Work& work) {
  std::vector<std::exception_ptr> failures(parts);
  const auto guarded = [&](std::size_t part) noexcept {
    try {
      work(part);
    } catch (...) {
      failures[part] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(parts);
  std::size_t started = 0;
  try {
    for (; started + 1 < parts; ++started) threads.emplace_back(guarded, started);
  } catch (const std::system_error&) {  // no more threads to be had
  }
  for (std::size_t part = started; part < parts; ++part) guarded(part);
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

}  // namespace pincite
