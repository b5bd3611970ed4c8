"""Names each link within a site of HTML files that leads to no file or to no element, and fails if there are any.

usage: site_links.py FOLDER
"""

import html
import re
import sys
from pathlib import Path

FOLDER = Path(sys.argv[1])
# Pages that repeat others.
REPEATED = {"404.html", "toc.html", "print.html"}


def main():
    pages = {page.name: page.read_text() for page in FOLDER.glob("*.html")}
    elements = {name: set(re.findall(r'id="([^"]+)"', text)) for name, text in pages.items()}
    count, broken = 0, set()
    for name, text in pages.items():
        if name in REPEATED:
            continue
        for link in map(html.unescape, re.findall(r'href="([^"]+)"', text)):
            if re.match("[a-z]+:", link):
                continue
            count += 1
            path, _, element = link.partition("#")
            target = path or name
            is_page = target in elements
            if not (FOLDER / target).exists() or element and is_page and element not in elements[target]:
                broken.add(f"{name}: {link}")
    for line in sorted(broken):
        print(line)
    print(f"{count} links within the site, {len(broken)} broken")
    sys.exit(bool(broken))


main()
