// What threads do at once in one search. Nothing of Relacy is seen here, nothing of the code under
// test in main.cc: the one is compiled for the model, the other is the model.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

namespace iceblink::relacy {

/// The thread of the publisher's builder; the others are a scenario's own.
inline constexpr int kBuilder = 1;

class Scenario {
 public:
  virtual ~Scenario() = default;
  /// 3 or 4, the builder's among them.
  [[nodiscard]] virtual int threads() const = 0;
  /// Whether thread kBuilder runs what a std::thread of the code under test was made for.
  [[nodiscard]] virtual bool has_builder() const { return true; }
  /// Before the threads; what it does is seen by all.
  virtual void prepare() = 0;
  virtual void run(int thread) = 0;
  /// After them.
  virtual void finish() = 0;
};

[[nodiscard]] std::vector<std::string_view> scenario_names();
/// Null: there is none of that name. `directory` is empty, and the scenario's own.
[[nodiscard]] std::unique_ptr<Scenario> make_scenario(std::string_view name,
                                                      std::string_view directory);

}  // namespace iceblink::relacy
