"""Plots what crawls from the seeds of each plan find, beside the best of the common baselines.

    make demo
    python3 src/python/examples/verdict.py target/demo/bank verdict.png
"""

import sys

from seedbank_engine import Bank

# %% The verdicts: each plan selects without a tenth of the crawled pages, several times, and a crawl is simulated.

bank = Bank.open(sys.argv[1])
judged = [(plan["plan"], plan["parameters"].get("judged")) for plan in bank.plans()["plans"]]
verdicts = [(name, verdict) for name, verdict in judged if verdict is not None]
for name, verdict in verdicts:
    found, best = verdict["found"]["mean"], verdict["baseline_found"]["mean"]
    print(f"{name}: {found:.4g} {verdict['measure']}, the best baseline ({verdict['baseline']}): {best:.4g}")

# %% The plot, where matplotlib is installed. Plans have measures of their own, so each is shown relative to the best
# baseline, with its standard error.

try:
    import matplotlib.pyplot as plot
except ImportError:
    sys.exit("no plot: matplotlib is not installed")

compared = [(name, verdict["times_best_baseline"]) for name, verdict in verdicts]
ratios = [(name, ratio) for name, ratio in compared if ratio is not None]
names = [name for name, _ in ratios]
errors = [ratio.get("standard_error") or 0 for _, ratio in ratios]
plot.barh(names, [ratio["mean"] for _, ratio in ratios], xerr=errors)
plot.axvline(1, color="black")
plot.xlabel("found by a crawl from the seeds, relative to the best baseline (1)")
plot.tight_layout()
plot.savefig(sys.argv[2])
