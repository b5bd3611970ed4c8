# Two commands matter: `make demo` (the main job from an empty machine) and `make test`
# (everything CI checks). Both install what RocksDB's build needs.

CARGO     ?= cargo
TARGET    := $(or $(CARGO_TARGET_DIR),target)
SEEDBANK  := $(TARGET)/debug/seedbank
DEMO      := $(TARGET)/demo
PAGES     ?= 20000
LONG_PAGES ?= 200000
LONG_DAYS ?= 30
LONG_CUTS ?= 500
FUZZ_TOTAL ?= 3600
LONG_DAMAGES ?= 5000
LONG_FAULTS ?= 4000
LONG_POWER_CUTS ?= 150
LONG_STEPS ?= 500
LONG_CASES ?= 25
LONG_DAILY ?= 30
LONG_WITHIN ?= 1000
LONG_REAL ?= 17
LONG_SEEDS ?= 100
LONG_CROWDS ?= 60
RUNS      ?= 20
PYTHON    ?= python3
# Features of the packages beyond the default ones.
DIST_FEATURES ?= remote,mcp
# What a run skips, a line for each thing; `make test` names it last.
SKIPPED   := $(abspath $(TARGET))/skipped
SKIP      := skip() { echo "SKIPPED $$1"; mkdir -p "$(dir $(SKIPPED))"; echo "$$1" >>"$(SKIPPED)"; }; skip
# Compiles RocksDB's sources as a few files, so that their headers are read a few times. A compiler named by
# CXX gets them one by one.
export PATH := $(CURDIR)/.ci/rocksdb:$(PATH)
SUDO      := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)

.PHONY: help demo mcp pictures check test test-long browser faults two-builds deps deps-browser build check-format lint docs docs-site unit doctests python deny advisories report-skipped fuzz bench interop remote install dist dist-test package clean-demo

help:
	@echo "make demo     generate a crawl, ingest a snapshot and two deltas, refresh three plans, explain a seed, write a"
	@echo "              report; then serve shows the bank in a browser"
	@echo "make check    format, lints and the library's own tests, in minutes"
	@echo "make test     everything CI checks; its last line names what was skipped"
	@echo "make test-long  what takes long: LONG_DAMAGES=5000 damages to files of banks,"
	@echo "              LONG_FAULTS=4000 system calls that kill a command or fail, each followed by damage to a file,"
	@echo "              LONG_POWER_CUTS=150 power cuts on a file system in an image (as root),"
	@echo "              refresh by cores on every day of a large crawl, each beside one from scratch,"
	@echo "              LONG_STEPS=500 of aliases on a real crawl, LONG_CASES=25 times as many random histories,"
	@echo "              LONG_DAILY=30 days of the daily job, every third of them killed,"
	@echo "              LONG_CROWDS=60 seconds of crowds that keep a server waiting,"
	@echo "              LONG_REAL=17 days of a real crawl, LONG_SEEDS=100 seeds, LONG_GOALS=1 for all goals on six crawls,"
	@echo "              LONG_WITHIN=1000 histories of refreshes within a bound, and as many days of one"
	@echo "make browser  the report and the served pages in chromium, which axe asks for barriers; nightly"
	@echo "make docs-site  the guide as a site with a search, in target/docs-site"
	@echo "make two-builds  compare the tables and lists of two builds of the program"
	@echo "make mcp      the tests of the command mcp, which the default build leaves out"
	@echo "make python   build the Python package and test it beside the libraries that take its tables"
	@echo "make fuzz     fuzz all decoders and readers for FUZZ_TOTAL=$(FUZZ_TOTAL) s, or each for FUZZ_SECONDS"
	@echo "make interop  formats beside the programs that write and read them, all scripts of tests/interop, which say"
	@echo "              what they skip. First: pip install scrapy crawlee pyyaml grpcio-tools duckdb pyarrow warcio"
	@echo "              fastwarc wacz brotli cdxj-indexer pywb schemathesis mcp; npm install @crawlee/http;"
	@echo "              cargo install webgraph-cli; PYTHON=python3, URLFRONTIER_PROTO=urlfrontier.proto and"
	@echo "              CRAWLEE_FOLDER name others"
	@echo "make remote   remote files: builds with the feature, and tests on loopback with RUNS=$(RUNS) ingests with random cuts;"
	@echo "              first: pip install 'moto[server]' pyarrow"
	@echo "make bench    measure, in ratios within one run (beside DuckDB too after: pip install duckdb)"
	@echo "make pictures  draw the README's pictures again, from the demo's bank, in chromium"
	@echo "make dist     a release's packages in the target folder's dist: a tar file, a .deb, the wheel, checksums;"
	@echo "              DIST_FEATURES=$(DIST_FEATURES) names features beyond the default ones"
	@echo "make dist-test  install each of them and make a first seed list; as root, the .deb in a system of its own"
	@echo "make package  what cargo publish would send, each package built from it"
	@echo "make install  put seedbank into cargo's bin folder (a build of its own, optimised further)"

# RocksDB is C++, and its Rust binding is generated with libclang.
deps:
	@command -v $(CARGO) >/dev/null || { echo "seedbank is built with Rust 1.90 or newer: install it from https://rustup.rs"; exit 1; }
	@if ! command -v g++ >/dev/null || ! ls /usr/lib/llvm*/lib/libclang.so* /usr/lib/*/libclang.so* /usr/lib/*/libclang-[0-9]*.so* /usr/lib*/libclang.so* $${LIBCLANG_PATH:-/nowhere}/libclang*.so* "$$(xcode-select -p 2>/dev/null)"/usr/lib/libclang.dylib "$$(xcode-select -p 2>/dev/null)"/Toolchains/*/usr/lib/libclang.dylib 2>/dev/null | grep -q .; then \
	  if command -v apt-get >/dev/null; then \
	    echo "installing what RocksDB's build needs: g++, libclang-dev"; \
	    $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq g++ libclang-dev >/dev/null; \
	  else \
	    echo "RocksDB's build needs a C++ compiler and libclang: install them with this system's package manager"; exit 1; \
	  fi; \
	fi

# The report and the served pages are looked at in a real browser, which axe asks for barriers;
# without them their tests say that they are skipped.
deps-browser:
	@if ! command -v chromium >/dev/null || ! command -v chromedriver >/dev/null; then \
	  if command -v apt-get >/dev/null; then \
	    echo "installing the browser that pages are tested in: chromium, chromium-driver"; \
	    $(SUDO) apt-get update -qq && $(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium chromium-driver >/dev/null \
	      || echo "SKIPPED: chromium and its driver could not be installed"; \
	  else \
	    echo "SKIPPED: no chromium or no chromedriver, and no apt-get to install them with"; \
	  fi; \
	fi
	@if [ ! -f "$${SEEDBANK_AXE:-/nowhere}" ]; then \
	  if ! command -v npm >/dev/null; then \
	    echo "SKIPPED axe-core: no npm to install it with"; \
	  elif [ ! -f "$$(npm root -g 2>/dev/null)/axe-core/axe.min.js" ]; then \
	    echo "installing what finds barriers on pages: axe-core"; \
	    $(SUDO) npm install -g --silent axe-core@4.14.1 >/dev/null 2>&1 || echo "SKIPPED: axe-core could not be installed"; \
	  fi; \
	fi

build: deps
	@[ -x $(SEEDBANK) ] || echo "building; the first time takes some seven minutes on two cores"
	$(CARGO) build --locked
	@sed -n 's/^cargo:warning=\(RocksDB: .*\)/\1/p' $(TARGET)/debug/build/librocksdb-sys-*/output 2>/dev/null | sort -u

demo: build
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@echo; echo "== A crawl of $(PAGES) pages and the two days after it, into a bank"
	$(SEEDBANK) synth $(DEMO)/crawl --pages $(PAGES) --days 2 --daily 1 --rng-seed 1
	$(SEEDBANK) init $(DEMO)/bank
	$(SEEDBANK) ingest $(DEMO)/bank $(DEMO)/crawl/day-000.jsonl.zst --snapshot
	@echo; echo "== Three plans: seeds for a crawl of 2,000 pages, a seed from each dense group of pages, seeds on each site"
	$(SEEDBANK) refresh $(DEMO)/bank --seeds 20 --budget 2000
	$(SEEDBANK) refresh $(DEMO)/bank --plan communities --goal communities --seeds 20 --judge
	$(SEEDBANK) refresh $(DEMO)/bank --plan sites --goal sites --per-site 1 --judge
	@for day in 1 2; do \
	  echo; echo "== Day $$day: what changed, and the three lists after it"; \
	  set -x; \
	  $(SEEDBANK) ingest $(DEMO)/bank $(DEMO)/crawl/day-00$$day.jsonl.zst || exit; \
	  for plan in default communities sites; do $(SEEDBANK) refresh $(DEMO)/bank --plan $$plan || exit; done; \
	  { set +x; } 2>/dev/null; \
	done
	@echo; echo "== Why is the first seed a seed, and what changed on the list?"
	$(SEEDBANK) explain $(DEMO)/bank "$$($(SEEDBANK) seeds $(DEMO)/bank | head -n 1)"
	$(SEEDBANK) diff $(DEMO)/bank
	@echo; echo "== Are the lists any good? Crawls from them, with pages held out, beside the best of simple lists"
	$(SEEDBANK) plans $(DEMO)/bank
	@echo; echo "== All of it on one page"
	$(SEEDBANK) report $(DEMO)/bank --out $(DEMO)/report.html
	@echo; echo "The bank in a browser: $(SEEDBANK) serve $(DEMO)/bank"

# The README's pictures, from the demo's bank; chromium draws them.
pictures: demo
	.github/pictures/make.sh $(SEEDBANK) $(DEMO)

# What to run before each commit.
check: check-format lint
	$(CARGO) nextest run --locked --workspace --features remote --lib

# One step after another, also with -j: the list of what was skipped is begun first and told last.
test: deps
	@rm -f "$(SKIPPED)"
	@for step in check-format lint docs unit doctests python deny report-skipped; do \
	  $(MAKE) --no-print-directory $$step || exit 1; \
	done

# The last line of `make test`: how many times something was skipped stands behind it.
report-skipped:
	@if [ -s "$(SKIPPED)" ]; then \
	  sort "$(SKIPPED)" | uniq -c | awk '{ n = $$1; sub(/^ *[0-9]+ /, ""); \
	    all = all (NR > 1 ? "; " : "") $$0 (n > 1 ? " (" n ")" : "") } END { print "SKIPPED: " all }'; \
	else echo "nothing was skipped"; fi

check-format:
	$(CARGO) fmt --all --check
	$(CARGO) fmt --check --manifest-path tests/fuzz/Cargo.toml

lint: deps
	$(CARGO) clippy --locked --workspace --all-targets --features mcp,remote -- -D warnings
	$(CARGO) clippy --locked --no-default-features --features parquet,report -- -D warnings
	@if $(CARGO) fetch -q --locked --manifest-path tests/fuzz/Cargo.toml; then \
	  CARGO_TARGET_DIR=$(abspath $(TARGET)) $(CARGO) clippy --locked --manifest-path tests/fuzz/Cargo.toml -- -D warnings; \
	else $(SKIP) "the fuzzer's lints: what it needs cannot be fetched"; fi

# The guide as a site with a search, in target/docs-site.
docs-site:
	@command -v mdbook >/dev/null || $(CARGO) install --locked mdbook
	mdbook build src/guide --dest-dir "$(abspath $(TARGET))/docs-site"
	$(PYTHON) .ci/site_links.py $(TARGET)/docs-site

docs: deps
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --workspace --no-deps --document-private-items

# Some tests wait more than they compute, so one more runs at a time than there are cores; with three more, all took
# a tenth longer on two cores.
NEXTEST   := SEEDBANK_SKIPPED="$(SKIPPED)" $(CARGO) nextest run --locked --workspace --features remote \
  --test-threads $$(($$(getconf _NPROCESSORS_ONLN) + 1))
unit: deps
	@command -v cargo-nextest >/dev/null || $(CARGO) install --locked cargo-nextest
	$(NEXTEST)

# The tests that the default profile of .config/nextest.toml leaves to every night.
browser: deps deps-browser
	$(NEXTEST) --profile browser

doctests: deps
	$(CARGO) test --locked --workspace --features remote --doc

# The Python package in a virtual environment below the target folder, beside polars, DuckDB, pyarrow and
# pandas. Only this package and PyO3 are compiled after the other steps.
python: deps
	@SEEDBANK_SKIPPED="$(SKIPPED)" SEEDBANK_COMMAND="$(abspath $(SEEDBANK))" PYTHON="$(PYTHON)" \
	  src/python/test.sh "$(TARGET)"; status=$$?; \
	if [ $$status = 3 ]; then $(SKIP) "$$(cat "$(TARGET)/python/missing")"; else exit $$status; fi

# What dependencies may be (.cargo/deny.toml). Advisories come from a database on the network; where it
# cannot be had, a copy from before will do, which is said.
ADVISORIES := $${CARGO_HOME:-$$HOME/.cargo}/advisory-dbs
deny:
	@if ! command -v cargo-deny >/dev/null; then \
	  $(SKIP) "cargo deny (bans, licences, sources, advisories): it is not installed; cargo install --locked cargo-deny"; \
	else \
	  $(CARGO) fetch --locked && $(CARGO) deny --offline check bans licenses sources || exit 1; \
	  if $(CARGO) deny fetch db; then \
	    $(CARGO) deny --offline check advisories; \
	  elif ls -d "$(ADVISORIES)"/*/ >/dev/null 2>&1; then \
	    $(SKIP) "advisories of late: their database cannot be fetched, and an older copy was used"; \
	    $(CARGO) deny --offline check advisories; \
	  else \
	    $(SKIP) "advisories: their database cannot be fetched"; \
	  fi; \
	fi

# The same, but nothing may be missing: what CI runs on every push and every day.
advisories:
	$(CARGO) fetch --locked
	$(CARGO) deny check

# Tests of `make test`, with other numbers: the files of banks damaged and commands killed so many
# times, and refreshes at the size of a real crawl; LONG_PAGES=20000 is a
# matter of minutes.
test-long: deps
	LONG_DAMAGES=$(LONG_DAMAGES) $(CARGO) test --locked --workspace --test storage -- damages:: --nocapture
	$(MAKE) --no-print-directory faults two-builds
	LONG_PAGES=$(LONG_PAGES) LONG_DAYS=$(LONG_DAYS) LONG_REAL=$(LONG_REAL) LONG_SEEDS=$(LONG_SEEDS) \
	  $(CARGO) test --locked --workspace --test refresh -- long:: --nocapture
	LONG_REAL=$(LONG_REAL) $(CARGO) test --locked --workspace -- real_days days_of_a_real_crawl a_crawl_cut_otherwise
	LONG_CASES=$(LONG_CASES) $(CARGO) test --locked --workspace --test ingest --test graph --test explain
	LONG_CASES=$(LONG_CASES) $(CARGO) test --locked --workspace --test refresh -- random:: histories a_refresh_for_a_goal
	LONG_CASES=$(LONG_CASES) $(CARGO) test --locked --workspace --test storage -- graph_image::
	LONG_CASES=$(LONG_CASES) $(CARGO) test --locked --package seedbank-algorithms --lib -- share
	LONG_CUTS=$(LONG_CUTS) $(CARGO) test --locked --workspace --test storage -- power_cut:: --nocapture
	LONG_STEPS=$(LONG_STEPS) $(CARGO) test --locked --workspace --test refresh -- aliases::long_steps --nocapture
	LONG_DAILY=$(LONG_DAILY) $(CARGO) test --locked --workspace --test cli -- daily:: --nocapture
	LONG_GOALS=1 $(CARGO) test --locked --workspace --test golden -- every_goal
	LONG_CROWDS=$(LONG_CROWDS) $(CARGO) test --locked --workspace --test cli_serve -- serve_crowds:: --nocapture
	LONG_CUTS_OF_STREAMS=$(LONG_CUTS) $(CARGO) test --locked --workspace --lib -- a_cut_stream --nocapture
	LONG_WITHIN=$(LONG_WITHIN) $(CARGO) test --locked --workspace --lib -- cores::within_tests --nocapture

# System calls that fail and power cuts, in banks of every kind.
faults: deps
	LONG_FAULTS=$(LONG_FAULTS) LONG_POWER_CUTS=$(LONG_POWER_CUTS) \
	  $(CARGO) test --locked --workspace --features remote --test storage -- faults:: --nocapture

# A build with other optimisations, beside the one that tests use; only the packages of this workspace differ.
SECOND := $(foreach package,algorithms formats store,--config profile.dev.package.seedbank-$(package).opt-level=1) \
  --config profile.dev.package.seedbank-algorithms.codegen-units=16 --config profile.dev.package.seedbank.opt-level=3
two-builds: deps
	$(CARGO) build --locked --features remote $(SECOND)
	cp "$(SEEDBANK)" "$(TARGET)/second-build"
	OTHER_BUILD="$(abspath $(TARGET))/second-build" $(CARGO) nextest run --locked --workspace --features remote two_builds

# The command mcp is in builds with its feature.
mcp: deps
	$(CARGO) nextest run --locked --features mcp --test cli_serve serve_mcp::

# Guided by coverage, on the stable compiler: libFuzzer comes with a crate and is built with g++.
# Nothing that the package compiled is compiled again, RocksDB above all. Findings are in
# fuzz/found of the target folder, and what one input leads to in tests/fuzz/kept is tested ever after.
fuzz: deps
	CARGO=$(CARGO) FUZZ_TOTAL=$(FUZZ_TOTAL) FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_TARGETS="$(FUZZ_TARGETS)" tests/fuzz/run.sh

bench: deps
	$(CARGO) bench --locked --profile dev

# Formats beside those who write and read them; what is not installed is skipped, which is said. All
# scripts run, also after one that failed.
interop: build
	@failed=; for script in tests/interop/*.py; do \
	  echo "== $$script"; \
	  $(PYTHON) $$script $(SEEDBANK) || failed="$$failed $$script"; \
	done; \
	if [ -n "$$failed" ]; then echo "FAILED:$$failed"; exit 1; fi

# Remote files, which are an optional feature: the crate, and the command beside moto's server of S3.
remote: deps
	$(CARGO) build --locked --features remote
	$(CARGO) nextest run --locked --package seedbank-remote
	RUNS=$(RUNS) $(PYTHON) tests/interop/remote.py $(SEEDBANK)

install: deps
	$(CARGO) install --locked --path .

# What a release consists of (.ci/dist), optimised.
dist: deps
	@command -v cargo-deb >/dev/null || $(CARGO) install --locked --no-default-features cargo-deb
	CARGO="$(CARGO)" PYTHON="$(PYTHON)" DIST_FEATURES="$(DIST_FEATURES)" .ci/dist/make.sh

dist-test:
	.ci/dist/test.sh "$(TARGET)/dist"

# Packages have no profiles: with those of this repository, most of what is compiled is not compiled again.
package: deps
	@mkdir -p "$(TARGET)"
	sed -n '/^\[profile\.dev/,/^\[profile\.release/{ /^\[profile\.release/!p }' Cargo.toml >"$(TARGET)/profiles.toml"
	$(CARGO) package --locked --config "$(TARGET)/profiles.toml" --package seedbank --package seedbank-algorithms \
	  --package seedbank-formats --package seedbank-remote --package seedbank-store
