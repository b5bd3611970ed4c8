//! Reads the values of Arrow columns as those of records.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type,
    Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, GenericListArray, GenericListViewArray, OffsetSizeTrait, StructArray};
use arrow_schema::{DataType, TimeUnit};

use super::row::{Link, Value};
use super::time_format::{format_date, format_timestamp};
use crate::ingest::blocks::MAX_LINE;
use crate::ingest::reject::{Fault, RejectReason};

/// Returns the value of a column in a row.
pub(super) type Cell<'a> = Box<dyn Fn(usize) -> Result<Option<Value<'a>>, Fault> + 'a>;

/// Returns the bytes of a string or binary column in a row.
type Texts<'a> = Box<dyn Fn(usize) -> Option<&'a [u8]> + 'a>;

/// Describes the types that fit a field, for an error.
pub(super) fn expected_type(field: &str) -> &'static str {
    match field {
        "outlinks" => "a list of strings, or of structs with a string url or href",
        "spam" | "gone" => "boolean",
        "clicks" | "uncrawled_outlinks" | "quality" | "failures" | "observed_days"
        | "new_links" | "depth" => "a number",
        "seed" => "a string, or boolean",
        "fetch_status" | "status" => "a number or a string",
        "fetched" | "fetch_time" | "failing_since" | "failed" => {
            "a timestamp, a date, a string or a number"
        }
        "digest" | "content_digest" => "a string, or binary",
        _ => "a string, or binary that is UTF-8",
    }
}

/// Returns the reader of a field's column; `None` if its type does not fit the field.
pub(super) fn cell<'a>(field: &'static str, array: &'a dyn Array) -> Option<Cell<'a>> {
    // A column url of nulls is refused: it would yield any number of empty rows.
    if *array.data_type() == DataType::Null && field != "url" {
        return Some(Box::new(|_| Ok(None)));
    }
    match field {
        "outlinks" => links(array),
        "spam" | "gone" => truth(array),
        "seed" => truth(array).or_else(|| text(field, array)),
        "clicks" | "uncrawled_outlinks" | "quality" | "failures" | "observed_days"
        | "new_links" | "depth" => number(array),
        "fetch_status" | "status" => number(array).or_else(|| text(field, array)),
        "fetched" | "fetch_time" | "failing_since" | "failed" => time(array)
            .or_else(|| number(array))
            .or_else(|| text(field, array)),
        "digest" | "content_digest" if is_binary(array.data_type()) => {
            let texts = texts(array)?;
            Some(Box::new(move |row| {
                Ok(texts(row).map(|bytes| Value::Text(hexadecimal(bytes).into())))
            }))
        }
        _ => text(field, array),
    }
}

fn truth(array: &dyn Array) -> Option<Cell<'_>> {
    let array = array.as_boolean_opt()?;
    Some(Box::new(move |row| {
        Ok((!array.is_null(row)).then(|| Value::Truth(array.value(row))))
    }))
}

fn is_binary(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => is_binary(values),
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => true,
        _ => false,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Reads strings and binaries, with or without a dictionary.
fn texts(array: &dyn Array) -> Option<Texts<'_>> {
    macro_rules! of {
        ($array:expr) => {{
            let array = $array;
            Some(Box::new(move |row| {
                (!array.is_null(row)).then(|| array.value(row).as_ref())
            }))
        }};
    }
    match array.data_type() {
        DataType::Utf8 => of!(array.as_string::<i32>()),
        DataType::LargeUtf8 => of!(array.as_string::<i64>()),
        DataType::Utf8View => of!(array.as_string_view()),
        DataType::Binary => of!(array.as_binary::<i32>()),
        DataType::LargeBinary => of!(array.as_binary::<i64>()),
        DataType::BinaryView => of!(array.as_binary_view()),
        DataType::FixedSizeBinary(1..) => of!(array.as_fixed_size_binary()),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let values = texts(dictionary.values().as_ref())?;
            let key = keys(dictionary.keys())?;
            Some(Box::new(move |row| values(key(row)?)))
        }
        _ => None,
    }
}

/// Returns the dictionary index of a row; `None` if it is null.
type Keys<'a> = Box<dyn Fn(usize) -> Option<usize> + 'a>;

fn keys(array: &dyn Array) -> Option<Keys<'_>> {
    fn typed<T>(array: &dyn Array) -> Option<Keys<'_>>
    where
        T: ArrowDictionaryKeyType,
        T::Native: TryInto<usize>,
    {
        let array = array.as_primitive_opt::<T>()?;
        Some(Box::new(move |row| {
            let key = (!array.is_null(row)).then(|| array.value(row))?;
            key.try_into().ok()
        }))
    }
    match array.data_type() {
        DataType::Int8 => typed::<Int8Type>(array),
        DataType::Int16 => typed::<Int16Type>(array),
        DataType::Int32 => typed::<Int32Type>(array),
        DataType::Int64 => typed::<Int64Type>(array),
        DataType::UInt8 => typed::<UInt8Type>(array),
        DataType::UInt16 => typed::<UInt16Type>(array),
        DataType::UInt32 => typed::<UInt32Type>(array),
        DataType::UInt64 => typed::<UInt64Type>(array),
        _ => None,
    }
}

fn text<'a>(field: &'static str, array: &'a dyn Array) -> Option<Cell<'a>> {
    let texts = texts(array)?;
    Some(Box::new(move |row| {
        let text = texts(row).map(std::str::from_utf8).transpose();
        let text = text
            .map_err(|error| Fault::new(RejectReason::InvalidUtf8, format!("{field}: {error}")))?;
        Ok(text.map(|text| Value::Text(text.into())))
    }))
}

fn number(array: &dyn Array) -> Option<Cell<'_>> {
    match array.data_type() {
        DataType::Int8 => primitive::<Int8Type>(array, integer),
        DataType::Int16 => primitive::<Int16Type>(array, integer),
        DataType::Int32 => primitive::<Int32Type>(array, integer),
        DataType::Int64 => primitive::<Int64Type>(array, integer),
        DataType::UInt8 => primitive::<UInt8Type>(array, integer),
        DataType::UInt16 => primitive::<UInt16Type>(array, integer),
        DataType::UInt32 => primitive::<UInt32Type>(array, integer),
        DataType::UInt64 => primitive::<UInt64Type>(array, integer),
        DataType::Float16 => primitive::<Float16Type>(array, |value| float(value.to_f32())),
        DataType::Float32 => primitive::<Float32Type>(array, float),
        DataType::Float64 => primitive::<Float64Type>(array, float),
        DataType::Decimal32(..) => decimal::<Decimal32Type>(array),
        DataType::Decimal64(..) => decimal::<Decimal64Type>(array),
        DataType::Decimal128(..) => decimal::<Decimal128Type>(array),
        DataType::Decimal256(..) => decimal::<Decimal256Type>(array),
        _ => None,
    }
}

fn integer<'a, N: Copy + ToString>(value: N) -> Value<'a> {
    Value::Number(value.to_string().into())
}

/// Converts a float. JSON has no number that is not finite; as a text it is rejected.
fn float<'a, N: Copy + Into<f64> + ToString>(value: N) -> Value<'a> {
    let text = value.to_string().into();
    if value.into().is_finite() {
        Value::Number(text)
    } else {
        Value::Text(text)
    }
}

fn primitive<'a, T: ArrowPrimitiveType>(
    array: &'a dyn Array,
    value: impl Fn(T::Native) -> Value<'a> + 'a,
) -> Option<Cell<'a>> {
    let array = array.as_primitive_opt::<T>()?;
    Some(Box::new(move |row| {
        Ok((!array.is_null(row)).then(|| value(array.value(row))))
    }))
}

fn decimal<T: DecimalType + ArrowPrimitiveType>(array: &dyn Array) -> Option<Cell<'_>> {
    let array = array.as_primitive_opt::<T>()?;
    Some(Box::new(move |row| {
        Ok((!array.is_null(row)).then(|| Value::Number(array.value_as_string(row).into())))
    }))
}

/// Reads timestamps and dates.
fn time(array: &dyn Array) -> Option<Cell<'_>> {
    let day_of = |number: i64| {
        let text = format_date(number).unwrap_or_else(|| format!("{number} days since 1970"));
        Value::Text(text.into())
    };
    match array.data_type() {
        DataType::Date32 => primitive::<Date32Type>(array, move |days| day_of(days.into())),
        DataType::Date64 => {
            primitive::<Date64Type>(array, move |millis| day_of(millis.div_euclid(86_400_000)))
        }
        DataType::Timestamp(unit, zone) => {
            let has_zone = zone.is_some();
            let at = move |micros: i64| Value::Text(Cow::Owned(format_timestamp(micros, has_zone)));
            let times = move |number: i64, factor| at(number.saturating_mul(factor));
            match unit {
                TimeUnit::Second => {
                    primitive::<TimestampSecondType>(array, move |n| times(n, 1_000_000))
                }
                TimeUnit::Millisecond => {
                    primitive::<TimestampMillisecondType>(array, move |n| times(n, 1_000))
                }
                TimeUnit::Microsecond => primitive::<TimestampMicrosecondType>(array, at),
                TimeUnit::Nanosecond => {
                    primitive::<TimestampNanosecondType>(array, move |n| at(n.div_euclid(1_000)))
                }
            }
        }
        _ => None,
    }
}

/// Returns the range of a row's list among the elements of all lists.
type Ranges<'a> = Box<dyn Fn(usize) -> Option<Range<usize>> + 'a>;

/// Returns the elements of all lists and the range of each list; `None` if the column has no lists.
pub(super) fn lists(array: &dyn Array) -> Option<(Ranges<'_>, &dyn Array)> {
    fn list<O: OffsetSizeTrait>(array: &GenericListArray<O>) -> (Ranges<'_>, &dyn Array) {
        let ranges = move |row: usize| {
            let offsets: &[O] = array.value_offsets();
            let from = offsets.get(row)?.as_usize();
            let to = offsets.get(row + 1)?.as_usize();
            (!array.is_null(row)).then_some(from..to)
        };
        (Box::new(ranges), array.values())
    }
    fn view<O: OffsetSizeTrait>(array: &GenericListViewArray<O>) -> (Ranges<'_>, &dyn Array) {
        let ranges = move |row: usize| {
            let (offsets, sizes): (&[O], &[O]) = (array.value_offsets(), array.value_sizes());
            let from = offsets.get(row)?.as_usize();
            let length = sizes.get(row)?.as_usize();
            (!array.is_null(row)).then_some(from..from.saturating_add(length))
        };
        (Box::new(ranges), array.values())
    }
    Some(match array.data_type() {
        DataType::List(_) => list(array.as_list::<i32>()),
        DataType::LargeList(_) => list(array.as_list::<i64>()),
        DataType::ListView(_) => view(array.as_list_view::<i32>()),
        DataType::LargeListView(_) => view(array.as_list_view::<i64>()),
        DataType::FixedSizeList(_, length) => {
            let length = usize::try_from(*length).ok()?;
            let array = array.as_fixed_size_list();
            let ranges =
                move |row: usize| (!array.is_null(row)).then_some(row * length..(row + 1) * length);
            (Box::new(ranges), array.values())
        }
        _ => return None,
    })
}

/// Returns a link by its index among the elements of all lists.
type Links<'a> = Rc<dyn Fn(usize) -> Link<'a> + 'a>;

fn links(array: &dyn Array) -> Option<Cell<'_>> {
    let (ranges, elements) = lists(array)?;
    let link = link(elements)?;
    Some(Box::new(move |row| {
        let link = Rc::clone(&link);
        let links = ranges(row).map(move |range| range.map(move |at| link(at)));
        Ok(links.map(|links| Value::Links(Box::new(links))))
    }))
}

fn link(elements: &dyn Array) -> Option<Links<'_>> {
    if *elements.data_type() == DataType::Null {
        return Some(Rc::new(|_| Link::Null));
    }
    if let Some(elements) = elements.as_struct_opt() {
        return objects(elements);
    }
    let texts = texts(elements)?;
    Some(Rc::new(move |at| {
        match texts(at).map(std::str::from_utf8) {
            None => Link::Null,
            Some(Ok(url)) => Link::Url(url),
            Some(Err(_)) => Link::NoText,
        }
    }))
}

/// Reads links that are objects with their URL as `url` or else `href`.
fn objects(elements: &StructArray) -> Option<Links<'_>> {
    let field = |name| {
        let column = elements.column_by_name(name);
        let column = column.filter(|column| *column.data_type() != DataType::Null);
        column
            .map(|column| texts(column.as_ref()).ok_or(()))
            .transpose()
    };
    let (url, href) = (field("url").ok()?, field("href").ok()?);
    if url.is_none() && href.is_none() {
        return None;
    }
    Some(Rc::new(move |at| {
        if elements.is_null(at) {
            return Link::Null;
        }
        let text = |bytes: Option<_>| bytes.map(std::str::from_utf8).transpose();
        let fields = [&url, &href].map(|texts| texts.as_ref().and_then(|texts| texts(at)));
        match fields.map(text) {
            [Ok(url), Ok(href)] => Link::Object(url, href),
            _ => Link::NoText,
        }
    }))
}

/// Returns the approximate size of a column in a row, in bytes.
pub(super) type Size<'a> = Box<dyn Fn(usize) -> usize + 'a>;

/// Bytes for each value besides its text.
const VALUE_OVERHEAD: usize = 16;

/// Returns the sizes of a column's rows. Those of lists are added up to the limit of a record.
pub(super) fn size(array: &dyn Array) -> Size<'_> {
    if let Some((ranges, elements)) = lists(array) {
        let size = size(elements);
        return Box::new(move |row| {
            let mut bytes = VALUE_OVERHEAD;
            for at in ranges(row).into_iter().flatten() {
                bytes += size(at);
                if bytes > MAX_LINE {
                    break;
                }
            }
            bytes
        });
    }
    if let Some(array) = array.as_struct_opt() {
        let columns: Vec<_> = array
            .columns()
            .iter()
            .map(|all| size(all.as_ref()))
            .collect();
        return Box::new(move |row| {
            VALUE_OVERHEAD + columns.iter().map(|size| size(row)).sum::<usize>()
        });
    }
    match texts(array) {
        Some(texts) => Box::new(move |row| VALUE_OVERHEAD + texts(row).map_or(0, <[u8]>::len)),
        None => Box::new(|_| VALUE_OVERHEAD),
    }
}
