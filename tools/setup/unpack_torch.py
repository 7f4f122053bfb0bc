#!/usr/bin/env python3
"""Takes libtorch for a CPU out of PyTorch's wheels. Usage: unpack_torch.py FOLDER WHEEL...

The places of the files stay as in the wheels, because each library looks for the others relative to its own place.
"""

import pathlib
import re
import sys
import zipfile

WANTED = re.compile(r"""
    torch/include/(ATen|c10|torch)/.*\.h              # not the headers of other projects, such as fmt: ours are Debian's
  | torch/lib/(libtorch_cpu|libc10)\.so | torch/lib/libgomp\.so\.1
  | nvidia/cu13/lib/(libcudart|libcupti)\.so\.13      # libtorch_cpu.so does not load without them
  | [^/]*\.dist-info/.*LICENSE[^/]*
""", re.VERBOSE)


def main():
    folder, wheels = pathlib.Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if WANTED.fullmatch(name)])


if __name__ == "__main__":
    main()
