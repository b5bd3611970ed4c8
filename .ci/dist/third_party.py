"""Writes the licences of everything that the program contains, and its bill of materials (CycloneDX 1.5).

    third_party.py --target TRIPLE --features LIST --program FILE --licences FILE --sbom FILE

Both are made from `cargo metadata`, Cargo.lock and the sources of the packages: nothing is downloaded. Included are
the packages that are linked into the program, without those that only build it, and the C and C++ libraries in
them. A package without a licence text, or with a C library that is not listed here, is an error.
"""

import argparse
import datetime
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import uuid

# C, C++ and data in packages: name, version, SPDX expression, origin, and files with their terms. A file named with
# `:comment` has them in its first comment with a copyright.
ROCKSDB = "https://github.com/facebook/rocksdb"
BUNDLED = {
    "librocksdb-sys": [
        ("rocksdb", "+", "Apache-2.0 AND BSD-3-Clause", ROCKSDB, ["rocksdb/LICENSE.Apache", "rocksdb/LICENSE.leveldb"]),
        ("xxhash", None, "BSD-2-Clause", "https://github.com/Cyan4973/xxHash", ["rocksdb/util/xxhash.h:comment"]),
    ],
    "lz4-sys": [("lz4", "+lz4-", "BSD-2-Clause", "https://github.com/lz4/lz4", ["liblz4/lib/LICENSE"])],
    "zstd-sys": [("zstd", "+zstd.", "BSD-3-Clause", "https://github.com/facebook/zstd", ["zstd/LICENSE"])],
    "psl": [("public-suffix-list", None, "MPL-2.0", "https://publicsuffix.org/list/", [])],
    # Assembly and C under the package's own terms.
    "ring": [],
    # No foreign code: `links` keeps them single.
    "rayon-core": [],
    "wasm-bindgen-shared": [],
}
PUBLIC_SUFFIX_LIST = """\
The public suffix list, compiled into the program, is subject to the terms of the Mozilla Public License, v. 2.0. A copy
of the MPL is at https://mozilla.org/MPL/2.0/. The list's source is at https://publicsuffix.org/list/public_suffix_list.dat
and, as it was compiled, in the package psl {version} of crates.io.
"""
HEAD = """\
Licences of the software in this program
========================================

Seedbank itself is licensed under MIT or Apache-2.0, at your choice (LICENSE-MIT, LICENSE-APACHE). It contains the
packages below. Where a package may be used under one of several licences, each of its texts is here. A package
without a text of its own has that of its repository, or offers Apache-2.0, whose text is in LICENSE-APACHE.

The standard library of Rust (MIT OR Apache-2.0, the Rust Project Developers) is linked in too.

"""
TERMS = re.compile(r"^(un)?licen[cs]e|^copying|^notice|^copyright", re.IGNORECASE)


def cargo(*arguments):
    command = [os.environ.get("CARGO", "cargo"), *arguments, "--locked"]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(target, features):
    """The packages that are linked into the program, by id, its own id, and the ids that each of them needs.

    `cargo metadata` also has optional packages that no feature turns on, so `cargo tree` says which count.
    """
    tree = cargo(
        "tree", "--package=seedbank", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}",
        "--target", target, "--features", features,
    )  # fmt: skip
    names = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    metadata = json.loads(
        cargo("metadata", "--format-version=1", "--filter-platform", target, "--features", features)
    )
    packages = {
        package["id"]: package
        for package in metadata["packages"]
        if (package["name"], "v" + package["version"]) in names
    }
    needs = {
        node["id"]: [
            dependency["pkg"]
            for dependency in node["deps"]
            if dependency["pkg"] in packages and any(kind["kind"] is None for kind in dependency["dep_kinds"])
        ]
        for node in metadata["resolve"]["nodes"]
        if node["id"] in packages
    }
    return packages, metadata["resolve"]["root"], needs


def folder_of(package):
    return pathlib.Path(package["manifest_path"]).parent


def is_copyleft(text):
    return "GNU" in text[:400] and "GENERAL PUBLIC LICENSE" in text[:400]


def texts_of(package):
    """The texts at the top of a package. Copyleft is never the only choice: cargo-deny sees to that."""
    for path in sorted(folder_of(package).iterdir()):
        if TERMS.match(path.name) and path.suffix not in (".rs", ".toml") and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            if not is_copyleft(text):
                yield text


def texts_of_siblings(package, others):
    """The texts of packages with the same terms from the same repository, for one that is published without a text."""
    same = [
        other
        for other in others
        if package["repository"] and other["repository"] == package["repository"]
        and expression(other) == expression(package)
    ]  # fmt: skip
    return list(dict.fromkeys(text for other in same for text in texts_of(other)))


def text_in(folder, name):
    path, _, part = name.partition(":")
    text = (folder / path).read_text(encoding="utf-8", errors="replace")
    if part:
        comments = re.findall(r"/\*.*?\*/", text, re.DOTALL)
        text = next(comment for comment in comments if "Copyright" in comment)
        text = "\n".join(line.strip().lstrip("/*").rstrip("*/") for line in text.splitlines())
    return text


def clean(text):
    lines = [line.rstrip() for line in text.replace("\r\n", "\n").expandtabs().split("\n")]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


def expression(package):
    return (package["license"] or "").replace("/", " OR ").replace("  ", " ")


def bundled(package):
    name = package["name"]
    if package["links"] and name not in BUNDLED:
        sys.exit(f"{name} {package['version']} links C code: list its libraries and their licences in {__file__}")
    for library, mark, terms, origin, files in BUNDLED.get(name, []):
        version = package["version"].partition(mark)[2] if mark else ""
        if mark and not version:
            sys.exit(f"no version of {library} in that of {name}, {package['version']}")
        texts = [text_in(folder_of(package), file) for file in files]
        if library == "public-suffix-list":
            texts = [PUBLIC_SUFFIX_LIST.format(version=package["version"])]
        yield library, version, terms, origin, texts


def write_licences(path, third_parties):
    names_by_text, overview = {}, []
    for package in third_parties:
        title = f"{package['name']} {package['version']}"
        overview.append(f"{title}: {expression(package)}")
        texts = list(texts_of(package)) or texts_of_siblings(package, third_parties)
        if not texts and "Apache-2.0" not in expression(package):
            sys.exit(f"{title} has no licence text, and its terms are {expression(package) or 'not declared'}")
        for text in texts:
            names_by_text.setdefault(clean(text), []).append(title)
        for library, version, terms, _, texts in bundled(package):
            title = f"{library} {version}".strip() + f" (in {package['name']})"
            overview.append(f"{title}: {terms}")
            for text in texts:
                names_by_text.setdefault(clean(text), []).append(title)
    with open(path, "w", encoding="utf-8") as out:
        out.write(HEAD + "\n".join(overview) + "\n")
        for text, titles in sorted(names_by_text.items(), key=lambda item: item[1]):
            out.write("\n" + "-" * 78 + "\n" + ", ".join(titles) + "\n\n" + text)


def checksums():
    lock = tomllib.loads(pathlib.Path("Cargo.lock").read_text(encoding="utf-8"))
    return {(package["name"], package["version"]): package.get("checksum") for package in lock["package"]}


def component(package, sums):
    purl = f"pkg:cargo/{package['name']}@{package['version'].replace('+', '%2B')}"
    made = {"type": "library", "bom-ref": purl, "name": package["name"], "version": package["version"], "purl": purl}
    if package["license"]:
        made["licenses"] = [{"expression": expression(package)}]
    if package["repository"]:
        made["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    if sums.get((package["name"], package["version"])):
        made["hashes"] = [{"alg": "SHA-256", "content": sums[package["name"], package["version"]]}]
    return made


def write_sbom(path, packages, root, needs, program):
    sums = checksums()
    components = {id: component(packages[id], sums) for id in needs}
    application = components.pop(root) | {"type": "application"}
    digest = hashlib.sha256(pathlib.Path(program).read_bytes()).hexdigest()
    application["hashes"] = [{"alg": "SHA-256", "content": digest}]
    ref_of = {id: made["bom-ref"] for id, made in components.items()} | {root: application["bom-ref"]}
    all_components = list(components.values())
    depends_on = {ref_of[id]: [ref_of[need] for need in needs[id]] for id in needs}
    for id in needs:
        for library, version, terms, origin, _ in bundled(packages[id]):
            purl = f"pkg:generic/{library}" + (f"@{version}" if version else "")
            made = {"type": "library", "bom-ref": purl, "name": library, "purl": purl}
            made |= {"version": version} if version else {}
            made |= {"licenses": [{"expression": terms}], "externalReferences": [{"type": "website", "url": origin}]}
            all_components.append(made)
            depends_on[ref_of[id]].append(purl)
            depends_on[purl] = []
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    sbom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, application['bom-ref'] + digest)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": application,
        },
        "components": sorted(all_components, key=lambda made: made["bom-ref"]),
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(refs))} for ref, refs in sorted(depends_on.items())],
    }
    pathlib.Path(path).write_text(json.dumps(sbom, indent=1) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("target", "features", "program", "licences", "sbom"):
        parser.add_argument(f"--{name}", required=True)
    args = parser.parse_args()
    packages, root, needs = linked(args.target, args.features)
    third_parties = [package for package in packages.values() if package["source"]]
    third_parties.sort(key=lambda package: (package["name"], package["version"]))
    write_licences(args.licences, third_parties)
    write_sbom(args.sbom, packages, root, needs, args.program)


if __name__ == "__main__":
    main()
