"""Writes `seedbank_engine/answers.py`, the types of answers, from the JSON Schemas in `schema/`.

    python3 src/python/types_of_answers.py            writes the file
    python3 src/python/types_of_answers.py --check    fails if it is not up to date
"""

from __future__ import annotations

import json
import keyword
import pathlib
import sys
import textwrap
from typing import Any

HERE = pathlib.Path(__file__).parent
SCHEMAS = HERE.parent.parent / "schema"
OUTPUT = HERE / "python/seedbank_engine/answers.py"

# The name of each answer, by its file and the title of an alternative in it, if there are several.
ANSWERS = {
    ("backup", None): "BackupReport",
    ("check", None): "BankCheck",
    ("compare", None): "ListComparison",
    ("diff", "the counts, on the first line"): "DiffCounts",
    ("evaluate-actual", None): "ActualEvaluation",
    ("evaluate-budget", None): "BudgetEvaluation",
    ("evaluate-coverage", None): "CoverageEvaluation",
    ("evaluate-crawl", None): "CrawlEvaluation",
    ("evaluate-distances", None): "DistancesEvaluation",
    ("evaluate-methods", None): "MethodsEvaluation",
    ("evaluate-methods", "with --next"): "NextEvaluation",
    ("explain", None): "Explanation",
    ("history", "the history of the bank"): "History",
    ("history", "the history of a page"): "PageHistory",
    ("ingest", None): "IngestReport",
    ("page", "a page"): "PageFacts",
    ("plans", "all plans"): "Plans",
    ("refresh", "a refresh"): "RefreshReport",
    ("refresh", "a dry run"): "DryRun",
    ("search", None): "SearchResult",
    ("site-facts", None): "SiteFacts",
    ("status", "the status"): "Status",
    ("undo", "the batch that was taken back"): "UndoReport",
}

# Only explanations of pages, without those of sites and of pages that are not in the bank.
REQUIRED = {"Explanation": {"url", "page", "kind"}}

HEAD = '''"""Types of answers, which are dicts. `types_of_answers.py` writes this file from the JSON Schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from typing_extensions import NotRequired

'''


def camel(text: str) -> str:
    """Returns a text such as `core-seed` as the end of a name: `CoreSeed`."""
    words = "".join(c if c.isalnum() else " " for c in text).split()
    return "".join(word[:1].upper() + word[1:] for word in words)


class Types:
    """The types so far."""

    def __init__(self) -> None:
        self.literals: dict[str, str] = {}
        self.classes: dict[str, str] = {}
        # The name of a union or an alias, its text, and the names that it uses.
        self.aliases: dict[str, str] = {}
        self.sources: dict[str, Any] = {}
        self.local: dict[str, Any] = {}

    def define(self, name: str, schema: Any) -> str:
        """Defines a type, unless it is defined already, and returns its name."""
        known = self.sources.get(name)
        if known is not None:
            if known != schema:
                raise SystemExit(f"two types are named {name}")
            return name
        self.sources[name] = schema
        about = " ".join(schema.get("description", "").split())
        if "properties" in schema:
            self.classes[name] = self.typed_dict(name, schema, about)
            return name
        text = self.expression(name, schema)
        target = self.literals if text.startswith("Literal[") else self.aliases
        target[name] = f"{name} = {text}\n" + (f"{docstring(about)}\n" if about else "")
        return name

    def typed_dict(self, name: str, schema: Any, about: str) -> str:
        """Returns the definition of an object with known fields."""
        required = set(schema.get("required", []))
        fields = []
        for field, of in schema["properties"].items():
            text = self.expression(name + camel(field), of)
            if field not in required:
                text = f"NotRequired[{text}]"
            fields.append((field, text, " ".join(of.get("description", "").split())))
        if all(field.isidentifier() and not keyword.iskeyword(field) for field, _, _ in fields):
            lines = [f"class {name}(TypedDict):"]
            if about:
                lines.append(textwrap.indent(docstring(about), "    ") + "\n")
            for field, text, doc in fields:
                lines.append(f"    {field}: {text}")
                if doc:
                    lines.append(textwrap.indent(docstring(doc), "    "))
            if not fields:
                lines.append("    pass")
            return "\n".join(lines) + "\n"
        # Names such as `from`; all types are texts, so that they may be defined later.
        entries = "".join(f'    "{field}": {json.dumps(text)},\n' for field, text, _ in fields)
        text = f'{name} = TypedDict("{name}", {{\n{entries}}})\n'
        return text + (docstring(about) + "\n" if about else "")

    def expression(self, name: str, schema: Any) -> str:
        """Returns the text of a type; `name` is for one that needs a definition."""
        if schema is True:
            return "Any"
        if "const" in schema:
            return f"Literal[{json.dumps(schema['const'])}]" if isinstance(
                schema["const"], str
            ) else f"Literal[{schema['const']!r}]"
        if "enum" in schema:
            return f"Literal[{', '.join(json.dumps(value) for value in schema['enum'])}]"
        if "$ref" in schema:
            return self.reference(schema["$ref"])
        for several in ("oneOf", "anyOf"):
            if several in schema:
                return self.union(name, schema[several])
        kind = schema.get("type")
        if isinstance(kind, list):
            return union(self.expression(name, {**schema, "type": one}) for one in kind)
        if kind == "object":
            return self.object(name, schema)
        if kind == "array":
            if "prefixItems" in schema:
                return f"list[{union(self.expression(name, of) for of in schema['prefixItems'])}]"
            return f"list[{self.expression(name, schema.get('items', True))}]"
        simple = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
        return simple[kind] if kind else "Any"

    def object(self, name: str, schema: Any) -> str:
        if "properties" in schema:
            return self.define(name, schema)
        more = schema.get("additionalProperties", True)
        if more is False:
            return "dict[str, Any]"
        return f"dict[str, {self.expression(name, more)}]"

    def reference(self, reference: str) -> str:
        file, path = reference.split("#/$defs/")
        if file:
            return self.define(path, SHARED[path])
        return self.define(path, self.local.get(path) or SHARED[path])

    def union(self, name: str, alternatives: list[Any]) -> str:
        constants = [of.get("const") for of in alternatives]
        if all(isinstance(constant, str) for constant in constants):
            return f"Literal[{', '.join(json.dumps(constant) for constant in constants)}]"
        objects = [of for of in alternatives if "properties" in of]
        names = distinguish(objects)
        texts = []
        for of in alternatives:
            if "properties" in of:
                texts.append(self.define(name + names[objects.index(of)], of))
            else:
                texts.append(self.expression(name, of))
        return union(texts)


def distinguish(objects: list[Any]) -> list[str]:
    """Returns the end of the name of each of several objects: the constants by which they differ."""
    if len(objects) < 2:
        return ["" for _ in objects]
    fields = [field for field in objects[0]["properties"] if all(field in of["properties"] for of in objects)]
    fields = [
        field
        for field in fields
        if all(isinstance(of["properties"][field], dict) for of in objects)
        and len({json.dumps(of["properties"][field].get("const")) for of in objects}) > 1
    ]
    names = []
    for of in objects:
        constants = [of["properties"][field].get("const") for field in fields]
        names.append("".join(camel(str(constant)) for constant in constants if constant is not None))
    if len(set(names)) < len(names):
        names = [f"{name}{at}" for at, name in enumerate(names, 1)]
    return names


def union(texts: Any) -> str:
    different = list(dict.fromkeys(texts))
    # `Union` works in an alias that is evaluated before a class is defined by name only.
    return different[0] if len(different) == 1 else f"Union[{', '.join(different)}]"


def docstring(text: str) -> str:
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    if text.endswith('"'):
        text += " "
    return "\n".join(textwrap.wrap(f'"""{text}"""', 110))


def in_order(aliases: dict[str, str]) -> list[str]:
    """Returns aliases after those that they use."""
    done: list[str] = []
    names = dict(aliases)
    while names:
        ready = []
        for name, text in names.items():
            head = text.split("\n", 1)[0].split(" = ", 1)[1]
            used = set("".join(c if c.isalnum() or c == "_" else " " for c in head).split())
            if not used & (set(names) - {name}):
                ready.append(name)
        if not ready:
            raise SystemExit(f"a circle of {sorted(names)}")
        for name in sorted(ready):
            done.append(names.pop(name))
    return done


def main() -> None:
    types = Types()
    for (file, title), name in ANSWERS.items():
        schema = json.loads((SCHEMAS / f"{file}.schema.json").read_text())
        types.local = schema.get("$defs", {})
        alternatives = schema.get("oneOf")
        if alternatives is None:
            chosen: Any = schema
        else:
            found = [of for of in alternatives if of.get("title") == title]
            needed = REQUIRED.get(name, set())
            found = [of for of in found if needed <= set(of.get("required", []))]
            chosen = found[0] if len(found) == 1 else {"oneOf": found}
            chosen = {"description": schema["description"], **chosen} if len(found) > 1 else chosen
        if "$ref" in chosen:
            defined = types.reference(chosen["$ref"])
            if defined != name:
                types.aliases[name] = f"{name} = {defined}\n"
            continue
        chosen = {key: of for key, of in chosen.items() if key not in ("$schema", "title", "$defs")}
        types.define(name, chosen)
    types.local = {}
    # A comparison is two kinds of lines on the command line, and one object here.
    types.reference("definitions.schema.json#/$defs/SeedChange")
    types.reference("definitions.schema.json#/$defs/PlanOptions")
    parts = [types.literals[name] for name in sorted(types.literals)]
    parts += [types.classes[name] for name in sorted(types.classes)]
    parts += in_order(types.aliases)
    parts.append(
        "class SeedDiff(TypedDict):\n"
        '    """Comparison of two lists."""\n\n'
        '    summary: DiffSummary\n    """The counts."""\n'
        "    seeds: list[SeedChange]\n"
        '    """Gained seeds by rank, then lost, moved and kept ones."""\n'
    )
    parts.append(parameters())
    text = HEAD + "\n\n".join(parts)
    if "--check" in sys.argv:
        if OUTPUT.read_text() != text:
            raise SystemExit(f"{OUTPUT.name} is not what the schemas give; run {pathlib.Path(__file__).name}")
        return
    OUTPUT.write_text(text)


def parameters() -> str:
    """Returns the type of the keyword arguments that are parameters of plans."""
    lines = [
        "class PlanParameters(TypedDict, total=False):",
        '    """Parameters of a plan, as keyword arguments."""\n',
    ]
    for name, schema in SHARED["PlanOptions"]["properties"].items():
        if name in ("tuned", "judged"):
            continue
        lines.append(f"    {name.replace('-', '_')}: {parameter(schema)}")
        lines.append(textwrap.indent(docstring(" ".join(schema["description"].split())), "    "))
    return "\n".join(lines) + "\n"


def parameter(schema: Any) -> str:
    """Returns the type of one of them: words, a number, or a list as a path or as lines."""
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        if name == "List":
            return "str | PathLike[str] | Iterable[str] | None"
        return f"{name} | None"
    simple = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
    return f"{simple[schema['type']]} | None"


SHARED = json.loads((SCHEMAS / "definitions.schema.json").read_text())["$defs"]

if __name__ == "__main__":
    main()
