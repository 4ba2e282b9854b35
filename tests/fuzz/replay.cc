// replay CORPUS_DIR RUNS SEED: runs a target over its corpus, and over RUNS inputs that are made
// from it by chance. The same seed makes the same inputs, on every machine. An input that ends the
// process is left in a file named crash-<target>, in the current directory.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/json_mutator.h"

namespace iceblink::test {
namespace {

constexpr std::size_t kInputBytesMax = 1 << 16;

std::string current;  // the input that runs
std::string crash_path;

void keep_current(int signal) {
  // The process is lost: what may fail here fails.
  if (std::FILE* const file = std::fopen(crash_path.c_str(), "wb")) {
    (void)std::fwrite(current.data(), 1, current.size(), file);
    (void)std::fclose(file);
    std::fprintf(stderr, "the input is in %s\n", crash_path.c_str());
  }
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::vector<std::string> read_corpus(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> corpus;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return corpus;
}

std::string mutate_bytes(const std::string& input, const std::vector<std::string>& corpus,
                         std::minstd_rand& random) {
  const auto pick = [&](std::size_t count) { return random() % count; };
  std::string out = input;
  const std::size_t at = pick(out.size() + 1);
  switch (pick(6)) {
    case 0:
      out.resize(at);
      break;
    case 1:
      out.insert(at, 1, static_cast<char>(pick(256)));
      break;
    case 2:
      out.erase(at, 1 + pick(8));
      break;
    case 3: {
      const std::string& other = corpus[pick(corpus.size())];
      out.replace(at, std::string::npos, other, pick(other.size() + 1), std::string::npos);
      break;
    }
    case 4:
      out.insert(at, out.substr(at / 2, pick(32)));
      break;
    default:
      if (at < out.size()) out[at] = static_cast<char>(out[at] ^ (1 << pick(8)));
  }
  return out;
}

void run(const std::string& input) {
  current = input;
  (void)LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()),
                               current.size());
}

int replay(const char* program, const char* directory, std::size_t run_count, unsigned seed) {
  crash_path = "crash-" + std::filesystem::path(program).filename().string();
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    std::signal(signal, keep_current);
  }
  const auto corpus = read_corpus(directory);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: no corpus\n", directory);
    return 2;
  }
  for (const auto& input : corpus) run(input);
  std::minstd_rand random(seed);
  std::printf("seed %u\n", seed);
  for (std::size_t i = 0; i < run_count; ++i) {
    std::string input = corpus[random() % corpus.size()];
    for (std::size_t changes = 1 + random() % 4; changes > 0; --changes) {
      const bool by_bytes = kFuzzedText == FuzzedText::kBytes || random() % 4 == 0;
      input = by_bytes ? mutate_bytes(input, corpus, random)
                       : mutate_json(input, kInputBytesMax, random);
    }
    if (input.size() > kInputBytesMax) input.resize(kInputBytesMax);
    run(input);
  }
  std::printf("%zu inputs of the corpus, %zu made from them\n", corpus.size(), run_count);
  return 0;
}

}  // namespace
}  // namespace iceblink::test

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: %s CORPUS_DIR RUNS SEED\n", argv[0]);
    return 2;
  }
  return iceblink::test::replay(argv[0], argv[1], std::strtoul(argv[2], nullptr, 10),
                                static_cast<unsigned>(std::strtoul(argv[3], nullptr, 10)));
}
