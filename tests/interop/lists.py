"""Seed lists and limits, read back by those whom they are for, as far as these are installed.

    python3 tests/interop/lists.py SEEDBANK [FOLDER]

What is missing is skipped, which is said: `pip install scrapy pyyaml grpcio-tools`, and URLFRONTIER_PROTO
names urlfrontier.proto of URLFrontier's API.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile

SEEDBANK = os.path.abspath(sys.argv[1])


def seedbank(*args):
    done = subprocess.run([SEEDBANK, *args], check=True, capture_output=True, text=True)
    return done.stdout


def has(module, package):
    if importlib.util.find_spec(module):
        return True
    print(f"SKIPPED {package}: pip install {package}")
    return False


def scrapy(urls):
    """Start requests of a spider, as Scrapy's scheduler keeps them on disk and takes them again."""
    from scrapy import Spider
    from scrapy.core.scheduler import Scheduler
    from scrapy.utils.request import request_from_dict
    from scrapy.utils.test import get_crawler

    # The default has a queue for each host besides, and needs a crawl that runs.
    queue = "scrapy.pqueues.ScrapyPriorityQueue"
    crawler = get_crawler(Spider, {"JOBDIR": "job", "SCHEDULER_PRIORITY_QUEUE": queue})
    scheduler = Scheduler.from_crawler(crawler)
    scheduler.open(crawler._create_spider("seeds"))
    for request in json.loads(seedbank("seeds", "bank", "--format", "scrapy")):
        request = request_from_dict(request)
        assert request.priority > 0
        request.meta["is_start_request"] = True
        assert scheduler.enqueue_request(request)
    folders = len(os.listdir("job/requests.queue"))
    taken = iter(scheduler.next_request, None)
    assert [request.url for request in taken] == urls
    assert folders == min(len(urls), 16), folders
    print(f"Scrapy takes {len(urls)} requests in the order of the list, from {folders} folders")


def browsertrix(urls):
    """Seeds of a configuration, as YAML has them."""
    import yaml

    read = yaml.safe_load(seedbank("seeds", "bank", "--format", "browsertrix"))
    assert [seed["url"] for seed in read["seeds"]] == urls
    print(f"YAML of Browsertrix has {len(urls)} seeds")


def urlfrontier(urls, proto):
    """Messages of URLFrontier's protocol; a field that it does not have is refused."""
    from google.protobuf import json_format
    from grpc_tools import protoc

    folder = os.path.dirname(os.path.abspath(proto))
    name = os.path.basename(proto)
    assert protoc.main(["protoc", f"-I{folder}", "--python_out=.", name]) == 0
    sys.path.insert(0, os.getcwd())
    messages = importlib.import_module(name.removesuffix(".proto") + "_pb2")
    lines = seedbank("seeds", "bank", "--format", "urlfrontier").splitlines()
    items = [json_format.Parse(line, messages.URLItem()) for line in lines]
    assert [item.discovered.info.url for item in items] == urls
    lines = seedbank("quotas", "bank", "--pages", "500", "--format", "urlfrontier").splitlines()
    limits = [json_format.Parse(line, messages.CrawlLimitParams()) for line in lines]
    assert sum(limit.limit for limit in limits) == 500 and all(limit.key for limit in limits)
    print(f"URLFrontier's protocol has {len(items)} items and {len(limits)} limits")


def main():
    folder = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    if not os.path.exists("bank"):
        seedbank("synth", "crawl", "--pages", "2000", "--days", "1", "--rng-seed", "1")
        seedbank("init", "bank")
        seedbank("ingest", "bank", "crawl/day-000.jsonl.zst", "--snapshot")
        seedbank("refresh", "bank", "--method", "cores", "--within", "0", "--seeds", "20")
    urls = seedbank("seeds", "bank").split()
    assert len(urls) == 20
    if has("scrapy", "scrapy"):
        scrapy(urls)
    if has("yaml", "pyyaml"):
        browsertrix(urls)
    proto = os.environ.get("URLFRONTIER_PROTO")
    if not proto:
        print("SKIPPED URLFrontier: URLFRONTIER_PROTO does not name its urlfrontier.proto")
    elif has("grpc_tools", "grpcio-tools"):
        urlfrontier(urls, proto)


main()
