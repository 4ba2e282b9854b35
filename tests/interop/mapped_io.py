"""Files that PyIceberg reads elsewhere than their locations say, as `--location-prefix` has it."""

import json

from pyiceberg.io.pyarrow import PyArrowFileIO


def properties(prefixes):
    """Of a table whose locations are mapped by these pairs."""
    return {"py-io-impl": "mapped_io.MappedFileIO", "prefixes": json.dumps(list(prefixes))}


class MappedFileIO(PyArrowFileIO):
    def new_input(self, location):
        for given, read in json.loads(self.properties["prefixes"]):
            if location == given or location.startswith(given + "/"):
                location = f"{read}{location[len(given):]}"
        return super().new_input(location)
