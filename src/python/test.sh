#!/bin/sh
# Builds the Python package and tests it in a virtual environment below the target folder: `make python`.
# If something that it needs cannot be had, the exit status is 3, and the reason is in `python/missing` there.
set -eu
export PYTHONDONTWRITEBYTECODE=1
here=$(cd "$(dirname "$0")" && pwd)
target=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-python3}
folder=$target/python
venv=$folder/venv

missing() {
    mkdir -p "$folder"
    echo "the Python package: $1" >"$folder/missing"
    exit 3
}

"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
    || missing "no Python from 3.10 with venv"
# The environment is made again if the list of packages changes.
mkdir -p "$folder"
if ! cmp -s "$here/tests/requirements.txt" "$folder/requirements.txt"; then
    echo "installing what the Python package is tested with"
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/pip" install -q --disable-pip-version-check -r "$here/tests/requirements.txt" \
        || missing "the packages that it is tested with cannot be installed"
    cp "$here/tests/requirements.txt" "$folder/requirements.txt"
fi

cd "$here"
rm -rf "$folder/wheels"
# With the features of the default build, nothing but this package and PyO3 is compiled after that build.
CARGO_TARGET_DIR=$target "$venv/bin/maturin" build -q --locked --profile dev --features default-build \
    --compression-level 1 --interpreter "$venv/bin/python" --out "$folder/wheels"
"$venv/bin/pip" install -q --disable-pip-version-check --no-deps --force-reinstall "$folder"/wheels/*.whl

# What is installed is tested, not the sources: their folder is not on the path.
"$venv/bin/python" types_of_answers.py --check
"$venv/bin/abi3audit" --strict "$folder"/wheels/*.whl
"$venv/bin/mypy" --cache-dir "$folder/mypy" --package seedbank_engine
"$venv/bin/mypy" --cache-dir "$folder/mypy" types_of_answers.py tests examples/*.py
"$venv/bin/stubtest" --mypy-config-file pyproject.toml seedbank_engine._native
"$venv/bin/python" -m doctest ../guide/python.md
"$venv/bin/python" -m pytest -q -p no:cacheprovider tests
