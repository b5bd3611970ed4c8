//! Lines of Heritrix's `crawl.log`.

/// The fields of a log line.
#[derive(Debug)]
pub(super) struct LogLine<'a> {
    time: &'a str,
    /// The HTTP status, or a status code of Heritrix.
    pub(super) status: i32,
    pub(super) url: &'a str,
    /// The discovery path: one letter per step from a seed.
    path: &'a str,
    pub(super) via: Option<&'a str>,
    /// The start time of the fetch.
    started: Option<&'a str>,
    pub(super) digest: Option<&'a str>,
    /// The source tag: the seed that the URL was found from, if the crawler tags seeds.
    pub(super) source: Option<&'a str>,
}

impl<'a> LogLine<'a> {
    /// Parses a line; `None` if it is not a line of the log.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
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
            started,
            digest,
        ] = [(); 10].map(|()| fields.next());
        let size = size?;
        let is_size = size == "-" || size.bytes().all(|byte| byte.is_ascii_digit());
        let is_time = |time: &str| time.starts_with(|c: char| c.is_ascii_digit());
        let present = |field: &&str| *field != "-";
        Some(Self {
            time: time.filter(|time| is_size && is_time(time))?,
            status: status?.parse().ok()?,
            url: url?,
            path: path?,
            via: via.filter(present),
            started: thread
                .filter(|thread| thread.starts_with('#'))
                .and(started)?
                .split(['+', ';'])
                .next()
                .filter(present),
            digest: Some(digest?).filter(present),
            source: fields.next().filter(present),
        })
    }

    /// Returns the last step of the discovery path.
    pub(super) fn last_step(&self) -> Option<char> {
        self.path.chars().next_back().filter(|step| *step != '-')
    }

    /// Returns the number of steps from a seed.
    pub(super) fn depth(&self) -> Option<u32> {
        let steps = self.path.chars().filter(|step| *step != '-').count();
        u32::try_from(steps).ok()
    }

    /// Returns whether the fetch was a prerequisite of the crawler (`robots.txt`, a DNS lookup), or a
    /// redirect of one.
    pub(super) fn is_prerequisite(&self) -> bool {
        self.path.trim_end_matches('R').ends_with('P')
    }

    /// Returns the start time of the fetch, as archives record it, or else the time of the line.
    pub(super) fn time(&self) -> String {
        let time = self.started.unwrap_or(self.time);
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
