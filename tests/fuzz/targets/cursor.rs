//! Values made from the bytes of an input; zeros after its end.

/// Takes values from bytes.
pub(super) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub(super) const fn of(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (head, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        head
    }

    pub(super) fn byte(&mut self) -> u8 {
        self.bytes(1).first().copied().unwrap_or(0)
    }

    /// A number of up to eight bytes; small ones are as likely as large ones.
    pub(super) fn number(&mut self) -> u64 {
        let length = usize::from(self.byte() % 9);
        let bytes = self.bytes(length);
        bytes
            .iter()
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    pub(super) fn small(&mut self) -> u32 {
        u32::try_from(self.number() & u64::from(u32::MAX)).unwrap_or(0)
    }

    pub(super) fn score(&mut self) -> f64 {
        let score = f64::from_bits(self.number());
        if score.is_finite() { score } else { 0.5 }
    }

    /// Something or nothing.
    pub(super) fn maybe<T>(&mut self, take: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (self.byte() % 2 == 1).then(|| take(self))
    }

    /// As many values as the bytes have room for, up to `most`.
    pub(super) fn list<T>(&mut self, most: usize, mut take: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = usize::from(self.byte()).min(most);
        let mut list = Vec::new();
        while list.len() < length && !self.is_empty() {
            list.push(take(self));
        }
        list
    }
}
