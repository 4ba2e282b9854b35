#include "stress/findings.h"

namespace iceblink::stress {

std::string_view to_string(Wrong kind) noexcept {
  constexpr std::array<std::string_view, static_cast<std::size_t>(Wrong::kCount)> kNames = {
      "lost commit", "phantom",       "half done", "wrong value", "mixed snapshot",
      "went back",   "not fresh",     "too early", "wrong feed",  "not woken",
      "reader",      "wrong refusal", "daemon",    "audit",       "check"};
  return kNames[static_cast<std::size_t>(kind)];
}

void Findings::add(Wrong kind, std::string what) {
  ++count_;
  if (++counts_[static_cast<std::size_t>(kind)] > kLinesMax) return;
  lines_.push_back(std::move(what));
  kinds_.push_back(kind);
}

}  // namespace iceblink::stress
