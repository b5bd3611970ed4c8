"""Writes three webs that change every day, as deltas of what a crawler fetched.

    python3 benches/living_webs.py FOLDER

FOLDER gets `feeds`, `archives` and `wiki`, each with a file of records for each of 16 days:

    feeds      300 blogs, whose home pages link to their last ten posts; most post rarely, a few several times a day
    archives   40 news sites with a page for each day; the front page links to the last eight articles
    wiki       1,500 articles, 60 of which are edited often, and a page of recent changes; edits link to new articles

A day has the pages that changed, and a sample of the others.
"""

import datetime
import json
import pathlib
import random
import sys

DAYS = 16
BEGIN = datetime.datetime(2026, 10, 1, 12)

Web = dict[str, list[str]]


def write(folder: pathlib.Path, day: int, pages: Web) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    fetched = (BEGIN + datetime.timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%SZ")
    with open(folder / f"day-{day:03}.jsonl", "w") as file:
        for url, links in pages.items():
            record = {"url": url, "outlinks": sorted(set(links)), "fetched": fetched}
            file.write(json.dumps(record) + "\n")


def feeds(folder: pathlib.Path) -> None:
    draw = random.Random(1)
    count = 300
    a_day = [min(6, draw.paretovariate(1.1) / 6) for _ in range(count)]
    homes = [f"https://blog{blog}.example/" for blog in range(count)]
    posts: list[list[str]] = [[] for _ in range(count)]
    all_posts: Web = {}

    def post(blog: int) -> str:
        url = f"{homes[blog]}p/{len(posts[blog])}"
        others = [homes[draw.randrange(count)] for _ in range(2)]
        all_posts[url] = [homes[blog], *posts[blog][-2:], *others]
        posts[blog].append(url)
        return url

    for day in range(DAYS):
        new = []
        for blog in range(count):
            rate = a_day[blog]
            number = int(rate) + (draw.random() < rate % 1) if day else draw.randrange(3, 25)
            new += [post(blog) for _ in range(number)]
        pages = {
            homes[blog]: posts[blog][-10:] + [homes[(blog * 7 + at * 13) % count] for at in (1, 2, 3)]
            for blog in range(count)
        }
        again = draw.sample(sorted(all_posts), 200) if day else []
        pages.update({url: all_posts[url] for url in again + new})
        write(folder, day, pages)


def archives(folder: pathlib.Path) -> None:
    draw = random.Random(2)
    sites = [f"https://news{site}.example/" for site in range(40)]
    a_day = [draw.random() ** 3 * 30 for _ in sites]
    articles: list[list[tuple[int, str]]] = [[] for _ in sites]
    all_articles: Web = {}

    def publish(site: int, day: int, number: int) -> None:
        for at in range(number):
            url = f"{sites[site]}{day}/{at}"
            before = [article for _, article in articles[site][-3:]]
            articles[site].append((day, url))
            all_articles[url] = [sites[site], f"{sites[site]}archive/{day}", *before]

    for day in range(-20, 0):
        for site in range(len(sites)):
            publish(site, day, int(a_day[site]))
    fetched: set[str] = set()
    for day in range(DAYS):
        pages: Web = {}
        for site, front in enumerate(sites):
            publish(site, day, int(a_day[site] * draw.uniform(0.5, 1.5)))
            days = sorted({of for of, _ in articles[site]})
            last = [url for _, url in articles[site][-8:]]
            others = [sites[(site + step) % len(sites)] for step in (1, 5)]
            pages[front] = [*last, f"{front}archive/", *others]
            pages[f"{front}archive/"] = [f"{front}archive/{of}" for of in days]
            for of in days[-2:] if day else days:
                pages[f"{front}archive/{of}"] = [url for at, url in articles[site] if at == of] + [front]
        for url, links in all_articles.items():
            if url not in fetched or draw.random() < 0.02:
                pages[url] = links
        fetched = set(all_articles)
        write(folder, day, pages)


def wiki(folder: pathlib.Path) -> None:
    draw = random.Random(3)
    base = "https://wiki.example/"
    articles: Web = {}

    def create() -> str:
        number = len(articles)
        links = [f"{base}a{int(draw.random() ** 2 * max(1, number))}" for _ in range(draw.randrange(3, 15))]
        articles[f"{base}a{number}"] = links
        return f"{base}a{number}"

    for _ in range(1500):
        create()
    often = draw.sample(sorted(articles), 60)
    for day in range(DAYS):
        recent: list[str] = []
        if day:
            recent = draw.sample(often, 25) + draw.sample(sorted(articles), 40)
            before = len(articles)
            for url in recent:
                if url in often or draw.random() < 0.3:
                    articles[url] += [create() for _ in range(draw.randrange(4))]
            recent += list(articles)[before:]
        fetched = recent + draw.sample(sorted(articles), 200) if day else list(articles)
        pages = {url: articles[url] for url in fetched}
        pages[f"{base}recent"] = [*recent, base]
        pages[base] = [f"{base}recent", *sorted(articles)[:50]]
        write(folder, day, pages)


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    for web in (feeds, archives, wiki):
        web(folder / web.__name__)


if __name__ == "__main__":
    main()
