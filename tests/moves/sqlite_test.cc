// Imports from SQL catalogs in SQLite files, as PyIceberg and Java make them.
#include <sqlite3.h>

#include "tests/moves/moves_fixture.h"

namespace iceblink::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kOldTables =
    "CREATE TABLE iceberg_tables (catalog_name VARCHAR(255) NOT NULL, table_namespace VARCHAR(255) "
    "NOT NULL, table_name VARCHAR(255) NOT NULL, metadata_location VARCHAR(1000), "
    "previous_metadata_location VARCHAR(1000), PRIMARY KEY (catalog_name, table_namespace, "
    "table_name));";
constexpr const char* kProperties =
    "CREATE TABLE iceberg_namespace_properties (catalog_name VARCHAR(255) NOT NULL, namespace "
    "VARCHAR(255) NOT NULL, property_key VARCHAR(255) NOT NULL, property_value VARCHAR(1000), "
    "PRIMARY KEY (catalog_name, namespace, property_key));";
constexpr const char* kTypes = "ALTER TABLE iceberg_tables ADD COLUMN iceberg_type VARCHAR(5);";

class SqliteCatalog : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(sqlite3_open(file_.c_str(), &database_), SQLITE_OK); }
  void TearDown() override { sqlite3_close(database_); }

  void execute(const std::string& sql) {
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK)
        << message << ": " << sql;
  }
  Finished import(std::vector<std::string> arguments = {}) {
    arguments.insert(arguments.begin(), {"import", "sqlite", file_, "--unverified"});
    return place_.run(arguments);
  }

  Folder folder_;
  Place place_;
  std::string file_ = folder_ / "catalog.db";
  sqlite3* database_ = nullptr;
};

TEST_F(SqliteCatalog, TakesTablesViewsAndNamespacesWithProperties) {
  execute(std::string(kOldTables) + kProperties + kTypes);
  execute(
      "INSERT INTO iceberg_tables VALUES ('c','a','t','s3://t','s3://t0','TABLE'),"
      "('c','a.b','u','s3://u',NULL,NULL),('c','a','v','s3://v',NULL,'VIEW'),"
      "('c','a','odd','s3://odd',NULL,'THING'),('c','a','null',NULL,NULL,'TABLE')");
  execute(
      "INSERT INTO iceberg_namespace_properties VALUES ('c','a','exists','true'),"
      "('c','a.b','owner','x'),('c','a.b','empty',NULL),('c','z','exists','true')");
  const Finished finished = import();
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_THAT(finished.out, StartsWith("5 read, 3 created, 0 moved, 0 skipped, 0 conflicts, "
                                       "2 failed; 3 namespaces created"));
  EXPECT_THAT(finished.err, HasSubstr("a.odd: iceberg_type is 'THING'"));
  EXPECT_THAT(finished.err, HasSubstr("a.null: it has no metadata location"));
  const auto lines = place_.exported();
  ASSERT_EQ(lines.size(), 6);
  EXPECT_EQ(lines[0], R"({"kind":"namespace","namespace":["a"],"properties":{}})");
  EXPECT_THAT(lines[1], HasSubstr(R"("kind":"table","namespace":["a"],"name":"t")"));
  EXPECT_THAT(lines[2], HasSubstr(R"("kind":"view","namespace":["a"],"name":"v")"));
  EXPECT_EQ(lines[3],
            R"({"kind":"namespace","namespace":["a","b"],"properties":{"empty":"","owner":"x"}})");
  EXPECT_EQ(lines[5], R"({"kind":"namespace","namespace":["z"],"properties":{}})");
}

TEST_F(SqliteCatalog, KnowsTheTablesOfOlderCatalogs) {
  execute(kOldTables);
  execute("INSERT INTO iceberg_tables VALUES ('c','a','t','s3://t',NULL)");
  EXPECT_EQ(import().exit_code, 0);
  EXPECT_EQ(place_.tables(), "a.t\n");
}

TEST_F(SqliteCatalog, SaysWhichColumnIsMissing) {
  execute(std::string(kOldTables) +
          "CREATE TABLE iceberg_namespace_properties (catalog_name TEXT)");
  const Finished finished = import();
  EXPECT_EQ(finished.exit_code, 5);
  EXPECT_THAT(finished.err, HasSubstr("iceberg_namespace_properties has no column 'namespace'"));
}

TEST_F(SqliteCatalog, OneOfSeveralIsChosen) {
  execute(std::string(kOldTables) + kProperties);
  execute(
      "INSERT INTO iceberg_tables VALUES ('one','a','t','s3://1',NULL),"
      "('two','a','t','s3://2',NULL)");
  const Finished unclear = import();
  EXPECT_EQ(unclear.exit_code, 5);
  EXPECT_THAT(unclear.err, HasSubstr("'one', 'two'"));
  EXPECT_EQ(import({"--catalog", "three"}).exit_code, 1);
  EXPECT_EQ(import({"--catalog", "two"}).exit_code, 0);
  EXPECT_EQ(place_.location_of("a.t"), "s3://2");
}

TEST_F(SqliteCatalog, AWriterThatIsAtWorkIsNotInTheWay) {
  execute("PRAGMA journal_mode=WAL");
  execute(kOldTables);
  execute("INSERT INTO iceberg_tables VALUES ('c','a','t','s3://t',NULL)");
  execute("BEGIN IMMEDIATE");
  execute("INSERT INTO iceberg_tables VALUES ('c','a','u','s3://u',NULL)");
  EXPECT_EQ(import().exit_code, 0);
  EXPECT_EQ(place_.tables(), "a.t\n") << "what is not committed is not there";
  execute("COMMIT");
}

TEST_F(SqliteCatalog, WhatIsNoCatalogIsRefused) {
  execute("CREATE TABLE x (y)");
  const Finished finished = import();
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_THAT(finished.err, HasSubstr("no Iceberg catalog"));
  EXPECT_EQ(
      place_.run({"import", "sqlite", folder_.put("no.db", std::string(4096, 'x'))}).exit_code, 5);
  EXPECT_EQ(place_.run({"import", "sqlite", folder_ / "nowhere"}).exit_code, 1);
}

}  // namespace
}  // namespace iceblink::test
