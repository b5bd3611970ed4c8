//! The layout of records, as their implementations of `Deserialize` ask for it.
//!
//! A record is deserialised from invented values, and what it asks for is written down: the names and types of its
//! fields, in order. An enumeration has one value in a run, so there is a run for each combination of variants. The crate
//! `serde-reflection` visits the variants of an enumeration within a variant only if each of them is named to it.

use std::fmt::{Display, Write};

use serde::de::value::U32Deserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer,
    MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// Returns a text that differs for records that are stored differently.
pub(crate) fn layout_of<T: DeserializeOwned>() -> String {
    let mut tracer = Tracer::default();
    loop {
        tracer.visited = 0;
        if let Err(Untraceable) = T::deserialize(&mut tracer) {
            tracer.note("untraceable");
        }
        tracer.text.push('\n');
        // The next combination: the last variant that has another after it.
        tracer.choices.truncate(tracer.visited);
        while let Some((variant, count)) = tracer.choices.pop() {
            if variant + 1 < count {
                tracer.choices.push((variant + 1, count));
                break;
            }
        }
        if tracer.choices.is_empty() {
            return tracer.text;
        }
    }
}

/// A type rejects the invented values, or asks for none of a certain type.
#[derive(Debug, thiserror::Error)]
#[error("the layout cannot be determined")]
struct Untraceable;

impl serde::de::Error for Untraceable {
    fn custom<M: Display>(_: M) -> Self {
        Self
    }
}

#[derive(Default)]
struct Tracer {
    text: String,
    /// For each enumeration of a run, the variant and the number of variants.
    choices: Vec<(u32, u32)>,
    /// The number of enumerations of the run so far.
    visited: usize,
}

impl Tracer {
    fn note(&mut self, what: impl Display) {
        // Writing to a string cannot fail.
        let _ = write!(self.text, "{what} ");
    }

    fn choose(&mut self, count: u32) -> u32 {
        if self.visited == self.choices.len() {
            self.choices.push((0, count));
        }
        self.visited += 1;
        self.choices[self.visited - 1].0
    }
}

macro_rules! invented {
    ($($method:ident: $visit:ident($value:expr),)+) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Untraceable> {
            self.note(stringify!($visit));
            visitor.$visit($value)
        }
    )+};
}

impl<'de> Deserializer<'de> for &mut Tracer {
    type Error = Untraceable;

    invented! {
        deserialize_bool: visit_bool(true),
        deserialize_i8: visit_i8(1),
        deserialize_i16: visit_i16(1),
        deserialize_i32: visit_i32(1),
        deserialize_i64: visit_i64(1),
        deserialize_i128: visit_i128(1),
        deserialize_u8: visit_u8(1),
        // The result of a fetch accepts this one.
        deserialize_u16: visit_u16(200),
        deserialize_u32: visit_u32(1),
        deserialize_u64: visit_u64(1),
        deserialize_u128: visit_u128(1),
        deserialize_f32: visit_f32(1.0),
        deserialize_f64: visit_f64(1.0),
        deserialize_char: visit_char('a'),
        deserialize_str: visit_str("0"),
        deserialize_string: visit_str("0"),
        deserialize_bytes: visit_bytes(&[]),
        deserialize_byte_buf: visit_bytes(&[]),
    }

    fn is_human_readable(&self) -> bool {
        false
    }

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Untraceable> {
        Err(Untraceable)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Untraceable> {
        Err(Untraceable)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Untraceable> {
        Err(Untraceable)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Untraceable> {
        self.note("option");
        visitor.visit_some(self)
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Untraceable> {
        self.note("unit");
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Untraceable> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Untraceable> {
        self.note(name);
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Untraceable> {
        self.note("list");
        visitor.visit_seq(Elements { of: self, left: 1 })
    }

    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Untraceable> {
        self.note(format_args!("tuple {length}"));
        visitor.visit_seq(Elements {
            of: self,
            left: length,
        })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Untraceable> {
        self.note(name);
        self.deserialize_tuple(length, visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Untraceable> {
        self.note("map");
        visitor.visit_map(Elements { of: self, left: 1 })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Untraceable> {
        self.note(format_args!("{name} {fields:?}"));
        visitor.visit_seq(Elements {
            of: self,
            left: fields.len(),
        })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Untraceable> {
        let count = u32::try_from(variants.len()).map_err(Untraceable::custom)?;
        let variant = self.choose(count);
        self.note(format_args!("{name} {variants:?} {variant}"));
        visitor.visit_enum(Variant { of: self, variant })
    }
}

struct Elements<'a> {
    of: &'a mut Tracer,
    left: usize,
}

impl<'de> SeqAccess<'de> for Elements<'_> {
    type Error = Untraceable;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Untraceable> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(&mut *self.of).map(Some)
    }
}

impl<'de> MapAccess<'de> for Elements<'_> {
    type Error = Untraceable;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Untraceable> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, Untraceable> {
        seed.deserialize(&mut *self.of)
    }
}

struct Variant<'a> {
    of: &'a mut Tracer,
    variant: u32,
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = Untraceable;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), Untraceable> {
        let number: U32Deserializer<Untraceable> = self.variant.into_deserializer();
        Ok((seed.deserialize(number)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Untraceable;

    fn unit_variant(self) -> Result<(), Untraceable> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(
        self,
        seed: T,
    ) -> Result<T::Value, Untraceable> {
        seed.deserialize(self.of)
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, Untraceable> {
        self.of.deserialize_tuple(length, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Untraceable> {
        self.of.deserialize_struct("variant", fields, visitor)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::tables::ALL;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the layout matters")]
    enum Shape<N> {
        Empty,
        One(N),
        Two(bool, Option<String>),
        Named { size: u64 },
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the layout matters")]
    struct Record<N> {
        first: Shape<N>,
        second: Vec<Shape<u16>>,
    }

    #[test]
    fn every_combination_of_variants_is_in_the_layout() {
        let layout = layout_of::<Record<u32>>();
        assert_eq!(layout.lines().count(), 16);
        assert!(!layout.contains("untraceable"), "{layout}");
        assert_ne!(layout, layout_of::<Record<u64>>());
        assert_eq!(layout, layout_of::<Record<u32>>());
    }

    #[test]
    fn the_layout_of_every_record_is_known() {
        for table in ALL {
            let layout = (table.layout)();
            assert!(!layout.contains("untraceable"), "{}: {layout}", table.name);
            let is_record = table.value.starts_with("record");
            assert_eq!(layout.is_empty(), !is_record, "{}", table.name);
        }
    }
}
