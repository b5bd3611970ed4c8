//! Plan files, and the parameters that a plan kept: refused, or parameters that come back and make
//! a plan or an error in one sentence.

use seedbank::engine::PlanOptions;

use super::{kind, texts};

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let options = if kind & 1 == 0 {
        PlanOptions::from_toml(text).ok()
    } else {
        // Read as a bank reads what it kept of a plan.
        serde_json::from_str(text).ok()
    };
    let Some(options) = options else {
        return;
    };
    assert_eq!(
        options.clone().merged_over(&PlanOptions::default()),
        options
    );
    let _ = PlanOptions::default().merged_over(&options).resolve();
    if let Ok(plan) = options.resolve() {
        let kept = serde_json::to_string(&options).unwrap();
        let back: PlanOptions = serde_json::from_str(&kept).expect("what is kept can be read");
        assert_eq!(back, options, "{kept}");
        assert_eq!(back.resolve().ok(), Some(plan));
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = texts(
        &[0],
        &[
            "seeds = 50\ndensity = 80\ngrowth = \"literal\"\nmax-hubs = 9\npick = \"stable\"\nkeep-spam = true\npages = \"crawled\"\n",
            "method = \"cores\"\nhits = \"classic\"\niterations = 60\ncore-size = 20\nnew-members = 2\nsucceed = true\n",
            "method = \"max-weight\" # cover\nper-site = 3\nhops = 5\ndepth = 2\ncovered = \"remove\"\nvalue-base = 1.25\nvalue-spam = -10\nvalue-clicked = \"10.000001\"\np-uniq = 0.5\n",
            "within = 1.5\nseeds = 9\n",
            "method = \"random\"\nrng-seed = 7\nseeds = 100\nshare = \"pagerank\"\npositive-only = false\n",
            "[a]\nb = [1, {c = 2}]\n",
        ],
    );
    seeds.extend(texts(
        &[1],
        &[
            r#"{"method":"greedy","per-site":10,"value-base":0.5,"positive-only":true}"#,
            r#"{"seeds":100,"hits":"converged","density":90,"unknown":1}"#,
        ],
    ));
    seeds
}
