"""Delete files, made by hand of the writers that PyIceberg has. It reads position deletes and plans
with them; of equality deletes it reads the manifests."""

import uuid
from pathlib import Path

import pyarrow
from pyarrow import parquet
from pyiceberg.manifest import (DataFile, DataFileContent, FileFormat, ManifestContent,
                                ManifestEntry, ManifestEntryStatus, ManifestWriterV2)

PATH_ID, POSITION_ID = 2147483546, 2147483545
COLUMNS = pyarrow.schema([
    pyarrow.field("file_path", pyarrow.string(), False, {"PARQUET:field_id": str(PATH_ID)}),
    pyarrow.field("pos", pyarrow.int64(), False, {"PARQUET:field_id": str(POSITION_ID)})])


class DeleteManifestWriter(ManifestWriterV2):
    def content(self):
        return ManifestContent.DELETES

    @property
    def _meta(self):
        return super()._meta | {"content": "deletes"}


def write_delete_file(table, data_file, rows, content, **members):
    """For the partition of a data file. Its path, its size and how many rows it has are added."""
    path = f"{table.location()}/data/deletes-{uuid.uuid4()}.parquet"
    local = Path(path.removeprefix("file://"))
    parquet.write_table(rows, local)
    made = DataFile.from_args(
        content=content, file_path=path, file_format=FileFormat.PARQUET,
        partition=data_file.partition, record_count=rows.num_rows,
        file_size_in_bytes=local.stat().st_size, **members)
    made.spec_id = data_file.spec_id
    return made


def write_manifest(table, producer, deletes):
    writer = DeleteManifestWriter(
        table.metadata.specs()[deletes.spec_id], table.schema(), producer.new_manifest_output(),
        producer.snapshot_id, "deflate")
    with writer:
        writer.add(ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, data_file=deletes,
                                           snapshot_id=producer.snapshot_id))
    return writer.to_manifest_file()


def commit(table, deletes):
    """In a manifest of its own."""
    with table.transaction() as transaction:
        producer = transaction.update_snapshot().fast_append()
        producer._manifests = lambda: [write_manifest(table, producer, deletes),
                                       *producer._existing_manifests()]
        producer.commit()


def delete_positions(table, data_files, positions, has_bounds):
    """The same positions in each of these data files of one partition."""
    paths = sorted(file.file_path for file in data_files)
    rows = pyarrow.table([[path for path in paths for _ in positions], positions * len(paths)],
                         schema=COLUMNS)
    bounds = {"lower_bounds": {PATH_ID: paths[0].encode()},
              "upper_bounds": {PATH_ID: paths[-1].encode()}} if has_bounds else {}
    commit(table, write_delete_file(table, data_files[0], rows, DataFileContent.POSITION_DELETES,
                                    **bounds))


def delete_values(table, data_file, field_id, values):
    """Of rows that are older, in the partition of a data file."""
    field = table.schema().as_arrow().field(table.schema().find_column_name(field_id))
    rows = pyarrow.table([values], schema=pyarrow.schema([field]))
    commit(table, write_delete_file(table, data_file, rows, DataFileContent.EQUALITY_DELETES,
                                    equality_ids=[field_id]))
