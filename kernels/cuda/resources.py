#!/usr/bin/env python3
"""Prints the registers, spills and shared memory of each kernel, as a table for docs/design/CUDA.md. Usage: resources.py NVCC

They come from ptxas (nvcc --resource-usage); no GPU is needed. Resident warps follow from them by the limits of the CUDA
programming guide: 65,536 registers and 64 warps a multiprocessor, registers given out to warps by 256.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXACT = {"edit.cu", "rank.cu", "sample.cu", "weigh.cu"}  # sources without fused multiply-add (CMakeLists.txt)
SHARED_BYTES = {"sm_80": 163 * 1024, "sm_90": 227 * 1024}  # of a multiprocessor
FORMATS = ["bf16", "q8_0", "q4_0", "q4_1", "q5_1", "q6_k"]  # WeightFormat (kernels/exact/quantized_block.h)
ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
                   r"(\d+) bytes spill loads.*?Used (\d+) registers([^\n]*)", re.DOTALL)


BOUND = re.compile(r"\.entry (\w+)\([^{]*?\.maxntid (\d+)")


def compiled(nvcc, source):
    """What ptxas says, and the threads of each kernel's blocks, by its mangled name."""
    flags = ["-std=c++20", "-O3", "--expt-relaxed-constexpr", f"-I{ROOT}"] + (["--fmad=false"] if source.name in EXACT else [])
    usage = ["--resource-usage", "-c", "-o", "/dev/null", "-gencode=arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90"]
    with tempfile.NamedTemporaryFile(suffix=".ptx") as ptx:
        for more in (["-ptx", "-arch=compute_90", "-o", ptx.name], usage):
            ran = subprocess.run([nvcc, *flags, *more, str(source)], text=True, capture_output=True)
            if ran.returncode != 0:
                sys.exit(ran.stderr)
        return ran.stderr, {name: int(threads) for name, threads in BOUND.findall(pathlib.Path(ptx.name).read_text())}


def kernel_name(mangled):
    spoken = subprocess.run(["c++filt", mangled], text=True, capture_output=True, check=True).stdout.strip()
    spoken = re.sub(r"\(slipstream::WeightFormat\)(\d)", lambda format: FORMATS[int(format[1])], spoken)
    return re.sub(r"slipstream::|cuda::|\(anonymous namespace\)::|^void |\(.*", "", spoken)


def rows(output, bounds):
    for mangled, arch, stack, stores, loads, registers, rest in ENTRY.findall(output):
        shared = int((re.search(r"(\d+) bytes smem", rest) or [0, 0])[1])
        threads = bounds[mangled]
        warps = threads // 32
        blocks = 64 // warps
        blocks = min(blocks, 65536 // 256 // (-(-int(registers) * 32 // 256)) // warps)
        if shared:
            blocks = min(blocks, SHARED_BYTES[arch] // (shared + 1024))
        yield kernel_name(mangled), arch, threads, int(registers), f"{stores}/{loads}", int(stack), shared, blocks * warps


def main():
    nvcc = sys.argv[1]
    sources = sorted(HERE.glob("*.cu"))
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        outputs = list(pool.map(lambda source: compiled(nvcc, source), sources))
    print("| kernel | GPU | threads | registers | spilled | stack | shared | warps of 64 |\n|---|---|---|---|---|---|---|---|")
    for output, bounds in outputs:
        for row in sorted(rows(output, bounds)):
            print("| " + " | ".join(map(str, row)) + " |")


if __name__ == "__main__":
    main()
