//! The parts of Thrift's compact protocol that are examined before a decoder reads them.

/// Reads the header of the next field: returns its type and stores its number in `id`.
pub(super) fn field(rest: &mut &[u8], id: &mut i64) -> Option<u8> {
    let (head, tail) = rest.split_first()?;
    *rest = tail;
    *id = match head >> 4 {
        0 => zigzag(varint(rest)?),
        delta => *id + i64::from(delta),
    };
    Some(head & 15)
}

/// Reads an unsigned number of seven bits per byte.
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

/// Decodes a zigzag number; a negative one, which the decoder refuses, becomes 0.
pub(super) fn unsigned(value: u64) -> u64 {
    u64::try_from(zigzag(value)).unwrap_or(0)
}

/// Returns the length of the list that is field `wanted` of a structure in which all fields before
/// it are integers; `None` if it is not found.
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
