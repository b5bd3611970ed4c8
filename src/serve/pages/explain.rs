//! Why a page is a seed of a refresh, or why not, with the evidence.

use askama::Template;

use super::frame::Frame;
use crate::engine::Explanation;
use crate::serve::address::{Address, Named, linked};
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::which;
use crate::serve::desk::State;
use crate::serve::form::Form;
use crate::serve::given::{Given, Parameters, needed};
use crate::told::{of_page, sentence};
use seedbank_formats::shown::readable;

pub(super) struct About {
    url: String,
    plan: Option<String>,
    refresh: Option<u32>,
}

impl Parameters for About {
    fn of(given: &mut Given) -> Result<Self, Fault> {
        Ok(Self {
            url: needed(given.text("url"), "url, the URL of a page")?,
            plan: given.text("plan"),
            refresh: given.whole("refresh")?,
        })
    }
}

#[derive(Template)]
#[template(path = "explain.html", config = "src/serve/askama.toml")]
struct Page<'a> {
    frame: Frame<'a>,
    answer: Explanation,
}

pub(super) fn made(state: &State<'_>, about: About, form: Form) -> Result<Answer, Fault> {
    let About { url, plan, refresh } = about;
    let which = which(plan, refresh);
    let answer = state.bank.explain(&url, &which)?;
    if form == Form::Json {
        return Answer::json(&answer);
    }
    let here = Address::of("/explain")
        .with("url", &url)
        .with_some("plan", which.plan)
        .with_some("refresh", which.refresh);
    Answer::page(&Page {
        frame: Frame::around(state, here),
        answer,
    })
}

impl Page<'_> {
    fn sentence(&self) -> String {
        let answer = &self.answer;
        let why = (answer.policy.as_ref(), &answer.why);
        let alias = answer.page.alias.as_ref();
        let text = sentence(&answer.asked, why, &answer.site, alias);
        linked(&text, &Named::by(answer))
    }

    /// What comes after the URL and the sentence.
    fn evidence(&self) -> String {
        let text = of_page(&self.answer);
        let lines: Vec<&str> = text.lines().skip(2).map(str::trim_start).collect();
        linked(&lines.join("\n"), &Named::by(&self.answer))
    }
}
