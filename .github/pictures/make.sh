#!/usr/bin/env bash
# Makes the README's pictures from the bank of `make demo`: make.sh SEEDBANK DEMO
# Both have the light colours of a browser and no more than 150 KB together.
set -euo pipefail
seedbank=$1 demo=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
"$seedbank" serve "$demo/bank" --listen 127.0.0.1:0 >"$work/address" &
server=$!
trap 'kill $server; wait $server || true; rm -rf "$work"' EXIT
until [ -s "$work/address" ]; do
  kill -0 $server
  sleep 0.1
done
base=$(head -n 1 "$work/address")
base=${base%/}

# picture NAME WIDTHxHEIGHT PATH
picture() {
  chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$work/browser" \
    --window-size="${2/x/,}" --screenshot="$here/$1.png" "$base$3" 2>/dev/null
  if command -v pngquant >/dev/null; then pngquant --force --output "$here/$1.png" 32 "$here/$1.png"; fi
}

first=$("$seedbank" seeds "$demo/bank" | head -n 1)
encoded=$(printf %s "$first" | od -An -tx1 | tr -d '\n' | tr ' ' %)
picture page 880x590 "/page?url=$encoded"
picture verdict 880x400 /evaluate
bytes=$(cat "$here"/*.png | wc -c)
echo "the pictures have $bytes bytes"
[ "$bytes" -le 153600 ]
