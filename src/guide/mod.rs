//! The guide: what Seedbank does and why, a page for each part. The first is the [map].
//!
//! The pages are the Markdown files of this folder, so they read the same in the repository. They
//! say what the code does today: whoever changes a rule changes its page in the same commit.

/// A page of the guide is a module without items. A file behind the page's own stands at its end, as
/// code.
///
/// The names in brackets lead to modules here and to files in the repository: of several
/// definitions of a link the first counts, and those of the files stand at their ends.
macro_rules! pages {
    ($($page:ident = $file:literal $(with $code:literal in $language:literal)?;)+) => {$(
        #[doc = concat!(
            "[map]: crate::guide::map\n",
            "[design]: crate::guide::design\n",
            "[commits]: crate::guide::commits\n",
            "[formats]: crate::guide::formats\n",
            "[cores]: crate::guide::cores\n",
            "[cover]: crate::guide::cover\n",
            "[refresh]: crate::guide::refresh\n",
            "[answers]: crate::guide::answers\n",
            "[evaluation]: crate::guide::evaluation\n",
            "[operation]: crate::guide::operation\n",
            "[daily]: crate::guide::daily\n",
            "[upkeep]: crate::guide::upkeep\n",
            "[browser]: crate::guide::browser\n",
            "[scrapy]: crate::guide::scrapy\n\n",
            include_str!($file),
            $("\n```", $language, "\n", include_str!($code), "```\n",)?
        )]
        pub mod $page {}
    )+};
}

pages! {
    map = "map.md";
    design = "design.md";
    commits = "commits.md";
    formats = "formats.md";
    cores = "cores.md";
    cover = "cover.md";
    refresh = "refresh.md";
    answers = "answers.md";
    evaluation = "evaluation.md";
    operation = "operation.md";
    daily = "daily.md" with "daily.sh" in "sh";
    upkeep = "upkeep.md";
    browser = "browser.md";
    scrapy = "scrapy.md" with "spider.py" in "python";
}
