#!/usr/bin/env python3
"""Writes the wheel: wheel.py WHEEL VERSION FILE... A pure-Python wheel is a zip with three files of metadata, so this
needs neither setuptools nor a network, and the same sources give the same bytes."""
import base64
import hashlib
import os
import sys
import zipfile

METADATA = """Metadata-Version: 2.1
Name: sklink
Version: {version}
Summary: Links compiled kernels into one kernel, and runs it on NumPy arrays
Requires-Python: >=3.8
Requires-Dist: numpy>=1.21
"""
WHEEL = """Wheel-Version: 1.0
Generator: sklink {version}
Root-Is-Purelib: true
Tag: py3-none-any
"""


def main():
    output, version, *paths = sys.argv[1:]
    info = f"sklink-{version}.dist-info/"
    files = {"sklink/" + os.path.basename(path): open(path, "rb").read() for path in paths}
    files[info + "METADATA"] = METADATA.format(version=version).encode()
    files[info + "WHEEL"] = WHEEL.format(version=version).encode()
    record = ""
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        record += f"{name},sha256={digest},{len(data)}\n"
    files[info + "RECORD"] = (record + info + "RECORD,,\n").encode()
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name)  # dated 1980, with permissions of plain files
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)


main()
