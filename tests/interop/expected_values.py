"""Values of documents.py's documents that PyIceberg does not know, as they have to be read: for a
path, the values of all that lies under it."""

from documents import INT32_MAX, INT64_MAX


def type_values(path, kind, **members):
    """Of a type; members that say nothing of it have these values."""
    values = {"precision": 0, "scale": 0, "fixed_bytes": 0, "crs": "", "algorithm": "spherical",
              "fields": []} | members
    if values["fields"] is None:
        del values["fields"]
    return {f"{path}kind": kind} | {f"{path}{name}": value for name, value in values.items()}


def field_values(path, id, name, **members):
    values = {"required": False, "doc": None, "initial_default": None, "write_default": None}
    return {f"{path}{member}": value
            for member, value in ({"id": id, "name": name} | values | members).items()}


EXPECTED_V3 = {
    "format_version": {"": 3},
    "next_row_id": {"": INT64_MAX},
    "last_column_id": {"": 15},
    # Columns.
    "schemas[1].fields[0]": field_values(
        "", 1, "id", required=True, initial_default=INT64_MAX, write_default=-INT64_MAX - 1)
    | type_values("type.", "long"),
    "schemas[1].fields[1].type": type_values("", "timestamp_ns"),
    "schemas[1].fields[2].type": type_values("", "timestamptz_ns"),
    "schemas[1].fields[3].type": type_values("", "unknown"),
    "schemas[1].fields[4].type": type_values("", "geometry", crs="OGC:CRS84"),
    "schemas[1].fields[5].type": type_values("", "geography", crs="OGC:CRS84"),
    "schemas[1].fields[6]": field_values(
        "", 9, "s", required=True, initial_default="ü\"\n", write_default="")
    | type_values("type.", "string"),
    "schemas[1].fields[7]": field_values(
        "", 10, "b", required=True, initial_default=False) | type_values("type.", "boolean"),
    "schemas[1].fields[8].type": type_values("", "variant"),
    "schemas[1].fields[9].type": type_values("", "geometry", crs="srid:3857"),
    "schemas[1].fields[10].type": type_values("", "geography", crs="srid:4326",
                                              algorithm="karney"),
    "schemas[1].fields[11]": field_values(
        "", 12, "l", required=True, initial_default=[1, 2], write_default=[])
    | type_values("type.", "list", fields=None)
    | field_values("type.fields[0].", 14, "element") | type_values("type.fields[0].type.", "int"),
    "schemas[1].fields[12]": field_values(
        "", 13, "s3", required=True, initial_default={"15": 34})
    | type_values("type.", "struct", fields=None)
    | field_values("type.fields[0].", 15, "f", required=True, write_default=34)
    | type_values("type.fields[0].type.", "int"),
    # Transforms of several columns, and unknown ones.
    "partition_specs[0].fields[1]": {
        "field_id": 1001, "name": "both", "source_ids[0]": 1, "source_ids[1]": 9,
        "transform.kind": "unknown", "transform.parameter": 0, "transform.text": "mix[3]"},
    "sort_orders[0].fields[1]": {
        "source_ids[0]": 1, "source_ids[1]": 2, "source_ids[2]": 3, "direction": "desc",
        "null_order": "nulls-last", "transform.kind": "unknown", "transform.parameter": 0,
        "transform.text": "zorder"},
    # Row lineage.
    "snapshots[0].first_row_id": {"": 0},
    "snapshots[0].added_rows": {"": 10},
    "snapshots[0].key_id": {"": None},
    "snapshots[1].first_row_id": {"": 10},
    "snapshots[1].added_rows": {"": INT64_MAX - 10},
    "snapshots[2].first_row_id": {"": 0},
    "snapshots[2].added_rows": {"": 0},
    # Encryption.
    "snapshots[2].key_id": {"": "k2"},
    "encryption_keys": {
        "[0].key_id": "k1", "[0].encrypted_key_metadata": "AAECAw==",
        "[0].encrypted_by_id": None, '[0].properties{"a"}': "b",
        "[1].key_id": "k2", "[1].encrypted_key_metadata": "", "[1].encrypted_by_id": "k1",
        "[1].properties": {}},
    "statistics[0].key_metadata": {"": "AAECAw=="},
    "statistics[0].blob_metadata[2]": {
        "type": "acme.histogram", "snapshot_id": 1, "sequence_number": 1, "fields[0]": 3,
        "properties": {}},
}

EXPECTED_VIEW = {
    "format_version": {"": 1},
    "view_uuid": {"": "fa6506c3-7681-40c8-86dc-e36561f83385"},
    "location": {"": "s3://b/v"},
    "current_version_id": {"": 2},
    "properties": {'{"comment"}': "daily \"counts\"\n"},
    "versions[0]": {
        "version_id": 1, "schema_id": 1, "timestamp_ms": 1573518431292, "default_catalog": "prod",
        "default_namespace[0]": "default", "default_namespace[1]": "in ü",
        'summary{"engine-name"}': "Spark", 'summary{"engineVersion"}': "3.3.2",
        "representations[0].type": "sql", "representations[0].dialect": "spark",
        "representations[0].sql": "SELECT COUNT(1)\nFROM events", "representations[0].json": ""},
    "versions[0].representations[0]": {
        "type": "sql", "dialect": "spark", "sql": "SELECT COUNT(1)\nFROM events", "json": ""},
    "versions[1]": {
        "version_id": 2, "schema_id": INT32_MAX, "timestamp_ms": INT64_MAX,
        "default_catalog": None, "default_namespace": [], "summary": {},
        "representations[0].type": "sql", "representations[0].dialect": "trino",
        "representations[0].sql": "SELECT 1", "representations[0].json": "",
        "representations[1].type": "sql", "representations[1].dialect": "spark",
        "representations[1].sql": "SELECT '\\''", "representations[1].json": ""},
    "version_log": {
        "[0].timestamp_ms": 1573518431292, "[0].version_id": 1,
        "[1].timestamp_ms": INT64_MAX, "[1].version_id": 2},
    "schemas[0]": {"schema_id": 1, "identifier_field_ids": []}
    | field_values("fields[0].", 1, "event_count", doc="Count of events")
    | type_values("fields[0].type.", "int"),
    "schemas[1].schema_id": {"": INT32_MAX},
    "schemas[1].fields[5].type": type_values("", "decimal", precision=38, scale=38),
    "schemas[1].fields[13].type": type_values("", "fixed", fixed_bytes=16),
}
