"""The version of memquiz that runs."""

from importlib import metadata

UNINSTALLED = "0+source"


def version() -> str:
    """Return the installed version, or `UNINSTALLED` where memquiz runs from its source."""
    try:
        return metadata.version("memquiz")
    except metadata.PackageNotFoundError:
        return UNINSTALLED
