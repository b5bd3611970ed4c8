#!/usr/bin/env bash
# Builds the fuzzer and runs every target in turn: FUZZ_SECONDS each, or as long as makes FUZZ_TOTAL
# seconds together. FUZZ_TARGETS names some of them. Inputs that were worth keeping go to the folder
# fuzz/corpus beside what was built, for the next run; findings to fuzz/found. Fails on a finding.
set -euo pipefail
target="$(realpath -m "${CARGO_TARGET_DIR:-$(dirname "$0")/../../target}")"
export CARGO_TARGET_DIR="$target"
cd "$(dirname "$0")"
"${CARGO:-cargo}" build --locked
fuzz="$target/debug/fuzz"
folder="$target/fuzz"

mapfile -t all < <("$fuzz" 2> /dev/null)
targets=()
for line in "${all[@]}"; do
  name="${line% *}"
  [[ -z "${FUZZ_TARGETS:-}" || " $FUZZ_TARGETS " == *" $name "* ]] && targets+=("$line")
done
if [[ ${#targets[@]} -eq 0 ]]; then
  echo "FUZZ_TARGETS names none of: ${all[*]% *}" >&2
  exit 2
fi
seconds="${FUZZ_SECONDS:-$(( (${FUZZ_TOTAL:-3600} + ${#targets[@]} - 1) / ${#targets[@]} ))}"

# Files of an input are in memory where the system has such a place.
scratch="$(mktemp -d -p "$([[ -d /dev/shm ]] && echo /dev/shm || echo /tmp)")"
trap 'rm -rf "$scratch"' EXIT
export TMPDIR="$scratch" RAYON_NUM_THREADS=1 RUST_BACKTRACE=1

found=0
for line in "${targets[@]}"; do
  read -r name longest <<< "$line"
  corpus="$folder/corpus/$name"
  seeds="$scratch/seeds-$name"
  log="$folder/$name.log"
  mkdir -p "$corpus" "$seeds" "$folder/found/$name"
  export SEEDBANK_FUZZ="$name"
  SEEDBANK_FUZZ_SEEDS="$seeds" "$fuzz" 2> "$log" || { cat "$log" >&2; exit 1; }
  kept=(kept/"$name")
  [[ -d "${kept[0]}" ]] || kept=()
  status=0
  "$fuzz" -max_total_time="$seconds" -max_len="$longest" -timeout=20 -rss_limit_mb=4096 \
    -print_final_stats=1 -artifact_prefix="$folder/found/$name/" \
    "$corpus" "$seeds" "${kept[@]}" > "$log" 2>&1 || status=$?
  runs="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  reached="$(grep -o 'cov: [0-9]* ft: [0-9]* corp: [0-9]*' "$log" | tail -n 1 || true)"
  echo "$name: $seconds s, ${runs:-?} runs, ${reached:-nothing reached}"
  if [[ $status -eq 72 ]]; then
    echo "interrupted" >&2
    exit 130
  elif [[ $status -ne 0 ]]; then
    found=1
    echo "FOUND something in $name: $log" >&2
    grep -E -A4 'panicked at|bytes of memory|SUMMARY|Test unit written' "$log" | head -n 20 >&2
  fi
done
exit "$found"
