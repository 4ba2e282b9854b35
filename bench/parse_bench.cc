// C10, C11: table metadata from its bytes to the whole model, against the same model built with
// nlohmann/json; what a reader pays who wants the current snapshot alone; and simdjson's DOM of the
// text, without a model.
//
//   parse_bench --snapshots N --columns N --rounds N
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "bench/measurement.h"
#include "bench/nlohmann_model.h"
#include "bench/sample_metadata.h"
#include "iceberg/metadata_parser.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;
using iceberg::ByteBuffer;

/// What both sides must agree in. Order is no matter: nlohmann/json sorts its objects.
struct Digest {
  std::uint64_t count = 0;
  std::uint64_t sum = 0;

  void add(std::string_view text) {
    ++count;
    for (const char c : text) sum += static_cast<unsigned char>(c) * std::uint64_t{31};
  }
  void add(std::int64_t number) {
    ++count;
    sum += scramble_of(static_cast<std::uint64_t>(number));
  }
  [[nodiscard]] static std::uint64_t scramble_of(std::uint64_t value) {
    return value * 0x9e3779b97f4a7c15;
  }
  friend bool operator==(const Digest&, const Digest&) = default;
};

Digest digest(const TableValues& values, std::span<const TableSnapshot> snapshots,
              std::span<const SnapshotLogEntry> snapshot_log,
              std::span<const MetadataLogEntry> metadata_log) {
  Digest all;
  all.add(values.location);
  all.add(values.last_sequence_number);
  for (const auto& schema : values.schemas) {
    for (const auto& field : schema.fields) {
      all.add(field.name);
      all.add(static_cast<std::int64_t>(field.id) * 64 + static_cast<int>(field.type.kind));
    }
  }
  for (const auto& property : values.properties) {
    all.add(property.key);
    all.add(property.value);
  }
  for (const auto& ref : values.refs) all.add(ref.snapshot_id);
  for (const auto& snapshot : snapshots) {
    all.add(snapshot.snapshot_id);
    all.add(snapshot.parent_snapshot_id.value_or(-1));
    all.add(snapshot.sequence_number);
    all.add(snapshot.timestamp_ms);
    all.add(snapshot.manifest_list);
    for (const auto& entry : snapshot.summary) {
      all.add(entry.key);
      all.add(entry.value);
    }
  }
  for (const auto& entry : snapshot_log) all.add(entry.snapshot_id ^ entry.timestamp_ms);
  for (const auto& entry : metadata_log) all.add(entry.metadata_file);
  return all;
}

struct Clocks {
  std::uint64_t wall = wall_ns();
  std::uint64_t cpu = thread_cpu_ns();
};

void add(Samples& samples, const std::string& name, const Clocks& begin) {
  samples.add(name + "/cpu", static_cast<double>(thread_cpu_ns() - begin.cpu));
  samples.add(name + "/wall", static_cast<double>(wall_ns() - begin.wall));
}

std::shared_ptr<TableMetadata> parse(ByteBuffer file) {
  return take(iceberg::parse_table_metadata(std::move(file)));
}

Digest whole(ByteBuffer file, Samples* samples) {
  const Clocks begin;
  const auto metadata = parse(std::move(file));
  const auto snapshots = take(metadata->snapshots());
  const auto snapshot_log = take(metadata->snapshot_log());
  const auto metadata_log = take(metadata->metadata_log());
  if (samples != nullptr) add(*samples, "whole", begin);
  return digest(*metadata, snapshots, snapshot_log, metadata_log);
}

Digest with_nlohmann(const std::string& text, Samples* samples) {
  const Clocks begin;
  NlohmannTable table;
  read_with_nlohmann(text, table);
  if (samples != nullptr) add(*samples, "nlohmann", begin);
  return digest(table.values, table.snapshots, table.snapshot_log, table.metadata_log);
}

/// What reading the text alone takes, before there is a model.
void dom_alone(const simdjson::padded_string& text, Samples& samples) {
  const Clocks begin;
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  require(parser.parse(text).get(root) == simdjson::SUCCESS, "simdjson does not read the document");
  add(samples, "dom", begin);
}

void current_alone(ByteBuffer file, Samples* samples) {
  const Clocks begin;
  const auto metadata = parse(std::move(file));
  const TableSnapshot* const current = take(metadata->current_snapshot());
  if (samples != nullptr) add(*samples, "current", begin);
  require(current != nullptr && current->snapshot_id == *metadata->current_snapshot_id,
          "the current snapshot is another one");
}

/// The value of a line of /proc/self/status, in bytes.
double status_bytes(const char* name) {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  require(file != nullptr, "/proc/self/status");
  char line[256];
  double kilobytes = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::strncmp(line, name, std::strlen(name)) == 0) {
      kilobytes = std::strtod(line + std::strlen(name) + 1, nullptr);
    }
  }
  static_cast<void>(std::fclose(file));
  return kilobytes * 1024;
}

/// How far a process grows at its highest while it builds everything, per byte of the document. In
/// a process that has just been started: memory that is there already would hide it.
double growth_per_byte(const char* program, const std::string& shape) {
  int ends[2];
  require(::pipe(ends) == 0, "pipe");
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::execl(program, program, "--growth", shape.c_str(), nullptr);
    std::_Exit(1);
  }
  ::close(ends[1]);
  char text[64] = {};
  require(::read(ends[0], text, sizeof(text) - 1) > 0, "a child that grew said nothing");
  ::close(ends[0]);
  int status = 0;
  require(::waitpid(child, &status, 0) == child && status == 0, "a child failed to grow");
  return std::strtod(text, nullptr);
}

/// The file is read as a process would, into the memory that is measured.
int print_growth(const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rb");
  require(file != nullptr, "the document");
  static_cast<void>(std::fseek(file, 0, SEEK_END));
  const auto size = static_cast<std::size_t>(std::ftell(file));
  std::rewind(file);
  std::setbuf(file, nullptr);
  // Once, so that the code's own pages are there.
  SampleMetadataShape small;
  small.snapshot_count = 25;
  static_cast<void>(whole(ByteBuffer(std::string_view(sample_metadata(small))), nullptr));
  const double before = status_bytes("VmRSS:");
  ByteBuffer bytes(size);
  require(std::fread(bytes.data(), 1, size, file) == size, "the document is short");
  const auto metadata = parse(std::move(bytes));
  require_ok(metadata->snapshots());
  require_ok(metadata->snapshot_log());
  require_ok(metadata->metadata_log());
  const double after = status_bytes("VmHWM:");
  std::printf("%.4f", (after - before) / static_cast<double>(size));
  static_cast<void>(std::fclose(file));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (const std::string path = argument(argc, argv, "--growth", ""); !path.empty()) {
    return print_growth(path);
  }
  SampleMetadataShape shape;
  shape.snapshot_count = number(argc, argv, "--snapshots", 1000);
  shape.column_count = number(argc, argv, "--columns", 20);
  const std::size_t rounds = number(argc, argv, "--rounds", 21);
  const std::size_t repeats = number(argc, argv, "--repeats", 1);
  const std::string document = argument(argc, argv, "--file", "");
  const std::string text = sample_metadata(shape);
  require(!document.empty(), "--file names where the document is written");
  std::FILE* const file = std::fopen(document.c_str(), "wb");
  require(file != nullptr && std::fwrite(text.data(), 1, text.size(), file) == text.size() &&
              std::fclose(file) == 0,
          "the document cannot be written");
  pin_to_cpu(0);
  const auto bytes = [&] { return ByteBuffer(std::string_view(text)); };
  require(whole(bytes(), nullptr) == with_nlohmann(text, nullptr), "both sides read other values");
  current_alone(bytes(), nullptr);
  const simdjson::padded_string padded(text);
  Samples samples;
  samples.add("bytes", static_cast<double>(text.size()));
  for (std::size_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < repeats; ++i) {
      static_cast<void>(whole(bytes(), &samples));
      static_cast<void>(with_nlohmann(text, &samples));
      current_alone(bytes(), &samples);
      dom_alone(padded, samples);
    }
  }
  for (int i = 0; i < 3; ++i) samples.add("growth", growth_per_byte("/proc/self/exe", document));
  samples.print();
  return 0;
}
