#!/usr/bin/env python3
"""Looks for what a compiler does not report when RocksDB's files are compiled together.

    names.py CRATE UNIT.cc... -- FLAG...

CRATE is the folder of librocksdb-sys, and each UNIT a file that c++ of this folder wrote: `make build` leaves
them in target/debug/build/librocksdb-sys-*/out. Needs libclang and its Python binding (python3-clang).

Printed, to be read by a person before `checked` in c++ becomes the version of the crate:
* functions and variables of namespaces that a file defines, while another file of the unit, or a header
  that the file does not include, declares another one of that name where it is visible;
* macros that a file defines and another one of the unit, or a header included later, names;
* `using namespace` and `using` declarations outside functions.
"""

import collections
import re
import sys
from pathlib import Path

from clang import cindex
from clang.cindex import CursorKind, TranslationUnit

NAMESPACES = {CursorKind.NAMESPACE, CursorKind.LINKAGE_SPEC, CursorKind.UNEXPOSED_DECL}
NAMED = {CursorKind.FUNCTION_DECL, CursorKind.FUNCTION_TEMPLATE, CursorKind.VAR_DECL}
USING = {CursorKind.USING_DIRECTIVE, CursorKind.USING_DECLARATION}


def declarations(cursor, scope, crate):
    """Declarations of namespaces with their scopes; what is in an unnamed one is visible in the one around it."""
    for child in cursor.get_children():
        file = child.location.file
        if not file or not str(Path(file.name).resolve()).startswith(crate):
            continue
        if child.kind in NAMESPACES:
            inner = scope + (child.spelling,) if child.kind == CursorKind.NAMESPACE and child.spelling else scope
            yield from declarations(child, inner, crate)
        elif child.kind in NAMED or child.kind in USING:
            yield child, scope


def included(path, folders, known):
    """The files of the crate that a file includes, also through others."""
    if path in known:
        return known[path]
    found = known[path] = {path}
    for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)', path.read_text(errors="replace"), re.M):
        for folder in (path.parent, *folders):
            file = (folder / name).resolve()
            if file.is_file():
                found |= included(file, folders, known)
                break
    return found


def main():
    crate = str(Path(sys.argv[1]).resolve())
    split = sys.argv.index("--")
    units, flags = sys.argv[2:split], sys.argv[split + 1 :]
    folders = [Path(crate, "rocksdb/include"), Path(crate, "rocksdb"), Path(crate)]
    known = {}
    for unit in units:
        files = [Path(crate, name) for name in re.findall(r'"(rocksdb/[^"]+)"', Path(unit).read_text())]
        print(f"== {unit}: {len(files)} files")
        parsed = cindex.Index.create().parse(
            unit,
            args=["-I" + str(folder) for folder in folders] + flags,
            options=TranslationUnit.PARSE_SKIP_FUNCTION_BODIES,
        )
        for problem in parsed.diagnostics:
            if problem.severity >= cindex.Diagnostic.Error:
                print("  does not compile:", problem)
        by_name = collections.defaultdict(dict)
        using = collections.Counter()
        for cursor, scope in declarations(parsed.cursor, (), crate):
            file = Path(cursor.location.file.name).resolve()
            if cursor.kind in USING:
                using[file.name] += file in files
            # Operators are told apart by the types they are for.
            elif not cursor.spelling.startswith("operator"):
                by_name[cursor.spelling].setdefault((cursor.get_usr(), file), (cursor, scope))
        for name, count in sorted(using.items()):
            if count:
                print(f"  using: {name} has {count} declarations")
        for name, found in sorted(by_name.items()):
            own = [(usr, file, *rest) for (usr, file), rest in found.items() if file in files]
            for usr, file, cursor, scope in own:
                for (other, other_file), (other_cursor, other_scope) in found.items():
                    shared = min(len(scope), len(other_scope))
                    visible = scope[:shared] == other_scope[:shared]
                    if other != usr and visible and other_file not in included(file, folders, known):
                        print(f"  {name}: {file.relative_to(crate)}:{cursor.location.line} {cursor.displayname}"
                              f" | {other_file.relative_to(crate)}:{other_cursor.location.line} {other_cursor.displayname}")
        texts = {file: file.read_text(errors="replace") for file in files}
        headers = {file for start in files for file in included(start, folders, known)} - set(files)
        texts |= {file: file.read_text(errors="replace") for file in headers}
        for file in files:
            for macro in sorted(set(re.findall(r"^\s*#\s*define\s+(\w+)", texts[file], re.M))):
                users = [other.name for other, text in texts.items() if other != file and re.search(rf"\b{macro}\b", text)]
                kept = "" if re.search(rf"^\s*#\s*undef\s+{macro}\b", texts[file], re.M) else ", not undefined"
                if users:
                    print(f"  macro {macro} of {file.name}{kept}: also in {', '.join(sorted(users))}")


main()
