#!/usr/bin/env python3
"""sbom.py ROOT KIND PROGRAM: what an image of rootfs.sh holds, as SPDX 2.3 JSON.

It tells
1. Debian's packages, from those that mmdebstrap left in ROOT's apt folder;
2. of Debian, what was compiled in from headers (compiled_in.txt), at the version that is installed here;
3. the crates of Cargo.lock, those that only the build used among them, and the Rust that compiled them, which
   PROGRAM (not stripped) tells;
4. libtorch and NVIDIA's libraries, in the kinds torch-cpu and cuda, from the requirements of tools/setup.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tomllib
import urllib.parse

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WHEELS = {"torch-cpu": "requirements-torch.txt", "cuda": "requirements-torch-gpu.txt"}


def package(name, version, purl, sha256=None):
    made = {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{purl.split(':')[1].split('/')[0]}-{name}-{version}".replace("+", "-plus")),
            "name": name, "versionInfo": version, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": purl}]}
    return {**made, "checksums": [{"algorithm": "SHA256", "checksumValue": sha256}]} if sha256 else made


def debian(name, version, sha256=None):
    return package(name, version, f"pkg:deb/debian/{name}@{urllib.parse.quote(version)}?distro=bookworm", sha256)


def unpacked(root):
    archives = sorted(pathlib.Path(root, "var/cache/apt/archives").glob("*.deb"))
    if not archives:
        sys.exit("sbom.py: no packages in var/cache/apt/archives")
    for deb in archives:
        name, version, _ = deb.stem.rsplit("_", 2)
        yield debian(name, urllib.parse.unquote(version), hashlib.sha256(deb.read_bytes()).hexdigest())


def headers():
    for line in (HERE / "compiled_in.txt").read_text(encoding="utf-8").splitlines():
        name = line.split()[0]
        asked = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], stdout=subprocess.PIPE, text=True, check=False)
        if asked.returncode != 0:
            sys.exit(f"sbom.py: {name} is compiled in (deploy/image/compiled_in.txt), and is not installed here: its version is not known")
        yield debian(name, asked.stdout)


def crates(program):
    lock = tomllib.loads((ROOT / "common/text/rust/Cargo.lock").read_text(encoding="utf-8"))
    for crate in lock["package"]:
        if "source" in crate:  # ours has none
            yield package(crate["name"], crate["version"], f"pkg:cargo/{crate['name']}@{crate['version']}", crate["checksum"])
    said = subprocess.run(["readelf", "-p", ".comment", program], stdout=subprocess.PIPE, text=True, check=True).stdout
    rust = re.search(r"rustc version (\S+)", said)
    if not rust:
        sys.exit(f"sbom.py: {program} does not tell which Rust compiled it: is it stripped?")
    yield package("rust-std", rust[1], f"pkg:generic/rust-std@{rust[1]}")


def wheels(kind):
    if kind in WHEELS:
        lines = (ROOT / "tools/setup" / WHEELS[kind]).read_text(encoding="utf-8")
        for name, version, sha256 in re.findall(r"^(\S+)==(\S+) --hash=sha256:(\w+)$", lines, re.MULTILINE):
            yield package(name, version, f"pkg:pypi/{name}@{version}", sha256)


def main():
    root, kind, program = sys.argv[1:]
    parts = [("CONTAINS", unpacked(root)), ("STATIC_LINK", headers()), ("STATIC_LINK", crates(program)), ("CONTAINS", wheels(kind))]
    version = re.search(r"^project\(slipstream VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]
    ours = package("slipstream", version, f"pkg:generic/slipstream@{version}")
    found = [(relation, one) for relation, some in parts for one in some]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", ours), *[(ours["SPDXID"], relation, one) for relation, one in found]]
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"slipstream-{kind}",
               "documentNamespace": f"urn:slipstream:image:{kind}",
               "creationInfo": {"created": "1970-01-01T00:00:00Z", "creators": ["Tool: deploy/image/sbom.py"]},
               "packages": [ours, *[one for _, one in found]],
               "relationships": [{"spdxElementId": of, "relationshipType": relation, "relatedSpdxElement": one["SPDXID"]}
                                 for of, relation, one in relations]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
