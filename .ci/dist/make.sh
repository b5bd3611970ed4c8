#!/usr/bin/env bash
# Builds the packages of a release into the folder `dist` of the target folder: a tar file of the program and
# what belongs to it, a Debian package, the bill of materials, the Python wheel, and checksums.
#
#   DIST_FEATURES=remote,mcp .ci/dist/make.sh
#
# DIST_FEATURES names features beyond the default ones. No path of this machine is in the program, and the only
# date in the packages is that of the changelog.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=.ci/dist
CARGO=${CARGO:-cargo}
PYTHON=${PYTHON:-python3}
mkdir -p "${CARGO_TARGET_DIR:-target}"
CARGO_TARGET_DIR=$(realpath "${CARGO_TARGET_DIR:-target}")
export CARGO_TARGET_DIR PATH="$PWD/.ci/rocksdb:$PATH" LC_ALL=C TZ=UTC
umask 022

[ "$(uname -s)" = Linux ] || { echo "packages are made on Linux" >&2; exit 1; }
command -v cargo-deb >/dev/null || {
  echo "cargo-deb is missing: cargo install --locked --no-default-features cargo-deb" >&2
  exit 1
}
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml | head -n 1)
date=$(sed -n "s/^## $version - \([0-9-]*\)\$/\1/p" CHANGELOG.md)
[ -n "$date" ] || { echo "CHANGELOG.md has no line '## $version - DATE'" >&2; exit 1; }
host=$(rustc -vV | sed -n 's/^host: //p')
name=seedbank-$version-$host
release=$CARGO_TARGET_DIR/release
dist=$CARGO_TARGET_DIR/dist
stage=$release/stage
rm -rf "$dist" "$stage"
mkdir -p "$dist" "$stage"

# The program. Sources are named by paths that are the same everywhere.
features=()
[ -z "${DIST_FEATURES:-}" ] || features=(--features "$DIST_FEATURES")
"$CARGO" fetch --locked
flags="--remap-path-prefix=$PWD=/seedbank --remap-path-prefix=$CARGO_TARGET_DIR=/target"
cflags="-ffile-prefix-map=$CARGO_TARGET_DIR=/target"
# Folders that begin with a dash are of packages that `cargo package` tried; other flags would compile all again.
for crates in "${CARGO_HOME:-$HOME/.cargo}"/registry/src/[!-]*; do
  flags="$flags --remap-path-prefix=$crates=/crates"
  cflags="$cflags -ffile-prefix-map=$crates=/crates"
done
RUSTFLAGS=$flags CFLAGS=$cflags CXXFLAGS=$cflags \
  "$CARGO" build --locked --release --bin seedbank "${features[@]}"
program=$release/seedbank
# The packages have the date of the changelog. No source asks for the date of compilation, and with this variable set
# RocksDB would be compiled again for a new date.
SOURCE_DATE_EPOCH=$(date -d "$date" +%s)
export SOURCE_DATE_EPOCH

# What belongs to it, in the folders of an installation below /usr/local.
mkdir -p "$stage"/{bin,lib/seedbank,debian} "$stage"/share/{man/man1,doc/seedbank/examples} \
  "$stage"/share/{bash-completion/completions,zsh/site-functions,fish/vendor_completions.d}
install -m 755 "$program" "$stage/bin/"
install -m 755 src/guide/daily.sh "$stage/lib/seedbank/"
"$program" man --out "$stage/share/man/man1" >/dev/null
"$program" completions bash >"$stage/share/bash-completion/completions/seedbank"
"$program" completions zsh >"$stage/share/zsh/site-functions/_seedbank"
"$program" completions fish >"$stage/share/fish/vendor_completions.d/seedbank.fish"
doc=$stage/share/doc/seedbank
install -m 644 CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$doc/"
install -m 644 src/guide/systemd/* src/guide/monitoring/alerts.yml src/guide/monitoring/dashboard.json \
  "$doc/examples/"
"$PYTHON" $here/third_party.py --target "$host" --features "${DIST_FEATURES:-}" --program "$program" \
  --licences "$doc/THIRD-PARTY.txt" --sbom "$doc/sbom.cdx.json"
install -m 644 "$doc/sbom.cdx.json" "$dist/$name.cdx.json"

tar --create --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" \
  --transform="s,^\.,$name," --directory "$stage" --exclude=./debian . | gzip -n -9 >"$dist/$name.tar.gz"

# The Debian package has the same files below /usr, compressed as Debian wants them.
sed -i 's,/usr/local/,/usr/,' "$doc"/examples/*.service
gzip -n -9 "$stage"/share/man/man1/* "$doc/THIRD-PARTY.txt"
mv "$doc"/{THIRD-PARTY.txt.gz,sbom.cdx.json} "$stage/debian/"
gzip -n -9 <CHANGELOG.md >"$stage/debian/changelog.gz"
maintainer=$(sed -n 's/^maintainer = "\(.*\)"$/\1/p' Cargo.toml)
gzip -n -9 >"$stage/debian/changelog.Debian.gz" <<EOF
seedbank ($version-1) unstable; urgency=medium

  * Version $version: see changelog.gz.

 -- $maintainer  $(date -R -d "@$SOURCE_DATE_EPOCH")
EOF
"$CARGO" deb --no-build --no-strip --quiet --output "$dist/" >/dev/null

# The Python package, with the same flags.
if [ -d src/python ]; then
  if command -v maturin >/dev/null; then
    RUSTFLAGS=$flags CFLAGS=$cflags CXXFLAGS=$cflags \
      maturin build --release --locked --strip --features remote --manifest-path src/python/Cargo.toml --out "$dist"
    maturin sdist --manifest-path src/python/Cargo.toml --out "$dist"
  else
    echo "SKIPPED the Python package: pip install maturin"
  fi
fi

install -m 644 $here/Containerfile "$dist/"
(cd "$dist" && sha256sum -- *) >"$release/SHA256SUMS"
mv "$release/SHA256SUMS" "$dist/"

glibc=$(objdump -T "$program" | sed -n 's/.*(GLIBC_\([0-9.]*\).*/\1/p' | sort -Vu | tail -n 1)
echo "$name needs glibc $glibc"
(cd "$dist" && wc -c -- *)
