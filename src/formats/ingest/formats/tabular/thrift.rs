//! The few things of Thrift's compact protocol that are looked at before a decoder reads them.

/// The type of the next field, whose number is left in `id`.
pub(super) fn field(rest: &mut &[u8], id: &mut i64) -> Option<u8> {
    let (head, tail) = rest.split_first()?;
    *rest = tail;
    *id = match head >> 4 {
        0 => zigzag(varint(rest)?),
        delta => *id + i64::from(delta),
    };
    Some(head & 15)
}

/// A number, seven bits to a byte.
pub(super) fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (byte, tail) = rest.split_first()?;
        *rest = tail;
        value |= u64::from(byte & 127) << shift;
        if *byte < 128 {
            return Some(value);
        }
    }
    None
}

const fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

/// A count; what is negative is refused by the decoder.
pub(super) fn unsigned(value: u64) -> u64 {
    u64::try_from(zigzag(value)).unwrap_or(0)
}

/// How many elements the list with this number has, in a structure whose fields before it are integers;
/// `None` where it is not found.
pub(super) fn list_length(structure: &[u8], wanted: i64) -> Option<u64> {
    let mut rest = structure;
    let mut id = 0;
    loop {
        match field(&mut rest, &mut id)? {
            // Integers of 16, 32 and 64 bits.
            4..=6 => {
                varint(&mut rest)?;
            }
            9 if id == wanted => {
                let (head, tail) = rest.split_first()?;
                rest = tail;
                return match head >> 4 {
                    15 => varint(&mut rest),
                    length => Some(length.into()),
                };
            }
            _ => return None,
        }
    }
}
