//! Lists of bank numbers such as `0-3,8`.

/// The number of banks that a cluster can have at most.
pub(crate) const MAX_BANKS: u32 = 1 << 16;

/// What is wrong with a list of banks.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BankRangesError {
    /// The list, or a part of it, is neither a number nor a range.
    #[error("expected banks such as \"0-15\", \"3\" or \"0-3,8\", found {0:?}")]
    Syntax(String),
    /// A range ends before it starts.
    #[error("expected a range of banks that does not end before it starts, found {0:?}")]
    Reversed(String),
    /// A bank number is too large.
    #[error("expected bank numbers below {MAX_BANKS}, found {0}")]
    TooLarge(u32),
    /// A bank is listed twice.
    #[error("bank {0} is listed twice")]
    Twice(u32),
}

/// Parses a list of banks. Returns the numbers in ascending order, at least one.
pub(crate) fn parse(text: &str) -> Result<Vec<u32>, BankRangesError> {
    let mut banks = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |digits: &str| {
            // `parse` alone would accept a sign.
            let digits = digits.trim();
            let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits
                .parse::<u32>()
                .ok()
                .filter(|_| is_number)
                .ok_or_else(|| BankRangesError::Syntax(text.to_owned()))
        };
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(BankRangesError::Reversed(part.to_owned()));
        }
        // Checked before the range is expanded.
        if last >= MAX_BANKS {
            return Err(BankRangesError::TooLarge(last));
        }
        banks.extend(first..=last);
    }
    banks.sort_unstable();
    if let Some(pair) = banks.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(BankRangesError::Twice(pair[0]));
    }
    Ok(banks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_expanded_in_order() {
        assert_eq!(parse("3").unwrap(), [3]);
        assert_eq!(parse("0-3,8").unwrap(), [0, 1, 2, 3, 8]);
        assert_eq!(parse(" 8 , 1 - 2 ").unwrap(), [1, 2, 8]);
    }

    #[test]
    fn invalid_lists_are_rejected() {
        for text in [
            "",
            "a",
            "1-",
            "-1",
            "1,,2",
            "1-2-3",
            "+1",
            "1;2",
            "99999999999",
        ] {
            assert_eq!(
                parse(text),
                Err(BankRangesError::Syntax(text.to_owned())),
                "{text:?}"
            );
        }
        assert_eq!(
            parse("1,3-2"),
            Err(BankRangesError::Reversed("3-2".to_owned()))
        );
        assert_eq!(
            parse("0-4294967295"),
            Err(BankRangesError::TooLarge(u32::MAX))
        );
        assert_eq!(parse("0-3,2"), Err(BankRangesError::Twice(2)));
    }
}
