#!/usr/bin/env python3
"""sbom.py ROOT: what an image of rootfs.sh holds, as SPDX 2.3 JSON, from the packages that mmdebstrap left in apt's folder.

It knows Debian's packages. Libraries that are compiled into the programs (Boost, the Rust crates of Cargo.lock) are not in it.
"""
import hashlib
import json
import pathlib
import sys
import urllib.parse


def package(deb):
    name, version, _ = deb.stem.rsplit("_", 2)
    version = urllib.parse.unquote(version)
    return {"SPDXID": f"SPDXRef-{name.replace('+', '-plus').replace('_', '-')}", "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(deb.read_bytes()).hexdigest()}],
            "externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
                              "referenceLocator": f"pkg:deb/debian/{name}@{urllib.parse.quote(version)}?distro=bookworm"}]}


def main():
    archives = sorted(pathlib.Path(sys.argv[1], "var/cache/apt/archives").glob("*.deb"))
    if not archives:
        sys.exit("sbom.py: no packages in var/cache/apt/archives")
    json.dump({"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "slipstream",
               "documentNamespace": "urn:slipstream:image", "creationInfo": {"created": "1970-01-01T00:00:00Z",
                                                                            "creators": ["Tool: deploy/image/sbom.py"]},
               "packages": [package(deb) for deb in archives]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
