#!/usr/bin/env python3
"""Writes what the fuzz targets start from: corpus/, a folder a target, and json.dict."""

import copy
import gzip
import json
import re
import struct
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "interop"))
sys.dont_write_bytecode = True
import documents  # noqa: E402

# Fuzzing goes faster over short texts: the columns of each table but these are left out.
KEPT_TYPES = {"boolean", "long", "decimal(38, 38)", "timestamptz", "string", "fixed[16]", "timestamp_ns",
              "geometry(srid:3857)", "geography(srid:4326, karney)", "unknown", "variant"}
# Of too many names, or no JSON.
NOT_FOR_DICTIONARY = {"v2_many", "v3_half_surrogate", "response_twice"}


def text_of(document):
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def shortened(document):
    made = copy.deepcopy(document)
    for schema in made["schemas"]:
        schema["fields"] = [field for field in schema["fields"]
                            if isinstance(field["type"], dict) or field["type"] in KEPT_TYPES]
    if "schema" in made:
        made["schema"] = made["schemas"][-1]
    return made


def tables():
    response = {"metadata-location": "s3://b/t/v1.json", "metadata": documents.table_v2_empty(),
                "config": {"a": "b"}}
    lenient = documents.table_v2_empty() | {
        "current-snapshot-id": -1, "refs": None, "snapshots": None, "snapshot-log": None,
        "metadata-log": None, "properties": {"n": 1, "b": True}, "statistics": [{}, None],
        "x-unknown": {"a": [1, {"b": None}]}}
    embedded = documents.table_v1_bare() | {
        "current-snapshot-id": 1, "snapshots": [
            {"snapshot-id": 1, "timestamp-ms": 1, "manifests": ["/w/t/m1.avro", "/w/t/m2.avro"]}]}
    many = documents.table_v2_empty() | {
        "properties": {f"p{number}": "" for number in range(70)}, "current-snapshot-id": 1,
        "schemas": [documents.schema(0, [
            {"id": number, "name": f"c{number}", "required": False, "type": "int"}
            for number in range(1, 71)])],
        "snapshots": [{"snapshot-id": 1, "sequence-number": 0, "timestamp-ms": 0,
                       "manifest-list": "/w/t/m.avro", "summary": {"operation": "append"}}],
        "refs": {"main": {"snapshot-id": 1, "type": "branch"}} | {
            f"r{number}": {"snapshot-id": 1, "type": "tag"} for number in range(70)}}
    return {
        "v1": text_of(shortened(documents.table_v1())),
        "v1_bare": text_of(documents.table_v1_bare()),
        "v1_embedded_manifests": text_of(embedded),
        "v2": text_of(shortened(documents.table_v2())),
        "v2_empty": text_of(documents.table_v2_empty()),
        "v2_lenient": text_of(lenient),
        "v2_many": text_of(many),
        "v2_indented": json.dumps(documents.table_v2_empty(), indent=2).encode() + b"\n",
        "v2_escaped": json.dumps(documents.table_v2_empty() | {
            "location": "/w/ü \U0001f9ca", "properties": {"ä": "\u0001"}}).encode(),
        "v2_bom": b"\xef\xbb\xbf" + text_of(documents.table_v2_empty()),
        "v2_gzip": gzip.compress(text_of(documents.table_v2_empty()), mtime=0),
        "v3": text_of(shortened(documents.table_v3())),
        "v3_all": text_of(shortened(documents.table_v3_all())),
        "v3_half_surrogate": text_of(documents.table_v3()).replace(b'-default":""',
                                                                   b'-default":"\\ud800"'),
        "response": text_of(response),
        "response_twice": text_of(response)[:-1] + b',"metadata":{},"x":01}'}


def views():
    other = documents.view()
    other["versions"][0]["representations"].append({"type": "substrait", "plan": [1]})
    return {"view": text_of(shortened(documents.view())),
            "view_other_representation": text_of(shortened(other))}


def table_updates():
    """One of each kind."""
    table = documents.table_v3_all()
    return [{"action": action} | members for action, members in {
        "assign-uuid": {"uuid": table["table-uuid"]},
        "upgrade-format-version": {"format-version": 3},
        "add-schema": {"schema": shortened(table)["schemas"][-1], "last-column-id": 9},
        "set-current-schema": {"schema-id": -1},
        "add-spec": {"spec": table["partition-specs"][-1]},
        "set-default-spec": {"spec-id": -1},
        "add-sort-order": {"sort-order": table["sort-orders"][-1]},
        "set-default-sort-order": {"sort-order-id": -1},
        "add-snapshot": {"snapshot": table["snapshots"][-1]},
        "set-snapshot-ref": {"ref-name": "main", "snapshot-id": 7, "type": "branch",
                             "min-snapshots-to-keep": 1, "max-snapshot-age-ms": 2,
                             "max-ref-age-ms": None},
        "remove-snapshots": {"snapshot-ids": [7, 8]},
        "remove-snapshot-ref": {"ref-name": "audit"},
        "set-location": {"location": "/w/t"},
        "set-properties": {"updates": {"a": "b", "ü": ""}},
        "remove-properties": {"removals": ["a"]},
        "set-statistics": {"snapshot-id": 7, "statistics": table["statistics"][0]},
        "remove-statistics": {"snapshot-id": 7},
        "set-partition-statistics": {"partition-statistics": table["partition-statistics"][0]},
        "remove-partition-statistics": {"snapshot-id": 7},
        "remove-partition-specs": {"spec-ids": [1]},
        "remove-schemas": {"schema-ids": [0]},
        "add-encryption-key": {"encryption-key": {
            "key-id": "k", "encrypted-key-metadata": "bQ==", "encrypted-by-id": "m",
            "properties": {"p": "q"}}},
        "remove-encryption-key": {"key-id": "k"}}.items()]


def table_requirements():
    return [{"type": "assert-create"},
            {"type": "assert-table-uuid", "uuid": documents.table_v2()["table-uuid"]},
            {"type": "assert-ref-snapshot-id", "ref": "main", "snapshot-id": 7},
            {"type": "assert-ref-snapshot-id", "ref": "b", "snapshot-id": None},
            {"type": "assert-last-assigned-field-id", "last-assigned-field-id": 3},
            {"type": "assert-current-schema-id", "current-schema-id": 0},
            {"type": "assert-last-assigned-partition-id", "last-assigned-partition-id": 1000},
            {"type": "assert-default-spec-id", "default-spec-id": 0},
            {"type": "assert-default-sort-order-id", "default-sort-order-id": 0}]


def field(number, name, kind, required=False):
    return {"id": number, "name": name, "required": required, "type": kind}


def applied_commits():
    """What can be applied to the tables and the view of commit_bases.h."""
    columns = [field(1, "id", "long", True), field(2, "ts", "timestamp")]
    nested = field(4, "s", {"type": "struct", "fields": [field(5, "x", "int", True)]})
    add_schema = {"action": "add-schema", "schema": documents.schema(
        -1, columns + [nested, field(20, "n", "decimal(9, 2)")])}
    set_schema = {"action": "set-current-schema", "schema-id": -1}
    add_spec = {"action": "add-spec", "spec": {"fields": [
        {"source-id": 2, "name": "d", "transform": "day"},
        {"source-id": 1, "name": "i", "transform": "identity"}]}}
    set_spec = {"action": "set-default-spec", "spec-id": -1}
    add_order = {"action": "add-sort-order", "sort-order": {"order-id": 1, "fields": [
        {"source-id": 2, "transform": "identity", "direction": "desc", "null-order": "nulls-last"}]}}
    set_order = {"action": "set-default-sort-order", "sort-order-id": -1}
    remove_specs = {"action": "remove-partition-specs", "spec-ids": [0]}
    remove_schemas = {"action": "remove-schemas", "schema-ids": [0]}

    def snapshot(number, parent, sequence_number, first_row_id):
        members = {"snapshot-id": number, "sequence-number": sequence_number, "schema-id": 0,
                   "timestamp-ms": 1700000000003, "manifest-list": "s3://b/t/m/n.avro",
                   "summary": {"operation": "append"}, "first-row-id": first_row_id,
                   "added-rows": 5}
        return {"action": "add-snapshot",
                "snapshot": members | ({"parent-snapshot-id": parent} if parent else {})}

    def ref(name, number, kind="branch"):
        return {"action": "set-snapshot-ref", "ref-name": name, "type": kind, "snapshot-id": number}

    def version(number, schema, dialect="trino"):
        return {"action": "add-view-version", "view-version": {
            "version-id": number, "timestamp-ms": 1700000000005, "schema-id": schema,
            "default-namespace": ["a"], "summary": {}, "representations": [
                {"type": "sql", "sql": "SELECT 3", "dialect": dialect},
                {"type": "sql", "sql": "SELECT 4", "dialect": "spark"}]}}

    upgrade = {"action": "upgrade-format-version", "format-version": 3}
    removals = {"action": "remove-snapshots", "snapshot-ids": [7, 9]}
    new_table = [{"action": "assign-uuid", "uuid": "9c12d441-03fe-4693-9a96-a0705ddf69c1"},
                 {"action": "upgrade-format-version", "format-version": 2}, add_schema, set_schema,
                 add_spec, set_spec, add_order, set_order]
    old_properties = {"action": "set-properties", "updates": {
        "a": "c", "format-version": "3", "write.metadata.previous-versions-max": "1"}}
    set_version = {"action": "set-current-view-version", "view-version-id": -1}
    made = {
        "schema": [add_schema, set_schema, remove_schemas, add_schema],
        "spec": [add_spec, set_spec, remove_specs, {"action": "set-default-spec", "spec-id": 1}],
        "structure": [upgrade, add_schema, set_schema, add_spec, set_spec, add_order, set_order],
        "append": [snapshot(11, 8, 4, 30), ref("main", 11)],
        "appends": [snapshot(11, 8, 4, 30), ref("main", 11), snapshot(12, 11, 5, 35),
                    ref("main", 12), ref("b", 11)],
        "no_id": [snapshot(-1, 8, 4, 30), ref("main", -1)],
        "rollback": [ref("main", 7), ref("v1", 8, "tag"),
                     {"action": "remove-snapshot-ref", "ref-name": "audit"}],
        "expire": [removals, {"action": "remove-snapshot-ref", "ref-name": "main"}],
        "expire_main": [{"action": "remove-snapshots", "snapshot-ids": [8]}, ref("main", 7)],
        "upgrade": [upgrade, snapshot(11, 8, 4, 30), ref("main", 11), removals],
        "properties": [old_properties, {"action": "remove-properties", "removals": ["a", "z"]},
                       {"action": "set-location", "location": "s3://b/other/"}],
        "new": new_table + [snapshot(1, None, 1, 0), ref("main", 1)],
        "new_v3": new_table + [upgrade, snapshot(1, None, 1, 0), snapshot(2, 1, 2, 5),
                               ref("main", 1), ref("main", 2)],
        "view": [{"action": "add-schema", "schema": documents.schema(3, columns)}, version(3, -1),
                 set_version],
        "view_versions": [version(3, 1), set_version, version(4, 2), version(5, 2, "presto"),
                          {"action": "set-current-view-version", "view-version-id": 1},
                          {"action": "set-properties", "updates": {
                              "version.history.num-entries": "1",
                              "replace.drop-dialect.allowed": "true"}}]}
    return {"apply_" + name: text_of({"requirements": [], "updates": updates})
            for name, updates in made.items()}


def requests():
    view = shortened(documents.view())
    table = shortened(documents.table_v2())

    def change(name, requirements, updates):
        return {"identifier": {"namespace": ["a", "b"], "name": name},
                "requirements": requirements, "updates": updates}

    spec = {"spec-id": None, "fields": [{"field-id": None, "source-id": 1, "name": "x_bucket",
                                         "transform": "bucket[4]"}]}
    order = {"fields": [{"source-id": 1, "transform": "identity", "direction": "asc",
                         "null-order": "nulls-first"}]}
    updates = table_updates()
    append = [update for update in updates if update["action"] in ("add-snapshot",
                                                                   "set-snapshot-ref")]
    action_behind = [dict(reversed(update.items())) for update in updates[-8:]]
    return {
        "table_commit": text_of(change("t", table_requirements(), updates)),
        "table_append": text_of({"requirements": table_requirements()[1:3], "updates": append}),
        "table_action_behind": text_of({"requirements": [], "updates": action_behind}),
        "view_commit": text_of(change(
            "v", [{"type": "assert-view-uuid", "uuid": view["view-uuid"]}],
            [update for update in updates if update["action"] in (
                "add-schema", "set-location", "set-properties", "remove-properties")] +
            [{"action": "add-view-version", "view-version": view["versions"][-1]},
             {"action": "set-current-view-version", "view-version-id": -1}])),
        "transaction": text_of({"table-changes": [
            change("t", table_requirements()[1:3], append),
            change("u", [], [{"action": "set-properties", "updates": {}}])]}),
        "table_creation": text_of({
            "name": "t", "location": "/w/t", "schema": table["schemas"][-1],
            "partition-spec": spec, "write-order": order, "stage-create": True,
            "properties": {"format-version": "3"}}),
        "view_creation": text_of({
            "name": "v", "schema": view["schemas"][0], "view-version": view["versions"][0],
            "properties": {"a": "b"}}),
        "creation_bom": b"\xef\xbb\xbf" + text_of({
            "name": "t", "location": None, "schema": documents.schema(0, []),
            "partition-spec": None, "write-order": None, "stage-create": None,
            "properties": None})}


def headers():
    return {
        "v1": b'{"format-version":1,"location":"/w/t","schema":{}}',
        "v3": b'{"format-version":3,"table-uuid":"9c12d441-03fe-4693-9a96-a0705ddf69c1",'
              b'"location":"/w/t","schemas":[]}',
        "v4": b'{"format-version":4,"location":"/w/t","schemas":[],"x":{"format-version":1}}'}


def gzips():
    text = text_of(documents.table_v2_empty())
    stored = gzip.compress(text[:64], compresslevel=0, mtime=0)
    return {"empty": gzip.compress(b"", mtime=0), "text": gzip.compress(text, mtime=0),
            "stored": stored, "two_members": gzip.compress(b"a", mtime=0) + stored,
            "bytes_behind": gzip.compress(b"a", mtime=0) + b"\0\0",
            "plain": b"\x53" + text, "repeated": b"\x39" + b"ab" * 2000}


def locations():
    return {
        "plain": b"/w/t/a b%20c?d#e+f",
        "file_uri": b"file:///w/t/a%20b%2Fc+%C3%BC",
        "short_file_uri": b"FILE:/w/t",
        "localhost": b"file://localhost/w/t\nfile://localhost=/w",
        "other_host": b"file://host/w/t",
        "mapped": b"s3://b/w/t/x\ns3://b/w=/mnt/w\ns3://b=file:/mnt\ns3://=/all\nw/t=/rel",
        "relative": b"w/t/x\nw=/mnt/day=1/\n/=s3:a",
        "odd_mappings": b"/\n/:/\n/a//:b:\n:///=c://"}


def avro_long(value):
    bits = (value << 1) ^ (value >> 63)
    out = bytearray()
    while bits > 0x7f:
        out.append(bits & 0x7f | 0x80)
        bits >>= 7
    return bytes(out + bytes([bits]))


def avro_bytes(value):
    return avro_long(len(value)) + value


def avro_file(schema, codec, *blocks):
    """Blocks are pairs of a count and the bytes of as many records."""
    sync = b"0123456789abcdef"
    metadata = {b"avro.schema": text_of(schema), b"avro.codec": codec}
    out = b"Obj\x01" + avro_long(len(metadata))
    out += b"".join(avro_bytes(key) + avro_bytes(value) for key, value in metadata.items())
    out += b"\0" + sync
    for count, data in blocks:
        stored = zlib.compress(data)[2:-4] if codec == b"deflate" else data
        out += avro_long(count) + avro_bytes(stored) + sync
    return out


def avro_record(name, **types):
    fields = [{"name": field, "type": kind, "field-id": number + 500}
              for number, (field, kind) in enumerate(types.items())]
    return {"type": "record", "name": name, "fields": fields}


def avro_files():
    """Whole files; and, where the first byte is the number of records, a schema and their bytes."""
    bounds = {"type": "array", "logicalType": "map", "element-id": 9,
              "items": avro_record("k126_v127", key="int", value="bytes")}
    date = {"type": "int", "logicalType": "date"}
    manifest = avro_record(
        "manifest_entry", status="int", snapshot_id=["null", "long"],
        data_file=avro_record("r2", file_path="string", partition=avro_record(
            "r102", day=["null", date]), lower_bounds=["null", bounds], upper_bounds=["null", {
                "type": "array", "items": "k126_v127"}]))
    entry = (b"\x02\x02\x54" + avro_bytes(b"/w/t/a.parquet") + b"\x02" + avro_long(19000) + b"\x02" +
             b"\x04\x02" + avro_bytes(b"a") + b"\x04" + avro_bytes(b"") + b"\0" +
             b"\x02\x01\x06\x06" + avro_bytes(b"z") + b"\0")
    removed = b"\x04\0" + avro_bytes(b"b") + b"\0\0\0"
    kinds = avro_record(
        "all", b="boolean", f="float", d="double", x={"type": "fixed", "name": "f3", "size": 3},
        z={"type": "fixed", "name": "f0", "size": 0}, e={"type": "enum", "name": "e",
                                                         "symbols": ["A", "B"]},
        m={"type": "map", "values": ["null", "string", "e"], "key-id": 1, "value-id": 2},
        n={"type": "array", "items": "null"},
        p={"type": "fixed", "name": "p", "size": 2, "logicalType": "decimal", "precision": 4,
           "scale": 2})
    all_kinds = (b"\x01" + b"\0\0\x80\x3f" + b"\0" * 8 + b"abc" + b"\x02" +
                 b"\x04" + avro_bytes(b"k") + b"\x02" + avro_bytes(b"v") + avro_bytes(b"l") +
                 b"\x04\x02\0" + b"\x06\0" + b"\x01\x02")
    made = {name: bytes([count]) + text_of(schema) + b"\n" + data for name, count, schema, data in [
        ("made_manifest", 2, manifest, entry + removed),
        ("made_all_kinds", 1, kinds, all_kinds),
        ("made_nested", 1, {"type": "array", "items": {"type": "array", "items": ["null", "long"]}},
         b"\x02\x04\x02\x06\0\0\x01\x02\0\0"),
        ("made_empty_records", 200, avro_record("r"), b""),
        ("made_namespaces", 2, {"type": "record", "name": "r", "namespace": "n", "fields": [
            {"name": "a", "type": {"type": "record", "name": "i", "fields": []}},
            {"name": "b", "type": ["i", "n.i", {"type": {"type": "long"}}]}]}, b"\0\x04\x08"),
        ("made_inside_itself", 1, avro_record("r", a=["null", "r"]), b"\0")]}
    return made | {
        "plain": avro_file(manifest, b"null", (2, entry + removed), (1, removed)),
        "deflate": avro_file(manifest, b"deflate", (1, entry), (0, b""), (2, removed + entry)),
        "all_kinds": avro_file(kinds, b"null", (1, all_kinds)),
        "bomb": avro_file("bytes", b"deflate", (1, avro_bytes(b"\0" * 300000))),
        "other_codec": avro_file("int", b"zstandard", (1, b"\0")),
        "encrypted": b"AGS1\0\0\x10\0" + b"x" * 28}


def manifest_schemas():
    """Of entries and of lists, as the target has them."""
    source = (HERE / "manifest_schemas.h").read_text()
    return [json.loads(text) for text in re.findall(r'R"json\((.*?)\)json"', source, re.S)]


def avro_value(schema, value):
    """A value of a schema: unions are null and one type, records and maps are dicts by name."""
    if isinstance(schema, list):
        return b"\0" if value is None else b"\x02" + avro_value(schema[1], value)
    kind = schema if isinstance(schema, str) else schema["type"]
    if kind == "record":
        return b"".join(avro_value(field["type"], value.get(field["name"]))
                        for field in schema["fields"])
    if kind in ("array", "map"):
        if kind == "map":
            items = [avro_bytes(key.encode()) + avro_value(schema["values"], of)
                     for key, of in value.items()]
        else:
            items = [avro_value(schema["items"], item) for item in value]
        return (avro_long(len(items)) + b"".join(items) if items else b"") + b"\0"
    if kind == "boolean":
        return bytes([value])
    if kind == "float":
        return struct.pack("<f", value)
    if kind in ("int", "long"):
        return avro_long(value)
    return avro_bytes(value if isinstance(value, bytes) else value.encode())


def manifests():
    """Whole files; and bytes of records behind a byte that says of which schema, and how many."""
    entry_schema, list_schema = manifest_schemas()
    pairs = [{"key": 1, "value": 10}, {"key": 2, "value": 20}]
    bounds = [{"key": 1, "value": b"a"}, {"key": 5, "value": b"\0\0\x80\x3f"}]
    partition = {"s": "abcd", "d": 17486, "n": b"\x05\x8c", "b": 3, "f": 1.5, "t": 1000,
                 "u": "f79c3e09-677c-4bbd-a479-3f349cb785e7"}
    data = {"content": 0, "file_path": "/w/t/a", "file_format": "PARQUET", "partition": partition,
            "record_count": 10, "file_size_in_bytes": 1000, "column_sizes": {"1": 5, "7": 6},
            "value_counts": pairs, "null_value_counts": [None] + pairs, "lower_bounds": bounds,
            "upper_bounds": bounds, "key_metadata": b"k", "split_offsets": [4, 100],
            "sort_order_id": 0, "first_row_id": 5}
    bare = {"content": 0, "file_path": "b", "file_format": "orc", "partition": {},
            "record_count": 0, "file_size_in_bytes": 0}
    positions = bare | {"content": 1, "referenced_data_file": "a"}
    ranged = bare | {"content": 1, "lower_bounds": [{"key": 2147483546, "value": b"a"}],
                     "upper_bounds": [{"key": 2147483546, "value": b"b"}]}
    equality = bare | {"content": 2, "equality_ids": [1, 2], "partition": partition}
    vector = positions | {"file_format": "puffin", "content_offset": 4,
                          "content_size_in_bytes": 40}
    added = {"status": 1}
    existing = {"status": 0, "snapshot_id": 3, "sequence_number": 2, "file_sequence_number": 2}

    def entry(of, file):
        return avro_value(entry_schema, of | {"data_file": file})

    listed = {"manifest_path": "/w/t/m", "manifest_length": 100, "partition_spec_id": 0,
              "content": 1, "sequence_number": 5, "min_sequence_number": 4,
              "added_snapshot_id": 77, "added_files_count": 1, "existing_files_count": 0,
              "deleted_files_count": 0, "added_rows_count": 10, "existing_rows_count": 0,
              "deleted_rows_count": 0, "key_metadata": b"k", "first_row_id": 5, "partitions": [
                  {"contains_null": True, "contains_nan": False, "lower_bound": b"a",
                   "upper_bound": b"z"}, {"contains_null": False}]}
    summary = avro_value(list_schema, listed)
    two_data = entry(added, data) + entry(existing, bare)
    all_deletes = (entry(added, positions) + entry(existing, vector) + entry(added, equality) +
                   entry(added, ranged))
    return {
        "made_data": b"\x16" + two_data,
        "made_v1_data": b"\x20" + entry(added, bare) * 2 + entry({"status": 2}, bare),
        "made_deletes": b"\x33" + all_deletes,
        "made_two_vectors": b"\x13" + entry(added, vector) * 2,
        "made_list": b"\x18" + summary * 2,
        "data": avro_file(entry_schema, b"null", (2, two_data)),
        "deletes": avro_file(entry_schema, b"deflate", (4, all_deletes)),
        "list": avro_file(list_schema, b"null", (1, summary))}


def dictionary():
    """The names and values of members, as libFuzzer reads them."""
    words = set()

    def collect(value):
        if isinstance(value, dict):
            for key, inside in value.items():
                words.add(key)
                collect(inside)
        elif isinstance(value, list):
            for inside in value:
                collect(inside)
        elif isinstance(value, str) and len(value) < 20:
            words.add(value)

    for name, text in (tables() | views()).items():
        if text.startswith(b"{") and name not in NOT_FOR_DICTIONARY:
            collect(json.loads(text))
    for text in requests().values():
        collect(json.loads(text.decode("utf-8-sig")))
    words |= {update["action"] for update in table_updates()}
    words |= {requirement["type"] for requirement in table_requirements()}
    words |= {"variant", "geometry", "geography(srid:1, vincenty)", "fixed[1]", "year", "month"}
    lines = ['"\\"%s\\""' % word for word in sorted(words) if word.isascii() and word.isprintable()
             and '"' not in word and "\\" not in word]
    numbers = [2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, -1, 0]
    return "\n".join(lines + [f'"{number}"' for number in numbers]) + "\n"


def main():
    corpus = {"metadata": tables() | views(), "view": views(),
              "header": headers() | views() | {
                  name: tables()[name] for name in ("v2_bom", "v2_gzip")},
              "gzip": gzips(), "location": locations(), "avro": avro_files(),
              "manifest": manifests(), "commit": requests() | applied_commits()}
    for target, inputs in corpus.items():
        (HERE / "corpus" / target).mkdir(parents=True, exist_ok=True)
        for name, text in inputs.items():
            (HERE / "corpus" / target / name).write_bytes(text)
    (HERE / "json.dict").write_text(dictionary())


if __name__ == "__main__":
    main()
