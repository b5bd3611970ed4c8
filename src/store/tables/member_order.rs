//! The order in which hubs and authorities were added to a core, one bit each.

/// Packs a sequence of `a` and `h` into bits, the first in the lowest bit of the first byte; `h` is 1.
#[must_use]
pub fn pack(sides: &str) -> Vec<u8> {
    sides
        .as_bytes()
        .chunks(8)
        .map(|chunk| {
            let bits = chunk.iter().enumerate();
            bits.fold(0, |byte, (bit, side)| {
                byte | (u8::from(*side == b'h') << bit)
            })
        })
        .collect()
}

/// Unpacks `length` bits into a sequence of `a` and `h`; missing bytes count as `a`.
#[must_use]
pub fn unpack(packed: &[u8], length: usize) -> String {
    (0..length)
        .map(|at| {
            let byte = packed.get(at / 8).copied().unwrap_or(0);
            if byte >> (at % 8) & 1 == 1 { 'h' } else { 'a' }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_come_back() {
        for sides in ["", "a", "ahahahahh", "hhhhhhhha"] {
            assert_eq!(unpack(&pack(sides), sides.len()), sides);
        }
    }
}
