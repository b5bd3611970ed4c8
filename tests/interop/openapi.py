"""The API of `serve`, asked by schemathesis for anything that its OpenAPI document allows and forbids.

    python3 tests/interop/openapi.py SEEDBANK [EXAMPLES]

A bank of the demo's crawl (PAGES=2000 pages) and an empty one are served on loopback, with a token and without.
All checks of schemathesis are on, and nothing is excepted. EXAMPLES requests are generated for each operation
in each phase, 30 by default. Then a client is generated from the document and used.

What is missing is skipped, which is said: `pip install schemathesis openapi-python-client`.
"""

import contextlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import urllib.request

SEEDBANK = os.path.abspath(sys.argv[1])
EXAMPLES = sys.argv[2] if len(sys.argv) > 2 else "30"
TOKEN = "a-secret-for-this-test"


def seedbank(*args):
    done = subprocess.run([SEEDBANK, *args], check=True, capture_output=True, text=True)
    return done.stdout


@contextlib.contextmanager
def served(bank, *args):
    """Serves a bank; the address."""
    command = [SEEDBANK, "serve", bank, "--listen", "127.0.0.1:0", *args]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().split()[0].rstrip("/")
    finally:
        server.terminate()
        _, errors = server.communicate(timeout=30)
        assert server.returncode == 0 and "panicked" not in errors, errors


def get(address):
    with urllib.request.urlopen(address) as answer:
        return json.load(answer)


def banks():
    pages = os.environ.get("PAGES", "2000")
    seedbank("init", "empty")
    seedbank("init", "demo")
    seedbank("synth", "crawl", "--pages", pages, "--days", "2", "--daily", "1", "--rng-seed", "1")
    seedbank("ingest", "demo", "crawl/day-000.jsonl.zst", "--snapshot")
    seedbank("refresh", "demo", "--seeds", "20", "--budget", "200")
    seedbank("refresh", "demo", "--plan", "communities", "--goal", "communities", "--seeds", "20")
    for day in (1, 2):
        seedbank("ingest", "demo", f"crawl/day-00{day}.jsonl.zst")
        for plan in ("default", "communities"):
            seedbank("refresh", "demo", "--plan", plan)


def schemathesis(title, address, known=None, headers=()):
    """Runs all checks; `known` are values of parameters that the bank has."""
    with open("schemathesis.toml", "w", encoding="utf-8") as config:
        if known:
            values = ", ".join(f"{name} = {json.dumps(value)}" for name, value in known.items())
            config.write(f"[parameters]\n{values.replace(', ', chr(10))}\n")
    command = [
        sys.executable, "-m", "schemathesis.cli", "run", f"{address}/openapi.json", "--checks", "all",
        "--max-examples", EXAMPLES, "--seed", "1", "--continue-on-failure", "--no-color",
        *(part for header in headers for part in ("--header", header)),
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{title}:\n{done.stdout}{done.stderr}")
    lines = [line.strip() for line in done.stdout.splitlines() if "generated" in line]
    print(f"schemathesis, {title}: {'; '.join(lines)}")


def generated_client(address):
    """A client generated from the document reads what the command line prints."""
    seeds = [json.loads(line) for line in seedbank("seeds", "demo", "--format", "jsonl").splitlines()]
    command = [
        sys.executable, "-m", "openapi_python_client", "generate", "--url", f"{address}/openapi.json",
        "--meta", "none", "--output-path", "seedbank_client", "--overwrite",
    ]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    sys.path.insert(0, os.getcwd())
    from seedbank_client import Client
    from seedbank_client.api.default import explain, page
    from seedbank_client.api.default import seeds as list_seeds

    client = Client(address)
    listed = list_seeds.sync(client=client, limit=10_000)
    assert [seed.to_dict() for seed in listed.seeds] == seeds
    url = seeds[0]["url"]
    assert page.sync(client=client, url_query=url).url == url
    why = explain.sync(client=client, url_query=url)
    assert why.to_dict() == json.loads(seedbank("explain", "demo", url, "--format", "json"))
    problem = page.sync(client=client, url_query="http://nowhere.test/")
    assert problem.status == 404 and "does not contain" in problem.detail
    print(f"a generated client reads {len(seeds)} seeds, a page, its explanation and an error")


def main():
    has = {name: importlib.util.find_spec(name) for name in ("schemathesis", "openapi_python_client")}
    for name in has:
        if not has[name]:
            print(f"SKIPPED {name}: pip install {name.replace('_', '-')}")
    if not any(has.values()):
        return
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        banks()
        if has["openapi_python_client"]:
            with served("demo") as address:
                generated_client(address)
        if not has["schemathesis"]:
            return
        with open("token", "w", encoding="utf-8") as file:
            file.write(TOKEN)
        with served("demo") as address:
            schemathesis("any values", address)
            seed = get(f"{address}/v1/seeds?limit=1")["seeds"][0]
            known = {"url": seed["url"], "plan": "communities", "core": 1}
            schemathesis("values of the bank", address, known)
        with served("demo", "--token-file", "token") as address:
            headers = [f"Authorization: Bearer {TOKEN}"]
            schemathesis("with a token", address, headers=headers)
        with served("empty") as address:
            schemathesis("an empty bank", address)


main()
