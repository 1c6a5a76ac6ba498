"""The version of memquiz, in one place: the package is built with it.

A constant, because looking it up in the installed package takes as long as importing jinja2.
"""

VERSION = "0.1.0"
