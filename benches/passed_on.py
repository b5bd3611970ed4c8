"""Whether the quality of crawled pages, passed on to pages that are not crawled yet, makes better seeds.

    seedbank export BANK > WEB
    python3 benches/passed_on.py SEEDBANK WEB [--labels host|linked|page] [--bank crawl|random] [--held-out 0.8]
        [--frontier] [--goal coverage] [--value-quality 4] [--seeds 20] [--budget 1000] [--draws 5] [--assume none,mean,passed,true]

Each draw gives every page of the crawled web a quality and holds pages out: the bank has the others, with their quality,
and knows the held-out ones only from links. Seeds are selected with four assumptions on the quality of these:

    none      they have none
    mean      the mean of the crawled pages
    passed    the sum of the qualities of the crawled pages that link to a page, of those of its site, and of 4 times the
              mean, over their number and 4
    true      what they really have, which no bank knows

A breadth-first crawl from each list over the whole web is judged by the true qualities per fetch. Labels: by host, a number
from 0 to 1 for each host, and for its pages this with an error of 0.15; linked, the same after each host took the mean of
those it links with, twice; by page, a number for each page. The bank is what a breadth-first crawl from 5 pages fetched, or
random pages. With --frontier the web also has pages that no one ever fetched, whose labels nothing can confirm.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from urllib.parse import urlsplit

PRIOR = 4


def host(url):
    return urlsplit(url).netloc


def read(path, frontier):
    """The links of each crawled page."""
    with open(path) as lines:
        records = map(json.loads, lines)
        links = {record["url"]: record["outlinks"] for record in records if "outlinks" in record}
    if not frontier:
        links = {url: [to for to in targets if to in links] for url, targets in links.items()}
    return links


def draw_labels(rng, links, kind):
    pages = sorted(set(links) | {to for targets in links.values() for to in targets})
    if kind == "page":
        return {url: rng.random() for url in pages}
    hosts = sorted({host(url) for url in pages})
    drawn = {name: rng.random() for name in hosts}
    if kind == "linked":
        beside = {name: set() for name in hosts}
        for url, targets in links.items():
            for to in targets:
                if host(url) != host(to):
                    beside[host(url)].add(host(to))
                    beside[host(to)].add(host(url))
        for _ in range(2):
            drawn = {name: (drawn[name] + sum(drawn[other] for other in sorted(beside[name]))) / (1 + len(beside[name]))
                     for name in hosts}
        order = sorted(hosts, key=lambda name: (drawn[name], name))
        drawn = {name: place / max(1, len(hosts) - 1) for place, name in enumerate(order)}
    return {url: min(1, max(0, drawn[host(url)] + rng.gauss(0, 0.15))) for url in pages}


def draw_bank(rng, links, kind, count):
    """The pages that the bank has crawled."""
    pages = sorted(links)
    if kind == "random":
        return set(rng.sample(pages, count))
    level, order = rng.sample(pages, 5), []
    seen = set(level)
    while len(order) < count:
        if not level:
            level = rng.sample([url for url in pages if url not in seen], 1)
            seen.update(level)
        order += level
        level = sorted({to for url in level for to in links[url] if to in links} - seen)
        seen.update(level)
    return set(order[:count])


def passed_on(links, crawled, quality):
    """The expected qualities of the pages that are known only from links."""
    mean = statistics.fmean(quality[url] for url in sorted(crawled))
    sums, counts = {}, {}
    for url in sorted(crawled):
        sums[host(url)] = sums.get(host(url), 0) + quality[url]
        counts[host(url)] = counts.get(host(url), 0) + 1
    inlinks = {}
    for url in sorted(crawled):
        for to in links[url]:
            if to not in crawled:
                inlinks.setdefault(to, []).append(quality[url])
    expected = {url: (sum(of) + sums.get(host(url), 0) + PRIOR * mean) / (len(of) + counts.get(host(url), 0) + PRIOR)
                for url, of in inlinks.items()}
    return {
        "none": {},
        "mean": dict.fromkeys(expected, mean),
        "passed": expected,
        "true": {url: quality[url] for url in expected},
    }


def fetch(links, seeds, budget):
    """A crawl from the seeds: breadth-first, each depth in URL order."""
    order, level = [], list(dict.fromkeys(seeds))
    seen = set(level)
    while level and len(order) < budget:
        order += level
        level = sorted({to for url in level for to in links.get(url, [])} - seen)
        seen.update(level)
    return order[:budget]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seedbank")
    parser.add_argument("web")
    parser.add_argument("--labels", choices=["host", "linked", "page"], default="host")
    parser.add_argument("--bank", choices=["crawl", "random"], default="crawl")
    parser.add_argument("--held-out", type=float, default=0.8)
    parser.add_argument("--frontier", action="store_true")
    parser.add_argument("--goal", default="coverage")
    parser.add_argument("--value-quality", default="4")
    parser.add_argument("--seeds", default="20")
    parser.add_argument("--budget", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--assume", default="none,mean,passed,true")
    args = parser.parse_args()
    binary = os.path.abspath(args.seedbank)

    def seedbank(*command):
        done = subprocess.run([binary, *command], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"seedbank {' '.join(command)}: {done.stderr}")
        return done.stdout

    links = read(args.web, args.frontier)
    found = {}
    for number in range(args.draws):
        rng = random.Random(f"{args.labels} {args.bank} {args.held_out} {number}")
        quality = {url: round(of, 4) for url, of in draw_labels(rng, links, args.labels).items()}
        crawled = draw_bank(rng, links, args.bank, round(len(links) * (1 - args.held_out)))
        assumed = passed_on(links, crawled, quality)
        for name in args.assume.split(","):
            expected = assumed[name]
            with tempfile.TemporaryDirectory() as folder:
                bank, records = os.path.join(folder, "bank"), os.path.join(folder, "records")
                with open(records, "w") as out:
                    for url in sorted(crawled):
                        print(json.dumps({"url": url, "outlinks": links[url], "quality": quality[url]}), file=out)
                    for url in sorted(expected):
                        print(json.dumps({"url": url, "quality": round(expected[url], 4)}), file=out)
                seedbank("init", bank)
                seedbank("ingest", bank, records)
                plan = ["--goal", args.goal, "--seeds", args.seeds, "--budget", str(args.budget)]
                tuning = ["--value-quality", args.value_quality, "--tune-visits", "200000000", "--holdouts", "5"]
                seedbank("refresh", bank, *plan, *tuning)
                fetched = fetch(links, seedbank("seeds", bank).splitlines(), args.budget)
            row = found.setdefault(name, ([], []))
            row[0].append(sum(quality[url] for url in fetched) / len(fetched))
            # Pages that were ever fetched alone.
            row[1].append(sum(quality[url] for url in fetched if url in links) / len(fetched))
    for name, row in found.items():
        line = f"{name:>6}"
        for figures, none, what in zip(row, found["none"], ["quality per fetch", "without pages never fetched"]):
            ratios = [one / other for one, other in zip(figures, none)]
            error = statistics.stdev(ratios) / len(ratios) ** 0.5 if len(ratios) > 1 else 0
            line += f"  {what} {statistics.fmean(figures):.3f} (×{statistics.fmean(ratios):.3f} ± {error:.3f})"
            if not args.frontier:
                break
        print(line, flush=True)


main()
