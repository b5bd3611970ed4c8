//! The parameters of an address, each taken by the page that knows it; what is left is known to none.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, StatusCode, Uri};
use url::form_urlencoded::parse;

use super::answer::Fault;
use super::form::{Form, accepted};

/// How much of a name that nobody knows is said.
const SAID: usize = 40;

/// The parameters of an address.
pub(super) struct Given {
    /// Those that were not taken yet.
    left: BTreeMap<String, String>,
    /// A name that stands in the address twice.
    twice: Option<String>,
    /// The names that were asked for, whether or not the address has them.
    known: Vec<&'static str>,
}

/// What a page wants to know, read from the parameters of its address.
pub(super) trait Parameters: Sized {
    fn of(given: &mut Given) -> Result<Self, Fault>;
}

fn bad(text: String) -> Fault {
    Fault::new(StatusCode::BAD_REQUEST, text)
}

/// The beginning of a name that somebody made up.
fn said(name: &str) -> String {
    name.chars().take(SAID).collect()
}

/// What there is no answer without: a parameter's name, and what it says.
pub(super) fn needed<T>(found: Option<T>, what: &str) -> Result<T, Fault> {
    found.ok_or_else(|| bad(format!("the address does not say {what}")))
}

impl Given {
    /// The parameters of an address.
    pub(super) fn of(uri: &Uri) -> Self {
        let mut left = BTreeMap::new();
        let mut twice = None;
        for (name, value) in parse(uri.query().unwrap_or_default().as_bytes()) {
            if left.insert(name.to_string(), value.into_owned()).is_some() {
                twice = Some(name.into_owned());
            }
        }
        Self {
            left,
            twice,
            known: Vec::new(),
        }
    }

    /// A text; `None` where the address has none of this name.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        self.left.remove(name)
    }

    /// A whole number.
    pub(super) fn whole<T: TryFrom<u64>>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<T>, Fault> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(bad(format!("parameter {name} has to be a whole number")));
        }
        let number = text.parse().ok();
        let number = number.and_then(|number: u64| T::try_from(number).ok());
        match number {
            Some(number) => Ok(Some(number)),
            None => Err(bad(format!("parameter {name} is too large a number"))),
        }
    }

    /// Whether something holds, which it does not where the address says nothing of it.
    pub(super) fn holds(&mut self, name: &'static str) -> Result<bool, Fault> {
        let values = [("true", true), ("false", false)];
        Ok(self.one_of(name, &values)?.unwrap_or(false))
    }

    /// One of the values that have these names.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        name: &'static str,
        values: &[(&str, T)],
    ) -> Result<Option<T>, Fault> {
        let Some(text) = self.text(name) else {
            return Ok(None);
        };
        let found = values.iter().find(|(value, _)| *value == text);
        if let Some((_, value)) = found {
            return Ok(Some(*value));
        }
        let names: Vec<&str> = values.iter().map(|(value, _)| *value).collect();
        let names = names.join(", ");
        Err(bad(format!("parameter {name} has to be one of {names}")))
    }

    /// How the answer is to be written: as the address says, else as the header does.
    pub(super) fn form(&mut self, headers: &HeaderMap) -> Result<Form, Fault> {
        if self.twice.as_deref() == Some("format") {
            self.all_once()?;
        }
        let forms = [("html", Form::Html), ("json", Form::Json)];
        let form = self.one_of("format", &forms)?;
        Ok(form.unwrap_or_else(|| accepted(headers)))
    }

    fn all_once(&self) -> Result<(), Fault> {
        let Some(name) = &self.twice else {
            return Ok(());
        };
        let name = said(name);
        Err(bad(format!("the address has the parameter {name} twice")))
    }

    /// All that the address has was taken, and was there once.
    pub(super) fn all_known(self) -> Result<(), Fault> {
        self.all_once()?;
        let Some(name) = self.left.keys().next() else {
            return Ok(());
        };
        Err(bad(format!(
            "there is no parameter {} here, but {}",
            said(name),
            self.known.join(", ")
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(query: &str) -> Given {
        let uri = format!("/?{query}").parse().unwrap();
        Given::of(&uri)
    }

    fn why<T>(result: Result<T, Fault>) -> String {
        let fault = result.err().unwrap();
        assert_eq!(fault.status, StatusCode::BAD_REQUEST);
        fault.error
    }

    #[test]
    fn what_is_wrong_names_its_parameter() {
        assert_eq!(given("n=7").whole::<u32>("n").ok(), Some(Some(7)));
        assert_eq!(given("").whole::<u32>("n").ok(), Some(None));
        for text in ["", "x", "-1", "%2B1", "1e9", "1.0"] {
            let mut given = given(&format!("n={text}"));
            let why = why(given.whole::<u32>("n"));
            assert_eq!(why, "parameter n has to be a whole number");
        }
        for text in ["4294967296", "18446744073709551616"] {
            let why = why(given(&format!("n={text}")).whole::<u32>("n"));
            assert_eq!(why, "parameter n is too large a number");
        }
        assert_eq!(
            why(given("desc=yes").holds("desc")),
            "parameter desc has to be one of true, false"
        );
        assert_eq!(
            why(needed(given("").text("url"), "url, a page")),
            "the address does not say url, a page"
        );
    }

    #[test]
    fn nothing_is_passed_over() {
        let mut both = given("a=1&b=2");
        assert_eq!(both.text("b").as_deref(), Some("2"));
        assert_eq!(why(both.all_known()), "there is no parameter a here, but b");
        let mut all = given("a=%31&&");
        assert_eq!(all.text("a").as_deref(), Some("1"));
        assert!(all.all_known().is_ok());
        let mut twice = given("a=1&a=1&format=json");
        assert_eq!(twice.form(&HeaderMap::new()).ok(), Some(Form::Json));
        assert_eq!(twice.text("a").as_deref(), Some("1"));
        let why = why(twice.all_known());
        assert_eq!(why, "the address has the parameter a twice");
        let mut forms = given("format=json&format=json");
        assert!(forms.form(&HeaderMap::new()).is_err());
    }
}
