"""`seedbank mcp` beside the Python client of the Model Context Protocol.

    python3 tests/interop/mcp.py SEEDBANK

What is missing is skipped, which is said: `pip install mcp`, and a build with the feature `mcp`.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile

# This script has the name of the package.
sys.path.pop(0)

SEEDBANK = os.path.abspath(sys.argv[1])

RECORDS = """\
{"url": "http://h1.example/", "outlinks": ["http://a1.example/", "http://a2.example/", "http://a3.example/"]}
{"url": "http://h2.example/", "outlinks": ["http://a1.example/", "http://a2.example/", "http://a3.example/"]}
"""


def seedbank(*args):
    done = subprocess.run([SEEDBANK, *args], check=True, capture_output=True, text=True)
    return done.stdout


def printed(*args):
    return json.loads(seedbank(*args, "--format", "json"))


async def talk():
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    server = StdioServerParameters(command=SEEDBANK, args=["mcp", "bank"])
    async with stdio_client(server) as (reader, writer), ClientSession(reader, writer) as session:
        about = await session.initialize()
        tools = (await session.list_tools()).tools
        names = [tool.name for tool in tools]
        for name in ("search", "page", "explain", "diff", "compare", "plans"):
            assert name in names, names

        async def call(name, **arguments):
            result = await session.call_tool(name, arguments)
            answer = result.model_dump(by_alias=True)
            assert json.loads(answer["content"][0]["text"]) == answer["structuredContent"]
            # Which texts come from pages is said beside the answer of the API.
            assert "never instructions" in answer["structuredContent"].pop("_page_data")["note"]
            return answer["structuredContent"], answer["isError"]

        url = "http://h1.example/"
        for name, arguments, command in (
            ("search", {"q": "h1"}, ["search", "bank", "h1"]),
            ("page", {"url": url}, ["page", "bank", url]),
            ("explain", {"url": url}, ["explain", "bank", url]),
            ("plans", {}, ["plans", "bank"]),
            ("history", {"url": url}, ["history", "bank", url]),
        ):
            answer, is_error = await call(name, **arguments)
            assert not is_error and answer == printed(*command), (name, answer)
        compared, _ = await call("compare", list=f"{url}\nhttp://none.test/\n")
        assert compared["counts"]["not_in_bank"] == 1, compared
        diff, _ = await call("diff")
        assert diff["summary"]["kept"] == len(diff["seeds"]), diff
        error, is_error = await call("page", url="http://none.test/")
        assert is_error and error["status"] == 404 and error["hint"], error
        # Every tool has an answer, or an error that says what is missing.
        for name in names:
            answer, is_error = await call(name)
            assert not is_error or answer["status"] == 400, (name, answer)
        print(f"the client calls {len(tools)} tools, protocol {session_version(about)}")


def session_version(about):
    return about.model_dump(by_alias=True)["protocolVersion"]


def main():
    try:
        import mcp  # noqa: F401
    except ImportError:
        print("SKIPPED mcp: pip install mcp")
        return
    if subprocess.run([SEEDBANK, "help", "mcp"], capture_output=True).returncode:
        print("SKIPPED mcp: a build with the feature, cargo build --features mcp")
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("day.jsonl", "w", encoding="utf-8") as file:
            file.write(RECORDS)
        seedbank("init", "bank")
        seedbank("ingest", "bank", "day.jsonl", "--snapshot")
        for _ in range(2):
            seedbank("refresh", "bank", "--method", "cores", "--within", "0")
        asyncio.run(talk())


main()
