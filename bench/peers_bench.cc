// Where a host could keep the pointers of its tables instead: a lookup of each, from a TableIdent
// to the bytes of a location. The peers are filled here. Prints wall and thread CPU time, in ns a
// lookup, round by round.
//
//   peers_bench --segment DIR --tables N --rounds N --lookups N --sqlite FILE --lmdb DIR
//               --redis SOCKET --memcached SOCKET
//   peers_bench --versions
#include <hiredis/hiredis.h>
#include <iceblink/catalog.h>
#include <libmemcached/memcached.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "bench/lmdb_table.h"
#include "bench/measurement.h"
#include "bench/private_map.h"
#include "bench/sample_catalog.h"

namespace {

using namespace iceblink;
using namespace iceblink::bench;

/// Lookups that are sent to a server before an answer is read, while it is filled.
constexpr std::size_t kPipeline = 10'000;
constexpr const char* kCatalogName = "default";

class Redis {
 public:
  Redis(const std::string& socket, const SampleCatalog& sample)
      : context_(::redisConnectUnix(socket.c_str()), ::redisFree) {
    require(context_ != nullptr && context_->err == 0, "redis: cannot connect");
    for (std::size_t begin = 0; begin < sample.table_count(); begin += kPipeline) {
      const std::size_t end = std::min(begin + kPipeline, sample.table_count());
      for (std::size_t i = begin; i < end; ++i) {
        const std::string key = encode(sample.ident(i));
        const std::string location = sample.location(i, 0);
        ::redisAppendCommand(context_.get(), "SET %b %b", key.data(), key.size(), location.data(),
                             location.size());
      }
      for (std::size_t i = begin; i < end; ++i)
        take_reply([&](void** reply) { return ::redisGetReply(context_.get(), reply); });
    }
  }
  std::size_t find(const TableIdent& ident) {
    const StackKey key(ident);
    return take_reply([&](void** reply) {
      *reply = ::redisCommand(context_.get(), "GET %b", key.view().data(), key.view().size());
      return *reply == nullptr ? REDIS_ERR : REDIS_OK;
    });
  }

 private:
  /// The size of what it brought.
  template <typename Get>
  std::size_t take_reply(Get get) {
    void* taken = nullptr;
    require(get(&taken) == REDIS_OK, "redis: no reply");
    const std::unique_ptr<void, decltype(&::freeReplyObject)> reply(taken, ::freeReplyObject);
    const auto* answer = static_cast<const redisReply*>(taken);
    require(answer->type != REDIS_REPLY_ERROR, "redis: an error");
    return answer->type == REDIS_REPLY_STRING ? answer->len : 0;
  }
  std::unique_ptr<redisContext, decltype(&::redisFree)> context_;
};

class Memcached {
 public:
  Memcached(const std::string& socket, const SampleCatalog& sample)
      : client_(::memcached_create(nullptr), ::memcached_free) {
    // Keys hold separators, which the text protocol does not bear.
    ::memcached_behavior_set(client_.get(), MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, 1);
    require(::memcached_server_add_unix_socket(client_.get(), socket.c_str()) == MEMCACHED_SUCCESS,
            "memcached: cannot connect");
    for (std::size_t i = 0; i < sample.table_count(); ++i) {
      const std::string key = encode(sample.ident(i));
      const std::string location = sample.location(i, 0);
      require(::memcached_set(client_.get(), key.data(), key.size(), location.data(),
                              location.size(), 0, 0) == MEMCACHED_SUCCESS,
              "memcached: cannot set");
    }
  }
  std::size_t find(const TableIdent& ident) {
    const StackKey key(ident);
    std::size_t bytes = 0;
    std::uint32_t flags = 0;
    memcached_return_t code = MEMCACHED_FAILURE;
    const std::unique_ptr<char, decltype(&::free)> value(
        ::memcached_get(client_.get(), key.view().data(), key.view().size(), &bytes, &flags, &code),
        ::free);
    require(code == MEMCACHED_SUCCESS || code == MEMCACHED_NOTFOUND, "memcached: an error");
    return bytes;
  }

 private:
  std::unique_ptr<memcached_st, decltype(&::memcached_free)> client_;
};

/// The table and the question of PyIceberg's SQL catalog, prepared once.
class Sqlite {
 public:
  Sqlite(const std::string& file, const SampleCatalog& sample) {
    require(::sqlite3_open(file.c_str(), &database_) == SQLITE_OK, "sqlite: cannot open");
    run("PRAGMA synchronous = OFF");
    run("CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, "
        "table_namespace VARCHAR(255) NOT NULL, table_name VARCHAR(255) NOT NULL, "
        "metadata_location VARCHAR(1000), previous_metadata_location VARCHAR(1000), "
        "PRIMARY KEY (catalog_name, table_namespace, table_name))");
    run("BEGIN");
    const auto insert = prepare("INSERT INTO iceberg_tables VALUES (?, ?, ?, ?, NULL)");
    for (std::size_t i = 0; i < sample.table_count(); ++i) {
      const std::string location = sample.location(i, 0);
      const TableIdent ident = sample.ident(i);
      bind(insert.get(), ident);
      ::sqlite3_bind_text(insert.get(), 4, location.data(), static_cast<int>(location.size()),
                          SQLITE_TRANSIENT);
      require(::sqlite3_step(insert.get()) == SQLITE_DONE, "sqlite: cannot insert");
      ::sqlite3_reset(insert.get());
    }
    run("COMMIT");
    select_ = prepare(
        "SELECT metadata_location FROM iceberg_tables "
        "WHERE catalog_name = ? AND table_namespace = ? AND table_name = ?");
  }
  ~Sqlite() {
    select_.reset();
    ::sqlite3_close(database_);
  }
  Sqlite(const Sqlite&) = delete;
  Sqlite& operator=(const Sqlite&) = delete;

  std::size_t find(const TableIdent& ident) {
    bind(select_.get(), ident);
    const int code = ::sqlite3_step(select_.get());
    require(code == SQLITE_ROW || code == SQLITE_DONE, "sqlite: an error");
    const int bytes = code == SQLITE_ROW ? ::sqlite3_column_bytes(select_.get(), 0) : 0;
    ::sqlite3_reset(select_.get());
    return static_cast<std::size_t>(bytes);
  }

 private:
  using Statement = std::unique_ptr<sqlite3_stmt, decltype(&::sqlite3_finalize)>;

  void run(const char* sql) {
    require(::sqlite3_exec(database_, sql, nullptr, nullptr, nullptr) == SQLITE_OK, sql);
  }
  Statement prepare(const char* sql) {
    sqlite3_stmt* statement = nullptr;
    require(::sqlite3_prepare_v2(database_, sql, -1, &statement, nullptr) == SQLITE_OK, sql);
    return {statement, ::sqlite3_finalize};
  }
  /// Levels are joined by dots there. The identifier is borrowed until the statement is reset.
  void bind(sqlite3_stmt* statement, const TableIdent& ident) {
    space_.clear();
    for (const auto& level : ident.levels) {
      if (!space_.empty()) space_ += '.';
      space_ += level;
    }
    ::sqlite3_bind_text(statement, 1, kCatalogName, -1, SQLITE_STATIC);
    ::sqlite3_bind_text(statement, 2, space_.data(), static_cast<int>(space_.size()),
                        SQLITE_STATIC);
    ::sqlite3_bind_text(statement, 3, ident.name.data(), static_cast<int>(ident.name.size()),
                        SQLITE_STATIC);
  }

  sqlite3* database_ = nullptr;
  Statement select_{nullptr, ::sqlite3_finalize};
  std::string space_;
};

/// Asks `find` for every question, and adds what one took. Wrong answers end the program.
template <typename Find>
void measure(Samples& samples, const std::string& name, const Questions& questions, Find find) {
  const std::uint64_t wall_begin = wall_ns();
  const std::uint64_t cpu_begin = thread_cpu_ns();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < questions.idents.size(); ++i) {
    wrong += find(questions.idents[i]) == questions.location_bytes[i] ? 0 : 1;
  }
  const auto count = static_cast<double>(questions.idents.size());
  samples.add(name + "/cpu", static_cast<double>(thread_cpu_ns() - cpu_begin) / count);
  samples.add(name + "/wall", static_cast<double>(wall_ns() - wall_begin) / count);
  require(wrong == 0, name.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--versions") {
    std::printf("{\"sqlite\": \"%s\", \"hiredis\": \"%d.%d.%d\", \"libmemcached\": \"%s\"}\n",
                ::sqlite3_libversion(), HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH,
                ::memcached_lib_version());
    return 0;
  }
  const SampleCatalog sample(number(argc, argv, "--tables", 10'000));
  const std::size_t rounds = number(argc, argv, "--rounds", 11);
  const Questions questions = make_questions(sample, number(argc, argv, "--lookups", 10'000), 1);
  const Catalog catalog = take(Catalog::open(argument(argc, argv, "--segment", "")));
  const Snapshot snapshot = take(catalog.snapshot());
  Redis redis(argument(argc, argv, "--redis", ""), sample);
  Memcached memcached(argument(argc, argv, "--memcached", ""), sample);
  Sqlite sqlite(argument(argc, argv, "--sqlite", ""), sample);
  const LmdbTable lmdb(argument(argc, argv, "--lmdb", ""), LmdbTable::Durability::kNone);
  LmdbTable::Reader reader(lmdb);
  Samples samples;
  for (std::size_t round = 0; round <= rounds; ++round) {
    if (round == 1) samples = Samples();  // the first warms up
    measure(samples, "resolve_location", questions, [&](const TableIdent& ident) {
      const auto location = catalog.resolve_location(ident);
      return location.ok() ? location->size() : 0;
    });
    measure(samples, "find", questions, [&](const TableIdent& ident) {
      const auto found = snapshot.find(ident);
      return found.ok() && *found ? (*found)->metadata_location().size() : 0;
    });
    reader.hold();
    measure(samples, "lmdb_held", questions,
            [&](const TableIdent& ident) { return reader.get(StackKey(ident).view()); });
    reader.drop();
    measure(samples, "sqlite", questions,
            [&](const TableIdent& ident) { return sqlite.find(ident); });
    measure(samples, "redis", questions,
            [&](const TableIdent& ident) { return redis.find(ident); });
    measure(samples, "memcached", questions,
            [&](const TableIdent& ident) { return memcached.find(ident); });
  }
  samples.print();
  return 0;
}
