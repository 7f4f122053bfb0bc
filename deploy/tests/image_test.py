#!/usr/bin/env python3
"""Looks into image archives of deploy/image: image_test.py ARCHIVE...; needs root and readelf.

Of each:
1. every program of ours starts in it and tells its version;
2. every shared library that a file of ours or of libtorch names is in it, and is looked for below its own place;
3. every crate that left its name in a program is in sbom.json, and no package is there twice;
4. who runs it is not root, no file has another owner's rights, and the services have no shell;
5. nothing in it is of the machine that made it: no name, no address of a name server, no device;
6. without libtorch it is smaller than 120 MB.

    image_test.py --compare ONE TWO    which files of two archives differ, as one has them and the other has not
"""
import hashlib
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tarfile
import tempfile

SERVICES = ("slipstream-router", "slipstream-verifier", "slipstream-drafter")
MAX_MB = 120
# The first is named by its path in each program, the second is of the GPU's driver, which a container runtime brings.
NEVER_THERE = {"ld-linux-x86-64.so.2", "libcuda.so.1"}
# NVIDIA's: for storage and networks of a cluster of GPUs, opened where there are such.
OPTIONAL = {"libcufile_rdma.so.1", "nvshmem_bootstrap_mpi.so.3"}
# NVIDIA's, too: it also looks in the folder in which a program was started, which is / and belongs to root.
LOOKS_ANYWHERE = {"libcusparseLt.so.0"}


def unpack(archive, folder):
    """Its files, in the folder. Returns the image's configuration. Archives of docker's form, of one layer or more."""
    with tarfile.open(archive) as whole:
        manifest = json.load(whole.extractfile("manifest.json"))[0]
        for layer in manifest["Layers"]:
            with tarfile.open(fileobj=whole.extractfile(layer)) as files:
                files.extractall(folder, numeric_owner=True)
        return json.load(whole.extractfile(manifest["Config"]))["config"]


def files(root):
    return [path for path in sorted(root.rglob("*")) if path.is_file() and not path.is_symlink()]


def is_elf(path):
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def start_faults(root, programs):
    for name in programs:
        said = subprocess.run(["chroot", root, f"/usr/local/bin/{name}", "--version"], capture_output=True, text=True, check=False)
        if said.returncode != 0 or not re.match(rf"({name} )?\d+\.\d+", said.stdout):
            yield f"{name} --version: status {said.returncode}, {said.stdout}{said.stderr}"


def library_faults(root):
    there = {path.name for path in root.rglob("*.so*")}
    for path in (path for path in files(root / "usr/local") if is_elf(path)):
        if path.name in OPTIONAL:
            continue
        said = subprocess.run(["readelf", "-d", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        for missing in sorted(set(re.findall(r"Shared library: \[(.*?)\]", said)) - there - NEVER_THERE):
            yield f"{path.relative_to(root)} needs {missing}, which is not there"
        for place in [part for found in re.findall(r"(?:rpath|runpath): \[(.*?)\]", said) for part in found.split(":")]:
            if not place.startswith(("$ORIGIN", "${ORIGIN}")) and path.name not in LOOKS_ANYWHERE:
                yield f"{path.relative_to(root)} looks for libraries in {place}"


def sbom_faults(root, programs):
    packages = json.loads((root / "sbom.json").read_text(encoding="utf-8"))["packages"]
    ids = [package["SPDXID"] for package in packages]
    if len(ids) != len(set(ids)):
        yield "sbom.json has a package twice"
    told = {f"{package['name']}-{package['versionInfo']}" for package in packages
            if package["externalRefs"][0]["referenceLocator"].startswith("pkg:cargo/")}
    for name in programs:
        found = set(re.findall(rb"registry/src/[^/\0]+/([A-Za-z0-9_-]+-\d+\.\d+\.\d+[A-Za-z0-9.+-]*)/", (root / "usr/local/bin" / name).read_bytes()))
        if not found and name != "slipstream-drafter":  # which has no text
            yield f"{name} names no crate: what this looks for has changed"
        for crate in sorted({crate.decode() for crate in found} - told):
            yield f"{name} has the crate {crate}, of which sbom.json does not tell"


def rights_faults(root, config, tools):
    if config.get("User") != "65532:65532":
        yield f"it runs as {config.get('User')}"
    for path in files(root):
        mode = path.lstat().st_mode
        if mode & (stat.S_ISUID | stat.S_ISGID | stat.S_IWOTH) or path.lstat().st_uid != 0:
            yield f"{path.relative_to(root)} has mode {stat.filemode(mode)} and owner {path.lstat().st_uid}"
    if not tools and any((root / place).exists() for place in ("bin/sh", "usr/bin/sh", "bin/dash", "bin/bash", "usr/bin/apt")):
        yield "the services have a shell or a package manager"


def machine_faults(root):
    left = [root / "etc/hostname", root / "etc/resolv.conf", root / "etc/machine-id", *(root / "dev").glob("*")]
    for path in (path for path in left if path.exists() or path.is_symlink()):
        yield f"{path.relative_to(root)} is of the machine that made the image"


def faults(archive, root):
    config = unpack(archive, root)
    tools = (root / "usr/local/bin/slipstream").exists()
    programs = ("slipstream",) if tools else SERVICES
    yield from start_faults(root, programs)
    yield from library_faults(root)
    yield from sbom_faults(root, programs)
    yield from rights_faults(root, config, tools)
    yield from machine_faults(root)
    size = sum(path.stat().st_size for path in files(root)) / 1e6
    torch = (root / "usr/local/lib/slipstream/torch").exists()
    if not torch and size > MAX_MB:
        yield f"its files are {size:.0f} MB, more than {MAX_MB}"
    print(f"{archive.name}: {size:.0f} MB of files")


def listed(archive):
    """{path: what is there}, of all but folders."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        unpack(archive, root)
        found = {}
        for path in root.rglob("*"):
            mode = path.lstat().st_mode
            if path.is_symlink():
                found[str(path.relative_to(root))] = f"-> {os.readlink(path)}"
            elif path.is_file():
                found[str(path.relative_to(root))] = f"{stat.filemode(mode)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
        return found


def compare(one, two):
    ours, theirs = listed(one), listed(two)
    differing = sorted(path for path in ours.keys() | theirs.keys() if ours.get(path) != theirs.get(path))
    for path in differing:
        print(f"{path}: {ours.get(path, 'not there')}, {theirs.get(path, 'not there')}")
    print(f"{len(ours.keys() & theirs.keys()) - sum(1 for path in differing if path in ours and path in theirs)} files are equal, {len(differing)} differ")
    return 1 if differing else 0


def main():
    if sys.argv[1] == "--compare":
        return compare(*map(pathlib.Path, sys.argv[2:]))
    failed = False
    for archive in map(pathlib.Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as folder:
            for fault in faults(archive, pathlib.Path(folder)):
                print(f"{archive.name}: {fault}")
                failed = True
    print("FAILED" if failed else "passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
