"""What PyIceberg says of a snapshot's files, as `iceblink --json files` prints it."""

import math
import struct
from datetime import datetime, timedelta
from decimal import Context, Decimal

from pyiceberg import types
from pyiceberg.manifest import ManifestContent, ManifestFile

EPOCH = datetime(1970, 1, 1)


def time_text(microseconds):
    return (EPOCH + timedelta(microseconds=microseconds)).time().isoformat("microseconds")


def timestamp_text(microseconds):
    return (EPOCH + timedelta(microseconds=microseconds)).isoformat(timespec="microseconds")


def double_value(value):
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def float_value(value):
    """The shortest number that is this one once it is a float again."""
    if not math.isfinite(value):
        return double_value(value)
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return float(next(text for text in texts
                      if struct.unpack("f", struct.pack("f", float(text)))[0] == value))


def decimal_text(type, value):
    return f"{value.quantize(Decimal(1).scaleb(-type.scale), context=Context(prec=60)):f}"


JSON_VALUES = {
    types.FloatType: lambda _, value: float_value(value),
    types.DoubleType: lambda _, value: double_value(value),
    types.DecimalType: decimal_text,
    types.DateType: lambda _, days: (EPOCH + timedelta(days=days)).date().isoformat(),
    types.TimeType: lambda _, microseconds: time_text(microseconds),
    types.TimestampType: lambda _, microseconds: timestamp_text(microseconds),
    types.TimestamptzType: lambda _, microseconds: timestamp_text(microseconds) + "+00:00",
    types.UUIDType: lambda _, value: str(value),
    types.FixedType: lambda _, value: value.hex(),
    types.BinaryType: lambda _, value: value.hex(),
}


def json_value(type, value):
    """The JSON of a single value (specification, appendix D), as a JSON parser gives it back."""
    if value is None:
        return None
    return JSON_VALUES.get(type.__class__, lambda _, plain: plain)(type, value)


def partition_types(metadata, spec):
    """Of the spec's fields. A column that was dropped is looked up in the schema that had it."""
    def source_type(field):
        for schema in [metadata.schema(), *reversed(metadata.schemas)]:
            if field.source_id in schema._lazy_id_to_field:
                return schema.find_type(field.source_id)
        raise AssertionError(f"{field} has no source")

    return [field.transform.result_type(source_type(field)) for field in spec.fields]


def file_object(metadata, entry):
    file = entry.data_file
    spec = metadata.specs()[file.spec_id]
    made = {
        "content": int(file.content),
        "file_path": file.file_path,
        "file_format": file.file_format.name,
        "spec_id": file.spec_id,
        "partition": {field.name: json_value(type, value) for field, type, value in
                      zip(spec.fields, partition_types(metadata, spec), file.partition)},
        "record_count": file.record_count,
        "file_size_in_bytes": file.file_size_in_bytes,
        "snapshot_id": entry.snapshot_id,
        "sequence_number": entry.sequence_number,
        "file_sequence_number": entry.file_sequence_number}
    optional = {"split_offsets": file.split_offsets, "equality_ids": file.equality_ids,
                "sort_order_id": file.sort_order_id}
    return made | {name: value for name, value in optional.items() if value not in (None, [])}


def live_files(table, manifests):
    """The objects of all live entries of the manifests, in the files' order."""
    return [file_object(table.metadata, entry) for manifest in manifests
            for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=True)]


def embedded_manifest(path, snapshot_id):
    """A manifest that no list names, but a snapshot of format 1."""
    return ManifestFile.from_args(
        manifest_path=path, manifest_length=0, partition_spec_id=0, content=ManifestContent.DATA,
        sequence_number=0, min_sequence_number=0, added_snapshot_id=snapshot_id)


def plan(table, snapshot_id, row_filter="True"):
    """Of each data file that is to be scanned, in order, its path and its delete files' paths."""
    scan = table.scan(row_filter, snapshot_id=snapshot_id,
                      options={"include_empty_files": "true"})
    return [(task.file.file_path, sorted(file.file_path for file in task.delete_files))
            for task in scan.plan_files()]
