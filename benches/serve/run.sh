#!/bin/sh
# How fast `serve` answers about pages of a bank of 2 million, 10 connections at a time, on the cores that
# the load comes from too. Needs wrk, zstd and python3.
#
#   benches/serve/run.sh target/debug/seedbank [FOLDER]    PAGES=2000000 SECONDS_EACH=60
set -eu
seedbank=$(realpath "$1")
folder=${2:-$(mktemp -d)}
bench=$(realpath "$(dirname "$0")")
mkdir -p "$folder"
cd "$folder"
if [ ! -d bank ]; then
  "$seedbank" synth crawl --pages "${PAGES:-2000000}" --like uk-2002 --days 1 -q >/dev/null
  "$seedbank" init bank -q
  "$seedbank" ingest bank crawl/day-000.jsonl.zst --snapshot -q
  "$seedbank" refresh bank --method cores --within 0 --seeds 50 -q
  "$seedbank" refresh bank --plan sites --method max-weight --per-site 1 -q
fi
address() { sed -e 's/%/%25/g; s/&/%26/g; s/+/%2B/g; s/#/%23/g' -e 's|^|/page?url=|'; }
# The most linked pages by a part of the records; any pages by every 400th record.
if [ ! -s any ]; then
  zstdcat crawl/day-000.jsonl.zst | head -n 300000 | grep -o '"outlinks":\[[^]]*' | grep -o '"http[^"]*"' \
    | tr -d '"' | LC_ALL=C sort | uniq -c | sort -rn | head -n 100 | awk '{print $2}' | address >top
  zstdcat crawl/day-000.jsonl.zst | awk 'NR % 400 == 7' | sed 's/^{"url":"\([^"]*\)".*/\1/' | address >any
fi
"$seedbank" serve bank --listen 127.0.0.1:0 -q >address &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT
while [ ! -s address ]; do sleep 0.1; done
url=$(sed 's|/$||' address)
resident() { awk '/VmRSS/ {print $2 " KiB resident"}' "/proc/$server/status"; }
resident
port=${url##*:}
seconds=${SECONDS_EACH:-60}
export TOP=top ANY=any
# The first run begins with nothing kept, and so does that of JSON.
echo "from nothing"
python3 "$bench/each.py" "$port" "$seconds"
resident
for round in 1 2; do
  echo "wrk, round $round"
  wrk -t 1 -c 10 -d "$seconds" -s "$bench/mix.lua" "$url" | tail -n 1
  resident
done
echo "as JSON, from nothing"
JSON=1 python3 "$bench/each.py" "$port" "$seconds"
resident
