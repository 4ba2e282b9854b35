"""Metadata documents made by hand from the specifications of tables and of views, with every member
that they know, and with the extremes of its type where that makes sense."""

INT32_MAX = 2**31 - 1
INT64_MAX = 2**63 - 1

TABLE_UUID = "9c12d441-03fe-4693-9a96-a0705ddf69c1"
VIEW_UUID = "fa6506c3-7681-40c8-86dc-e36561f83385"


def primitive_fields():
    """One column of each type of formats 1 and 2."""
    types = ["boolean", "int", "long", "float", "double", "decimal(38, 38)", "decimal(1, 0)",
             "date", "time", "timestamp", "timestamptz", "string", "uuid", "fixed[16]", "binary"]
    return [{"id": number, "name": f"c{number}", "required": number == 1, "type": type}
            for number, type in enumerate(types, 1)]


def nested_fields():
    struct = {"type": "struct", "fields": [
        {"id": 21, "name": "x", "required": True, "type": "long", "doc": "inside"},
        {"id": 22, "name": "ü \"quoted\" \\ \n \U0001f9ca", "required": False, "type": "string"}]}
    point = {"type": "struct", "fields": [
        {"id": 28, "name": "at", "required": True, "type": "timestamptz"}]}
    return [
        {"id": 16, "name": "s", "required": True, "type": struct},
        {"id": 17, "name": "l", "required": False, "doc": "a list", "type": {
            "type": "list", "element-id": 23, "element": {
                "type": "list", "element-id": 24, "element": "int", "element-required": False},
            "element-required": True}},
        {"id": 18, "name": "m", "required": False, "type": {
            "type": "map", "key-id": 25, "key": "string", "value-id": 26, "value": point,
            "value-required": True}}]


def schema(schema_id, fields, identifier_field_ids=None):
    made = {"type": "struct", "schema-id": schema_id, "fields": fields}
    if identifier_field_ids is not None:
        made["identifier-field-ids"] = identifier_field_ids
    return made


TRANSFORMS = ["identity", "bucket[16]", "truncate[4]", "year", "month", "day", "hour", "void"]


def partition_fields():
    sources = [12, 3, 12, 8, 8, 10, 11, 2]
    return [{"source-id": source, "field-id": 1000 + number, "name": f"p{number}",
             "transform": transform}
            for number, (source, transform) in enumerate(zip(sources, TRANSFORMS))]


def sort_fields():
    return [
        {"transform": "identity", "source-id": 3, "direction": "asc", "null-order": "nulls-first"},
        {"transform": "bucket[2147483647]", "source-id": 3, "direction": "desc",
         "null-order": "nulls-last"},
        {"transform": "truncate[1]", "source-id": 12, "direction": "asc",
         "null-order": "nulls-last"}]


def snapshots(with_sequence_numbers):
    """The second one is another's parent and has the greatest id there is."""
    made = [
        {"snapshot-id": 1, "timestamp-ms": 1700000000000, "manifest-list": "s3://b/t/m/1.avro",
         "summary": {"operation": "append", "added-files-size": str(INT64_MAX), "": "empty"},
         "schema-id": 0},
        {"snapshot-id": INT64_MAX, "parent-snapshot-id": 1, "timestamp-ms": 1700000000001,
         "manifest-list": "s3://b/t/m/2 %41.avro", "summary": {"operation": "delete"},
         "schema-id": 1},
        {"snapshot-id": INT64_MAX - 1, "parent-snapshot-id": INT64_MAX,
         "timestamp-ms": 1700000000002, "manifest-list": "s3://b/t/m/3.avro",
         "summary": {"operation": "replace", "spark.app.id": "ü\t"}, "schema-id": 1}]
    if with_sequence_numbers:
        for number, snapshot in enumerate(made):
            snapshot["sequence-number"] = INT64_MAX - 2 + number
    return made


def statistics():
    """PyIceberg knows these two types of blobs alone."""
    return [{"snapshot-id": 1, "statistics-path": "s3://b/t/m/1.stats",
             "file-size-in-bytes": INT64_MAX, "file-footer-size-in-bytes": 42,
             "key-metadata": "AAECAw==",
             "blob-metadata": [
                 {"type": "apache-datasketches-theta-v1", "snapshot-id": 1,
                  "sequence-number": 1, "fields": [1, 2], "properties": {"ndv": "7"}},
                 {"type": "deletion-vector-v1", "snapshot-id": INT64_MAX,
                  "sequence-number": INT64_MAX, "fields": []}]},
            {"snapshot-id": INT64_MAX, "statistics-path": "s3://b/t/m/2.stats",
             "file-size-in-bytes": 0, "file-footer-size-in-bytes": 0, "blob-metadata": []}]


def common(version):
    return {
        "format-version": version,
        "table-uuid": TABLE_UUID,
        "location": "s3://b/t/",
        "last-updated-ms": 1700000000003,
        "last-column-id": 28,
        "schemas": [schema(0, primitive_fields()),
                    schema(1, primitive_fields() + nested_fields(), [1, 21])],
        "current-schema-id": 1,
        "partition-specs": [{"spec-id": 0, "fields": []},
                            {"spec-id": 1, "fields": partition_fields()}],
        "default-spec-id": 1,
        "last-partition-id": 1007,
        "properties": {"commit.retry.num-retries": "1", "": "empty",
                       "ü\u0001": "\U0001f9ca \"\\/\n"},
        "current-snapshot-id": INT64_MAX,
        "snapshots": snapshots(with_sequence_numbers=version > 1),
        "snapshot-log": [{"timestamp-ms": 1700000000000, "snapshot-id": 1},
                         {"timestamp-ms": 1700000000001, "snapshot-id": INT64_MAX}],
        "metadata-log": [{"timestamp-ms": 1699999999999, "metadata-file": "s3://b/t/m/v1.json"},
                         {"timestamp-ms": 1700000000001, "metadata-file": "s3://b/t/m/v2.json"}],
        "sort-orders": [{"order-id": 0, "fields": []}, {"order-id": 3, "fields": sort_fields()}],
        "default-sort-order-id": 3,
        "refs": {
            "main": {"snapshot-id": INT64_MAX, "type": "branch"},
            "audit": {"snapshot-id": INT64_MAX - 1, "type": "branch",
                      "min-snapshots-to-keep": INT32_MAX, "max-snapshot-age-ms": INT64_MAX,
                      "max-ref-age-ms": INT64_MAX},
            "v1.0 ü": {"snapshot-id": 1, "type": "tag", "max-ref-age-ms": 1}},
        "statistics": statistics(),
        "partition-statistics": [
            {"snapshot-id": INT64_MAX, "statistics-path": "s3://b/t/m/p.parquet",
             "file-size-in-bytes": INT64_MAX}]}


def table_v1():
    """With the lists, and beside them what the first writers knew."""
    made = common(1)
    made["schema"] = made["schemas"][1]
    made["partition-spec"] = partition_fields()
    return made


def table_v1_bare():
    """What format 1 demands, and no more."""
    return {
        "format-version": 1, "location": "s3://b/t", "last-updated-ms": 1515100955770,
        "last-column-id": 1,
        "schema": {"type": "struct", "fields": [
            {"id": 1, "name": "x", "required": True, "type": "long"}]},
        "partition-spec": [{"name": "x", "transform": "identity", "source-id": 1,
                            "field-id": 1000}]}


def table_v2():
    made = common(2)
    made["last-sequence-number"] = INT64_MAX
    return made


def table_v2_empty():
    return {
        "format-version": 2, "table-uuid": TABLE_UUID, "location": "/w/t",
        "last-sequence-number": 0, "last-updated-ms": 0, "last-column-id": 0,
        "schemas": [schema(0, [])], "current-schema-id": 0,
        "partition-specs": [{"spec-id": 0, "fields": []}], "default-spec-id": 0,
        "last-partition-id": 999, "sort-orders": [{"order-id": 0, "fields": []}],
        "default-sort-order-id": 0}


def v3_fields():
    """What format 3 added to types and columns, that PyIceberg knows too."""
    return [
        {"id": 1, "name": "id", "required": True, "type": "long", "initial-default": INT64_MAX,
         "write-default": -INT64_MAX - 1},
        {"id": 2, "name": "ts", "required": False, "type": "timestamp_ns"},
        {"id": 3, "name": "tstz", "required": False, "type": "timestamptz_ns"},
        {"id": 4, "name": "u", "required": False, "type": "unknown"},
        {"id": 5, "name": "g", "required": False, "type": "geometry"},
        {"id": 7, "name": "h", "required": False, "type": "geography"},
        {"id": 9, "name": "s", "required": True, "type": "string", "initial-default": "ü\"\n",
         "write-default": ""},
        {"id": 10, "name": "b", "required": True, "type": "boolean", "initial-default": False}]


def table_v3():
    """As far as PyIceberg goes with it."""
    made = table_v2() | {"format-version": 3, "next-row-id": INT64_MAX, "last-column-id": 10}
    made["schemas"] = [schema(0, v3_fields()), schema(1, v3_fields(), [1])]
    made["partition-specs"] = [{"spec-id": 1, "fields": [
        {"source-id": 2, "field-id": 1000, "name": "d", "transform": "day"}]}]
    made["sort-orders"] = [{"order-id": 3, "fields": [
        {"transform": "identity", "source-id": 1, "direction": "asc",
         "null-order": "nulls-first"}]}]
    made["snapshots"][0] |= {"first-row-id": 0, "added-rows": 10}
    made["snapshots"][1] |= {"first-row-id": 10, "added-rows": INT64_MAX - 10}
    return made


def table_v3_all():
    """And what it does not know."""
    made = table_v3()
    made["schemas"][1]["fields"] = v3_fields() + [
        {"id": 11, "name": "v", "required": False, "type": "variant"},
        {"id": 6, "name": "gc", "required": False, "type": "geometry(srid:3857)"},
        {"id": 8, "name": "hc", "required": False, "type": "geography(srid:4326, karney)"},
        {"id": 12, "name": "l", "required": True, "initial-default": [1, 2], "write-default": [],
         "type": {"type": "list", "element-id": 14, "element": "int", "element-required": False}},
        {"id": 13, "name": "s3", "required": True, "initial-default": {"15": 34}, "type": {
            "type": "struct", "fields": [
                {"id": 15, "name": "f", "required": True, "type": "int", "write-default": 34}]}}]
    made["last-column-id"] = 15
    made["partition-specs"][0]["fields"].append(
        {"source-ids": [1, 9], "field-id": 1001, "name": "both", "transform": "mix[3]"})
    made["sort-orders"][0]["fields"].append(
        {"transform": "zorder", "source-ids": [1, 2, 3], "direction": "desc",
         "null-order": "nulls-last"})
    made["snapshots"][2] |= {"first-row-id": 0, "added-rows": 0, "key-id": "k2"}
    made["encryption-keys"] = [
        {"key-id": "k1", "encrypted-key-metadata": "AAECAw==", "properties": {"a": "b"}},
        {"key-id": "k2", "encrypted-key-metadata": "", "encrypted-by-id": "k1"}]
    made["statistics"][0]["blob-metadata"].append(
        {"type": "acme.histogram", "snapshot-id": 1, "sequence-number": 1, "fields": [3]})
    return made


def view():
    return {
        "view-uuid": VIEW_UUID, "format-version": 1, "location": "s3://b/v",
        "current-version-id": 2,
        "properties": {"comment": "daily \"counts\"\n"},
        "versions": [
            {"version-id": 1, "timestamp-ms": 1573518431292, "schema-id": 1,
             "default-catalog": "prod", "default-namespace": ["default", "in ü"],
             "summary": {"engine-name": "Spark", "engineVersion": "3.3.2"},
             "representations": [
                 {"type": "sql", "sql": "SELECT COUNT(1)\nFROM events", "dialect": "spark"}]},
            {"version-id": 2, "timestamp-ms": INT64_MAX, "schema-id": INT32_MAX,
             "default-namespace": [], "summary": {},
             "representations": [
                 {"type": "sql", "sql": "SELECT 1", "dialect": "trino"},
                 {"type": "sql", "sql": "SELECT '\\''", "dialect": "spark"}]}],
        "schemas": [
            schema(1, [{"id": 1, "name": "event_count", "required": False, "type": "int",
                        "doc": "Count of events"}]),
            schema(INT32_MAX, primitive_fields() + nested_fields())],
        "version-log": [{"timestamp-ms": 1573518431292, "version-id": 1},
                        {"timestamp-ms": INT64_MAX, "version-id": 2}]}
