"""Zip archives that are the same bytes for the same members."""

from collections.abc import Mapping
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

# The first that the format knows; no member says when it was written.
DATE = (1980, 1, 1, 0, 0, 0)
READABLE = 0o644 << 16
UNIX = 3


def zipped(members: Mapping[str, bytes]) -> bytes:
    """Return an archive of members by their paths, in the order given."""
    archive = BytesIO()
    with ZipFile(archive, "w") as file:
        for path, data in members.items():
            member = ZipInfo(path, DATE)
            member.compress_type = ZIP_DEFLATED
            member.external_attr = READABLE
            member.create_system = UNIX
            file.writestr(member, data)
    return archive.getvalue()
