#!/usr/bin/env python3
"""Takes libtorch out of PyTorch's wheels. Usage: unpack_torch.py [--gpu] FOLDER WHEEL...

Without --gpu, what compiles and runs our code on a CPU; with it, what runs it on a CPU or on a GPU.
The places of the files stay as in the wheels, because each library looks for the others relative to its own place.
"""

import pathlib
import re
import sys
import zipfile

LICENCES = r"([^/]*\.dist-info|nvidia/[^/]+)/.*licen[sc]e[^/]*(/.*)?"
FOR_CPU = rf"""
    torch/include/(ATen|c10|torch)/.*\.h              # not the headers of other projects, such as fmt: ours are Debian's
  | torch/lib/(libtorch_cpu|libc10)\.so | torch/lib/libgomp\.so\.1
  | nvidia/cu13/lib/(libcudart|libcupti)\.so\.13      # libtorch_cpu.so does not load without them
  | {LICENCES}
"""
# What libtorch_cuda.so names, and what it opens when it is used. Python's part, the profiler's and static libraries stay out.
FOR_GPU = rf"""
    torch/lib/(libtorch_cpu|libc10|libtorch_cuda|libc10_cuda|libtorch_nvshmem|libtorch_cuda_linalg|libcaffe2_nvrtc)\.so
  | torch/lib/libgomp\.so\.1
  | nvidia/[^/]+/lib/lib(?!nvperf|cusolverMg|nvrtc\.alt)[^/]*\.so(\.[^/]*)?
  | {LICENCES}
"""


def main():
    arguments = sys.argv[1:]
    gpu = arguments[0] == "--gpu"
    folder, wheels = pathlib.Path(arguments[gpu]), arguments[gpu + 1:]
    wanted = re.compile(FOR_GPU if gpu else FOR_CPU, re.VERBOSE | re.IGNORECASE)
    folder.mkdir(parents=True, exist_ok=True)
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder, [name for name in archive.namelist() if wanted.fullmatch(name)])


if __name__ == "__main__":
    main()
