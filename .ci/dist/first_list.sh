#!/bin/sh
# Prints a first seed list, made from nothing in the current folder.
set -eu
seedbank synth crawl --pages 5000 --rng-seed 1 >&2
seedbank init bank >&2
seedbank ingest bank crawl/day-000.jsonl.zst --snapshot >&2
seedbank refresh bank --seeds 10 --budget 1000 >&2
seedbank seeds bank
