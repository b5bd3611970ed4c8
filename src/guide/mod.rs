//! The guide: what Seedbank does and why, one page per topic. Start with the [map].
//!
//! The pages are the Markdown files in this folder. They describe the current code: a change of a rule
//! changes its page in the same commit.

/// Declares one empty module per page, optionally with code files at its end.
///
/// Links such as `[map]` are defined twice: here, as modules, and at the end of each file, as files of the
/// repository. Markdown uses the first definition.
macro_rules! pages {
    ($($page:ident = $file:literal $(with $code:literal in $language:literal)*;)+) => {$(
        #[doc = concat!(
            "[map]: crate::guide::map\n",
            "[not]: crate::guide::not\n",
            "[design]: crate::guide::design\n",
            "[commits]: crate::guide::commits\n",
            "[formats]: crate::guide::formats\n",
            "[formats_records]: crate::guide::formats_records\n",
            "[formats_tables]: crate::guide::formats_tables\n",
            "[formats_archives]: crate::guide::formats_archives\n",
            "[formats_graphs]: crate::guide::formats_graphs\n",
            "[formats_crawlers]: crate::guide::formats_crawlers\n",
            "[formats_outputs]: crate::guide::formats_outputs\n",
            "[goals]: crate::guide::goals\n",
            "[cores]: crate::guide::cores\n",
            "[cover]: crate::guide::cover\n",
            "[refresh]: crate::guide::refresh\n",
            "[answers]: crate::guide::answers\n",
            "[evaluation]: crate::guide::evaluation\n",
            "[papers]: crate::guide::papers\n",
            "[operation]: crate::guide::operation\n",
            "[install]: crate::guide::install\n",
            "[daily]: crate::guide::daily\n",
            "[maintenance]: crate::guide::maintenance\n",
            "[api]: crate::guide::api\n",
            "[remote]: crate::guide::remote\n",
            "[cluster]: crate::guide::cluster\n",
            "[spark]: crate::guide::spark\n",
            "[browser]: crate::guide::browser\n",
            "[scrapy]: crate::guide::scrapy\n",
            "[rust]: crate::guide::rust\n",
            "[python]: crate::guide::python\n\n",
            include_str!($file),
            $("\n```", $language, "\n", include_str!($code), "```\n",)*
        )]
        pub mod $page {}
    )+};
}

pages! {
    map = "map.md";
    not = "not.md";
    design = "design.md";
    commits = "commits.md";
    formats = "formats.md";
    formats_records = "formats_records.md";
    formats_tables = "formats_tables.md";
    formats_archives = "formats_archives.md";
    formats_graphs = "formats_graphs.md";
    formats_crawlers = "formats_crawlers.md";
    formats_outputs = "formats_outputs.md";
    goals = "goals.md";
    cores = "cores.md";
    cover = "cover.md";
    refresh = "refresh.md";
    answers = "answers.md";
    evaluation = "evaluation.md";
    papers = "papers.md";
    operation = "operation.md";
    install = "install.md";
    daily = "daily.md" with "daily.sh" in "sh";
    maintenance = "maintenance.md";
    remote = "remote.md";
    cluster = "cluster.md" with "cluster/slurm.sh" in "sh" with "cluster/job.yaml" in "yaml";
    spark = "spark.md" with "wat_to_parquet.py" in "python";
    browser = "browser.md";
    api = "api.md";
    scrapy = "scrapy.md" with "spider.py" in "python";
    rust = "rust.md" with "examples/seeds.rs" in "rust" with "examples/changes.rs" in "rust"
        with "examples/compare.rs" in "rust";
    python = "python.md";
}
