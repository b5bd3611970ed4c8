//! A line of Heritrix's `crawl.log`, cut into its fields.

/// A line of the log, as texts.
#[derive(Debug)]
pub(super) struct LogLine<'a> {
    time: &'a str,
    /// That of HTTP, or a number of Heritrix's own.
    pub(super) status: i32,
    pub(super) url: &'a str,
    /// How the URL was found, a letter for each step from a seed.
    path: &'a str,
    pub(super) via: Option<&'a str>,
    /// When the fetch began, followed by how long it took.
    begun: Option<&'a str>,
    pub(super) digest: Option<&'a str>,
}

impl<'a> LogLine<'a> {
    /// `None` where the line is not of the log.
    pub(super) fn of(line: &'a str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let [
            time,
            status,
            size,
            url,
            path,
            via,
            _mime,
            thread,
            begun,
            digest,
        ] = [(); 10].map(|()| fields.next());
        let size = size?;
        let is_size = size == "-" || size.bytes().all(|byte| byte.is_ascii_digit());
        let is_time = |time: &str| time.starts_with(|c: char| c.is_ascii_digit());
        let given = |field: &&str| *field != "-";
        Some(Self {
            time: time.filter(|time| is_size && is_time(time))?,
            status: status?.parse().ok()?,
            url: url?,
            path: path?,
            via: via.filter(given),
            begun: thread
                .filter(|thread| thread.starts_with('#'))
                .and(begun)?
                .split(['+', ';'])
                .next()
                .filter(given),
            digest: Some(digest?).filter(given),
        })
    }

    /// The last step to the URL.
    pub(super) fn step(&self) -> Option<char> {
        self.path.chars().next_back().filter(|step| *step != '-')
    }

    /// Whether the crawler fetched it for itself: `robots.txt`, the address of a host, and where these
    /// led.
    pub(super) fn is_prerequisite(&self) -> bool {
        self.path.trim_end_matches('R').ends_with('P')
    }

    /// When it was fetched, as archives have it: when the fetch began, or else when the line was
    /// written.
    pub(super) fn time(&self) -> String {
        let time = self.begun.unwrap_or(self.time);
        let is_number = time.len() > 14 && time.bytes().all(|byte| byte.is_ascii_digit());
        match time.split_at_checked(14).zip(time.split_at_checked(8)) {
            Some(((second, fraction), (day, _))) if is_number => {
                let clock = second.get(8..).unwrap_or_default();
                format!("{day}T{clock}.{fraction}Z")
            }
            _ => time.to_owned(),
        }
    }
}
