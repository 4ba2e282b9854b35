"""The values of a metadata document as metadata_dump prints them: a dict from paths to values. From
its output, and from PyIceberg's model."""

import json

from pyiceberg.conversions import to_json
from pyiceberg.types import (DecimalType, FixedType, GeographyType, GeometryType, ListType, MapType,
                             StructType)

DEFAULT_CRS = "OGC:CRS84"


def parse_dump(text):
    """Defaults of columns become values: they are kept as JSON."""
    values = {}
    for line in text.splitlines():
        path, _, value = line.partition("\t")
        assert path not in values, f"{path} twice"
        values[path] = json.loads(value)
        if path.endswith("_default") and values[path] is not None:
            values[path] = json.loads(values[path])
    return values


class Values:
    """Collects paths and values."""

    def __init__(self):
        self.values = {}

    def add(self, path, **members):
        for name, value in members.items():
            self.values[f"{path}.{name}" if path else name] = value

    def add_list(self, path, elements, add_element=None):
        """`add_element(path, element)`; without it the elements are values themselves."""
        if not elements:
            self.values[path] = []
        for index, element in enumerate(elements or []):
            if add_element:
                add_element(f"{path}[{index}]", element)
            else:
                self.values[f"{path}[{index}]"] = element

    def add_map(self, path, entries, add_entry=None):
        if not entries:
            self.values[path] = {}
        for key, value in (entries or {}).items():
            at = f"{path}{{{quoted(key)}}}"
            if add_entry:
                add_entry(at, value)
            else:
                self.values[at] = value

    # ---- What tables and views share.

    def add_type(self, path, type):
        children = []
        if isinstance(type, StructType):
            children = type.fields
        elif isinstance(type, ListType):
            children = [type.element_field]
        elif isinstance(type, MapType):
            children = [type.key_field, type.value_field]
        is_spatial = isinstance(type, (GeometryType, GeographyType))
        self.add(path, kind=kind_of(type),
                 precision=type.precision if isinstance(type, DecimalType) else 0,
                 scale=type.scale if isinstance(type, DecimalType) else 0,
                 fixed_bytes=len(type) if isinstance(type, FixedType) else 0,
                 crs=type.crs if is_spatial else "",
                 algorithm=type.algorithm if isinstance(type, GeographyType) else "spherical")
        self.add_list(f"{path}.fields", children, self.add_field)

    def add_field(self, path, field):
        def default(value):
            return None if value is None else to_json(field.field_type, value)

        self.add(path, id=field.field_id, name=field.name, required=field.required, doc=field.doc,
                 initial_default=default(field.initial_default),
                 write_default=default(field.write_default))
        self.add_type(f"{path}.type", field.field_type)

    def add_schema(self, path, schema):
        self.add(path, schema_id=schema.schema_id)
        self.add_list(f"{path}.identifier_field_ids", schema.identifier_field_ids)
        self.add_list(f"{path}.fields", schema.fields, self.add_field)

    # ---- Tables.

    def add_transform(self, path, transform):
        text = str(transform)
        name, _, parameter = text.partition("[")
        known = {"identity", "bucket", "truncate", "year", "month", "day", "hour", "void"}
        self.add(path, kind=name if name in known else "unknown", text=text,
                 parameter=int(parameter.rstrip("]")) if name in ("bucket", "truncate") else 0)

    def add_partition_spec(self, path, spec):
        def add_field(path, field):
            self.add(path, field_id=field.field_id, name=field.name)
            self.add_list(f"{path}.source_ids", [field.source_id])
            self.add_transform(f"{path}.transform", field.transform)

        self.add(path, spec_id=spec.spec_id)
        self.add_list(f"{path}.fields", spec.fields, add_field)

    def add_sort_order(self, path, order):
        def add_field(path, field):
            self.add(path, direction=field.direction.value, null_order=field.null_order.value)
            self.add_list(f"{path}.source_ids", [field.source_id])
            self.add_transform(f"{path}.transform", field.transform)

        self.add(path, order_id=order.order_id)
        self.add_list(f"{path}.fields", order.fields, add_field)

    def add_snapshot(self, path, snapshot):
        summary = {}
        if snapshot.summary is not None:
            summary = {"operation": snapshot.summary.operation.value}
            summary |= snapshot.summary.additional_properties
        self.add(path, snapshot_id=snapshot.snapshot_id,
                 parent_snapshot_id=snapshot.parent_snapshot_id,
                 sequence_number=snapshot.sequence_number or 0,
                 timestamp_ms=snapshot.timestamp_ms, manifest_list=snapshot.manifest_list,
                 operation=summary.get("operation", "overwrite"), schema_id=snapshot.schema_id,
                 first_row_id=snapshot.first_row_id, added_rows=snapshot.added_rows, key_id=None)
        self.add_list(f"{path}.manifests", [])
        self.add_map(f"{path}.summary", summary)

    def add_ref(self, path, ref):
        self.add(path, snapshot_id=ref.snapshot_id, type=ref.snapshot_ref_type.value,
                 min_snapshots_to_keep=ref.min_snapshots_to_keep,
                 max_snapshot_age_ms=ref.max_snapshot_age_ms, max_ref_age_ms=ref.max_ref_age_ms)

    def add_statistics_file(self, path, file):
        def add_blob(path, blob):
            self.add(path, type=blob.type, snapshot_id=blob.snapshot_id,
                     sequence_number=blob.sequence_number)
            self.add_list(f"{path}.fields", blob.fields)
            self.add_map(f"{path}.properties", blob.properties)

        self.add_partition_statistics_file(path, file)
        self.add(path, file_footer_size_in_bytes=file.file_footer_size_in_bytes,
                 key_metadata=file.key_metadata)
        self.add_list(f"{path}.blob_metadata", file.blob_metadata, add_blob)

    def add_partition_statistics_file(self, path, file):
        self.add(path, snapshot_id=file.snapshot_id, statistics_path=file.statistics_path,
                 file_size_in_bytes=file.file_size_in_bytes)

    def add_table(self, table):
        self.add("", format_version=table.format_version, table_uuid=str(table.table_uuid),
                 table_uuid_text=str(table.table_uuid), location=table.location,
                 last_sequence_number=getattr(table, "last_sequence_number", 0),
                 last_updated_ms=table.last_updated_ms, last_column_id=table.last_column_id,
                 current_schema_id=table.current_schema_id, default_spec_id=table.default_spec_id,
                 last_partition_id=table.last_partition_id,
                 default_sort_order_id=table.default_sort_order_id,
                 current_snapshot_id=table.current_snapshot_id,
                 current_snapshot=table.current_snapshot_id,
                 next_row_id=getattr(table, "next_row_id", None), encryption_keys=[])
        self.add_list("schemas", table.schemas, self.add_schema)
        self.add_list("partition_specs", table.partition_specs, self.add_partition_spec)
        self.add_list("sort_orders", table.sort_orders, self.add_sort_order)
        self.add_map("properties", table.properties)
        self.add_map("refs", table.refs, self.add_ref)
        self.add_list("statistics", table.statistics, self.add_statistics_file)
        self.add_list("partition_statistics", table.partition_statistics,
                      self.add_partition_statistics_file)
        self.add_list("snapshots", table.snapshots, self.add_snapshot)
        self.add_list("snapshot_index", table.snapshots, lambda path, snapshot: self.add(
            path, snapshot_id=snapshot.snapshot_id, sequence_number=snapshot.sequence_number or 0))
        self.add_list("snapshot_log", table.snapshot_log, lambda path, entry: self.add(
            path, timestamp_ms=entry.timestamp_ms, snapshot_id=entry.snapshot_id))
        self.add_list("metadata_log", table.metadata_log, lambda path, entry: self.add(
            path, timestamp_ms=entry.timestamp_ms, metadata_file=entry.metadata_file))

    # ---- Views.

    def add_view(self, view):
        def add_version(path, version):
            self.add(path, version_id=version.version_id, schema_id=version.schema_id,
                     timestamp_ms=version.timestamp_ms, default_catalog=version.default_catalog)
            self.add_map(f"{path}.summary", version.summary)
            self.add_list(f"{path}.representations", version.representations,
                          lambda path, it: self.add(path, type=it.root.type, sql=it.root.sql,
                                                    dialect=it.root.dialect, json=""))
            self.add_list(f"{path}.default_namespace", version.default_namespace)

        self.add("", format_version=view.format_version, view_uuid=view.view_uuid,
                 location=view.location, current_version_id=view.current_version_id)
        self.add_list("schemas", view.schemas, self.add_schema)
        self.add_list("versions", view.versions, add_version)
        self.add_list("version_log", view.version_log, lambda path, entry: self.add(
            path, timestamp_ms=entry.timestamp_ms, version_id=entry.version_id))
        self.add_map("properties", view.properties)


def kind_of(type):
    names = {ListType: "list", MapType: "map", StructType: "struct", DecimalType: "decimal",
             FixedType: "fixed", GeometryType: "geometry", GeographyType: "geography"}
    return names.get(type.__class__, str(type))


def quoted(text):
    """As metadata_dump writes it."""
    return "".join(['"', *(f"\\u{ord(c):04x}" if ord(c) < 32 or ord(c) == 127 else
                           "\\" + c if c in '"\\' else c for c in text), '"'])


def of_table(table):
    values = Values()
    values.add_table(table)
    return values.values


def of_view(view):
    values = Values()
    values.add_view(view)
    return values.values


def differences(ours, theirs):
    """Lines, one a path whose values differ or that only one has."""
    missing = object()
    lines = []
    for path in sorted(ours.keys() | theirs.keys()):
        a, b = ours.get(path, missing), theirs.get(path, missing)
        if a is missing or b is missing:
            lines.append(f"{path}: only {'PyIceberg' if a is missing else 'we'} have "
                         f"{(b if a is missing else a)!r}")
        elif a != b or isinstance(a, bool) != isinstance(b, bool):
            lines.append(f"{path}: {a!r}, PyIceberg has {b!r}")
    return lines
