"""Tables of two columns, and rows of them."""

import pyarrow
from pyiceberg.schema import Schema
from pyiceberg.types import LongType, NestedField, StringType

SCHEMA = Schema(NestedField(1, "id", LongType(), required=True),
                NestedField(2, "name", StringType()), identifier_field_ids=[1])
ARROW = pyarrow.schema([pyarrow.field("id", pyarrow.int64(), False), ("name", pyarrow.string())])


def rows(*ids, name="n"):
    return pyarrow.table([list(ids), [f"{name}{number}" for number in ids]], schema=ARROW)
