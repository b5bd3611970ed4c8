//! Finds the end of a JSON value by brackets and strings alone.

/// A value whose first byte is known.
#[derive(Debug)]
pub(super) struct ValueScanner {
    kind: Kind,
    /// Number of open brackets.
    depth: u64,
    in_string: bool,
    /// Whether the previous byte was a backslash that escapes the next one.
    escaped: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// An object or an array.
    Nested,
    Text,
    /// A number or a word, which ends before any other token.
    Word,
}

/// Where a value ends in a slice of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    /// After this many bytes.
    At(usize),
    /// Beyond the slice.
    Later,
}

impl ValueScanner {
    /// A value that begins with this byte, which must be passed to [`end`](Self::end) too.
    pub(super) const fn new(first: u8) -> Self {
        Self {
            kind: match first {
                b'{' | b'[' => Kind::Nested,
                b'"' => Kind::Text,
                _ => Kind::Word,
            },
            depth: 0,
            in_string: false,
            escaped: false,
        }
    }

    /// Returns whether the value is complete if the text ends here.
    pub(super) fn may_end(&self) -> bool {
        self.kind == Kind::Word
    }

    /// Scans the next bytes.
    pub(super) fn end(&mut self, bytes: &[u8]) -> End {
        if self.kind == Kind::Word {
            let ends = |byte: &u8| {
                matches!(byte, b',' | b']' | b'}' | b'[' | b'{' | b'"')
                    || byte.is_ascii_whitespace()
            };
            return bytes.iter().position(ends).map_or(End::Later, End::At);
        }
        for (at, byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => {
                        self.in_string = false;
                        if self.kind == Kind::Text {
                            return End::At(at + 1);
                        }
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return End::At(at + 1);
                    }
                }
                _ => {}
            }
        }
        End::Later
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_ends_wherever_its_bytes_are_cut() {
        for (text, rest) in [
            (r#"{"a": "}\"]\\"}"#, " x"),
            (r#"[[], {"b": [1]}]"#, "]"),
            (r#""a\\""#, "\""),
            ("12.5e3", ", 1"),
            ("null", "]"),
            ("true", "\n{"),
            // Brackets that do not fit are found when the value is read.
            ("{]", "}"),
        ] {
            let whole = [text, rest].concat();
            for cut in 0..whole.len() {
                let (before, after) = whole.as_bytes().split_at(cut);
                let mut value = ValueScanner::new(whole.as_bytes()[0]);
                let end = match value.end(before) {
                    End::At(end) => end,
                    End::Later => match value.end(after) {
                        End::At(end) => cut + end,
                        End::Later => panic!("{whole} has no end"),
                    },
                };
                assert_eq!(end, text.len(), "{whole} cut at {cut}");
            }
        }
    }
}
