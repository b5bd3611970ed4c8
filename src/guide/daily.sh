#!/bin/sh
# The daily job of a bank: what the crawler left goes in, and the list for the next crawl comes out.
# It may be killed at any moment: run again, it takes up what was not done.
#
# A person makes and fills the bank, once, and says there what the plan is:
#   seedbank init bank
#   seedbank ingest bank --snapshot crawl.jsonl.zst
#   seedbank refresh bank --seeds 50
#
# The settings come from the environment:
#   BANK     the bank
#   INBOX    a folder; the crawler moves its deltas there when they are complete, with names in the
#            order of time: 2026-11-19.jsonl.zst
#   SEEDS    the list for the next crawl
#   KEEP     how many refreshes stay; 30 unless said otherwise, all where empty
#   LIMIT    how long a refresh may take; 2h unless said otherwise
#   METRICS  a file for node_exporter's textfile collector; none where empty
#   BACKUPS  a folder for backups, of which seven stay; none where empty
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

# One run at a time. A command that outlives a killed run holds the lock until it has ended.
exec 9> "$BANK.daily-lock" || exit 1
flock -n 9 || {
  echo "daily.sh: the run before is still at work" >&2
  exit 75
}

# Ends with a status. Whatever happened, the metrics are of the bank as it is now.
finish() {
  if [ -n "$METRICS" ]; then
    seedbank -q status "$BANK" --metrics "$METRICS" > /dev/null
  fi
  exit "$1"
}

# What came in, in its order. A batch that is in already, since its run was killed before it was moved
# away, changes nothing. One that is refused is put aside for a person; the others go in all the same.
mkdir -p "$INBOX/done" "$INBOX/refused" || finish 1
worst=0
for batch in "$INBOX"/*.jsonl*; do
  [ -f "$batch" ] || continue
  status=0
  seedbank ingest "$BANK" "$batch" --wait || status=$?
  case $status in
    0) mv "$batch" "$INBOX/done/" || finish 1 ;;
    3)
      mv "$batch" "$INBOX/refused/" || finish 1
      worst=3
      ;;
    *) finish "$status" ;;
  esac
done

# In time or not at all: where it fails, or nothing can be selected, the next crawl has the old list.
status=0
seedbank refresh "$BANK" --wait --time-limit "$LIMIT" ${KEEP:+--keep "$KEEP"} || status=$?
[ "$status" -eq 0 ] || finish "$status"

# The file changes only where the list is another one.
status=0
seedbank -q seeds "$BANK" --if-changed --out "$SEEDS" || status=$?
case $status in
  0) echo "$SEEDS has another list" ;;
  5) ;;
  *) finish "$status" ;;
esac

if [ -n "$BACKUPS" ]; then
  seedbank backup "$BANK" "$BACKUPS" --keep 7 --wait || finish $?
fi
finish "$worst"
