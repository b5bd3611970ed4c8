//! Facts of text that distinguish URLs from other text, so that a terminal can print them and a browser
//! can link the pages.

use std::fmt::{self, Display};

/// Part of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// URL of a page.
    Page(String),
}

/// Line of text. [`Display`] writes plain text with full URLs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Line {
    parts: Vec<Part>,
}

impl Line {
    /// Creates a line that consists of the URL of a page.
    #[must_use]
    pub fn page(url: &str) -> Self {
        Self::default().and_page(url)
    }

    /// Appends text.
    #[must_use]
    pub fn and(mut self, text: impl Display) -> Self {
        self.parts.push(Part::Text(text.to_string()));
        self
    }

    /// Appends the URL of a page.
    #[must_use]
    pub fn and_page(mut self, url: &str) -> Self {
        self.parts.push(Part::Page(url.to_owned()));
        self
    }

    /// Appends the URLs of pages, separated by commas.
    #[must_use]
    pub fn and_pages(mut self, urls: &[String]) -> Self {
        for (at, url) in urls.iter().enumerate() {
            if at > 0 {
                self = self.and(", ");
            }
            self = self.and_page(url);
        }
        self
    }

    /// Appends the parts of another line.
    #[must_use]
    pub fn and_line(mut self, line: Self) -> Self {
        self.parts.extend(line.parts);
        self
    }

    /// Returns the parts, in order.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }
}

impl From<&str> for Line {
    fn from(text: &str) -> Self {
        Self::default().and(text)
    }
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        let parts = vec![Part::Text(text)];
        Self { parts }
    }
}

impl From<fmt::Arguments<'_>> for Line {
    fn from(text: fmt::Arguments<'_>) -> Self {
        Self::default().and(text)
    }
}

impl Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Text(text) | Part::Page(text) => f.write_str(text),
        })
    }
}

/// Facts with an optional heading. [`Display`] indents the lines but not the heading, and ends each
/// with a newline.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    heading: Option<Line>,
    lines: Vec<Line>,
}

impl Facts {
    /// Creates an empty list under a heading.
    #[must_use]
    pub fn under(heading: impl Into<Line>) -> Self {
        Self {
            heading: Some(heading.into()),
            lines: Vec::new(),
        }
    }

    /// Returns the heading and, indented, the lines, as lines of other facts.
    pub fn nested(self) -> impl Iterator<Item = Line> {
        let indented = |line| Line::from("  ").and_line(line);
        self.heading
            .into_iter()
            .chain(self.lines.into_iter().map(indented))
    }

    /// Returns the lines below the heading.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Adds a line.
    pub fn add(&mut self, line: impl Into<Line>) {
        self.lines.push(line.into());
    }
}

impl Extend<Line> for Facts {
    fn extend<T: IntoIterator<Item = Line>>(&mut self, lines: T) {
        self.lines.extend(lines);
    }
}

impl IntoIterator for Facts {
    type Item = Line;
    type IntoIter = std::vec::IntoIter<Line>;

    /// Iterates over the lines below the heading.
    fn into_iter(self) -> Self::IntoIter {
        self.lines.into_iter()
    }
}

impl Display for Facts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(heading) = &self.heading {
            writeln!(f, "{heading}")?;
        }
        let mut lines = self.lines.iter();
        lines.try_for_each(|line| writeln!(f, "  {line}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_indented_under_their_heading() {
        let mut lines = Facts::under(Line::page("http://a.example/"));
        lines.add("one");
        lines.add(format_args!("  {}", 2));
        let pages = [
            "http://b.example/".to_owned(),
            "http://c.example/".to_owned(),
        ];
        lines.extend([Line::from("links to ").and_pages(&pages).and(", ...")]);
        assert_eq!(
            lines.to_string(),
            "http://a.example/\n  one\n    2\n  links to http://b.example/, http://c.example/, ...\n"
        );
    }
}
