#!/bin/sh
# The daily job of a bank: ingests the crawler's deltas, and writes the seed list for the next crawl.
# It may be killed at any moment: the next run does what is left.
#
# Create and fill the bank once, and choose the plan:
#   seedbank init bank
#   seedbank ingest bank --snapshot crawl.jsonl.zst
#   seedbank refresh bank --seeds 50 --budget 20000
#
# The settings come from the environment:
#   BANK     the bank; beside it, its name with an ending, are a lock and the time of the last weekly comparison
#   INBOX    a folder; the crawler moves complete deltas there, with names that sort by time:
#            2026-11-19.jsonl.zst. Each is one file of any format that `ingest` detects
#   SEEDS    the seed list for the next crawl
#   KEEP     how many refreshes to keep; 30 by default, all if empty
#   LIMIT    how long a refresh may take; 2h by default
#   METRICS  a file for node_exporter's textfile collector; none if empty
#   BACKUPS  a folder for backups, of which seven are kept; none if empty
# `seedbank` reads settings too: SEEDBANK_INPUT names the format of deltas that cannot be detected, and SEEDBANK_FORMAT that of
# the list, such as heritrix or nutch; a format that no list has fails at once, before anything is ingested.
set -u
LC_ALL=C
export LC_ALL

: "${BANK:?names the bank}"
: "${INBOX:?names the folder of the deltas}"
: "${SEEDS:?names the list for the next crawl}"
KEEP=${KEEP-30}
LIMIT=${LIMIT:-2h}
METRICS=${METRICS-}
BACKUPS=${BACKUPS-}

# One run at a time. A command that outlives a killed run holds the lock until it ends.
exec 9> "$BANK.daily-lock" || exit 1
flock -n 9 || {
  echo "daily.sh: the run before is still at work" >&2
  exit 75
}

# Exits with a status. Whatever happened, the metrics describe the bank as it is now.
finish() {
  if [ -n "$METRICS" ]; then
    seedbank -q status "$BANK" --metrics "$METRICS" > /dev/null
  fi
  exit "$1"
}

# Says how to go on after a batch was refused.
refused() {
  cat >&2 << EOF
daily.sh: $1 was refused. It stays in the inbox, and later deltas wait there. To go on, do one of these:
- fix or replace the file; the next run tries it again
- accept it with the option that the hint above names, --max-loss N or --max-rejects N:
  seedbank ingest "$BANK" "$1" --as-of $2 --max-loss N
- remove the file, to leave that delta out; then status and metrics show it as refused until you dismiss it:
  seedbank undo "$BANK" --refused
EOF
}

# Ingests the deltas in order. A batch that is already ingested, because a run was killed before moving it
# away, changes nothing. A record without a time counts as fetched when its file was complete. A later delta
# may rely on an earlier one, so none is ingested after a refused one.
mkdir -p "$INBOX/done" || finish 1
worst=0
for batch in "$INBOX"/*; do
  [ -f "$batch" ] || continue
  status=0
  as_of=$(date -r "$batch" +%s) || finish 1
  seedbank ingest "$BANK" "$batch" --as-of "$as_of" --wait || status=$?
  case $status in
    0) mv "$batch" "$INBOX/done/" || finish 1 ;;
    3)
      refused "$batch" "$as_of"
      worst=3
      break
      ;;
    *) finish "$status" ;;
  esac
done

# In time or not at all: if it fails, or nothing can be selected, the next crawl uses the old list.
status=0
seedbank refresh "$BANK" --wait --time-limit "$LIMIT" ${KEEP:+--keep "$KEEP"} || status=$?
[ "$status" -eq 0 ] || finish "$status"

# The file changes only if the list does.
status=0
seedbank -q seeds "$BANK" --if-changed --out "$SEEDS" || status=$?
case $status in
  0) echo "$SEEDS has another list" ;;
  5) ;;
  *) finish "$status" ;;
esac

# Once a week, says which list finds the most new pages. Nothing is changed; a young bank has too few batches for it.
week="$BANK.week"
if [ -z "$(find "$week" -mtime -7 2> /dev/null)" ] && next=$(seedbank -q evaluate "$BANK" methods --next 2> /dev/null); then
  printf '%s\n' "$next" | tail -n 1
  : > "$week"
fi

if [ -n "$BACKUPS" ]; then
  seedbank backup "$BANK" "$BACKUPS" --keep 7 --wait || finish $?
fi
finish "$worst"
