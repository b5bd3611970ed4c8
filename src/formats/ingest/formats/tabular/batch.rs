//! Cuts a batch of Arrow into pieces of rows.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::ingest::formats::json_lines::wrong_type;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::source::{MAX_LINE, PIECE_RECORDS, PIECE_SIZE, Piece, Pieces, Stop};
use crate::ingest::summary::{Fault, Position, RejectReason};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowDictionaryKeyType, ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type,
    Decimal64Type, Decimal128Type, Decimal256Type, DecimalType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, GenericListArray, GenericListViewArray, OffsetSizeTrait, RecordBatch,
    StructArray, new_empty_array,
};
use arrow_schema::{DataType, Schema, TimeUnit};

use super::row::{ColumnMap, Link, Row, Rows, TableError, Value, split_links};
use crate::ingest::columns::ColumnNames;

/// Bytes of memory for each byte of values, including the URLs that are parsed from them.
const EXPANSION: usize = 2;

/// Maps the columns of a schema. Returns an error if the type of a column does not fit its field.
pub(super) fn map_columns(
    file: &str,
    schema: &Schema,
    given: &ColumnNames,
) -> Result<ColumnMap, TableError> {
    let names = schema.fields().iter().map(|field| field.name().clone());
    let is_list = |column: usize| {
        let found = schema.fields().get(column);
        found.is_some_and(|found| lists(&new_empty_array(found.data_type())).is_some())
    };
    let map = ColumnMap::new(file, &names.collect::<Vec<_>>(), given, &is_list)?;
    for (field, column) in &map.fields {
        let Some(found) = schema.fields().get(*column) else {
            continue;
        };
        // A reader of no values shows whether values of this type can be read.
        if cell(
            field,
            &new_empty_array(found.data_type()),
            map.split.as_deref(),
        )
        .is_none()
        {
            return Err(TableError::ColumnType {
                file: file.to_owned(),
                column: found.name().clone(),
                is: found.data_type().to_string(),
                wanted: expected_type(field),
            });
        }
    }
    Ok(map)
}

/// What a reader of batches did in one step.
pub(super) enum ReadStep<'a> {
    /// It cut a piece.
    Piece(Piece<'a>),
    /// It read something that has no piece yet.
    Continue,
    /// It reached the end.
    End,
}

/// Returns the pieces that steps cut, up to the end or the first error.
pub(super) fn pieces<'a>(
    mut step: impl FnMut() -> Result<ReadStep<'a>, Stop> + Send + 'a,
) -> Pieces<'a> {
    let mut is_ended = false;
    Box::new(std::iter::from_fn(move || {
        while !is_ended {
            match step() {
                Ok(ReadStep::Piece(piece)) => return Some(Ok(piece)),
                Ok(ReadStep::Continue) => {}
                Ok(ReadStep::End) => is_ended = true,
                Err(error) => {
                    is_ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }))
}

/// A batch that is cut into pieces, one after another: its values may be many times as large as the
/// batch itself, which is known only once the sizes of its rows are added up.
pub(super) struct Batch {
    /// The columns of the mapped fields, in their order.
    columns: Vec<Option<ArrayRef>>,
    map: Arc<ColumnMap>,
    rows: usize,
    /// The index of the next row, and the number of the first row.
    next: usize,
    first: u64,
    /// Shared with the pieces that are not yet read.
    lent: Arc<()>,
}

impl Batch {
    /// A batch whose first row has the number `first`. `lent` is shared with its pieces until they
    /// are read.
    pub(super) fn new(
        batch: &RecordBatch,
        map: &Arc<ColumnMap>,
        first: u64,
        lent: &Arc<()>,
    ) -> Self {
        let column = |(_, at): &(_, usize)| batch.columns().get(*at).cloned();
        Self {
            columns: map.fields.iter().map(column).collect(),
            map: Arc::clone(map),
            rows: batch.num_rows(),
            next: 0,
            first,
            lent: Arc::clone(lent),
        }
    }

    /// Returns the next rows, of about [`PIECE_SIZE`] bytes; `None` at the end. Panics if the batch
    /// is damaged.
    pub(super) fn next<'a>(&mut self) -> Option<Piece<'a>> {
        let columns = self.columns.iter().flatten();
        let sizes: Vec<Size<'_>> = columns.map(|column| size(column.as_ref())).collect();
        let from = self.next;
        let mut bytes = 0;
        while self.next < self.rows && bytes < PIECE_SIZE && self.next - from < PIECE_RECORDS {
            bytes += sizes.iter().map(|size| size(self.next)).sum::<usize>();
            self.next += 1;
        }
        let records = self.next - from;
        if records == 0 {
            return None;
        }
        let slice = |column: &Option<ArrayRef>| column.as_ref().map(|all| all.slice(from, records));
        let columns: Vec<Option<ArrayRef>> = self.columns.iter().map(slice).collect();
        let (map, lent) = (Arc::clone(&self.map), Arc::clone(&self.lent));
        let first = self.first + from as u64;
        Some(Piece {
            bytes: bytes as u64,
            records,
            memory: bytes.saturating_mul(EXPANSION),
            read: Box::new(move |parser| {
                read(&columns, records, &map, first, parser);
                drop((columns, lent));
            }),
        })
    }
}

/// The share of the memory limit that batches with unread rows may take, as a divisor.
const LENT_SHARE: u64 = 4;

/// The batches to which unread pieces may belong.
#[derive(Default)]
pub(super) struct LentBatches {
    /// Shared with the pieces that are not yet read.
    pub(super) token: Arc<()>,
    /// The size of the batches, in bytes.
    pub(super) bytes: u64,
}

impl LentBatches {
    /// Returns whether pieces must be read before the next batch; `max_held_bytes` is the memory limit.
    pub(super) fn must_wait(&mut self, max_held_bytes: u64) -> bool {
        if self.bytes <= max_held_bytes / LENT_SHARE {
            return false;
        }
        let has_unread = Arc::strong_count(&self.token) > 1;
        if !has_unread {
            self.bytes = 0;
        }
        has_unread
    }
}

/// A piece without rows that is never read together with others, so that all pieces before it are
/// read first.
pub(super) fn wait<'a>() -> Piece<'a> {
    Piece {
        bytes: 0,
        records: 0,
        memory: usize::MAX,
        read: Box::new(|_| {}),
    }
}

fn read(
    columns: &[Option<ArrayRef>],
    rows: usize,
    map: &ColumnMap,
    first: u64,
    parser: &mut PieceParser,
) {
    let columns = map.fields.iter().zip(columns);
    let columns = columns
        .map(|((field, _), column)| cell(field, column.as_ref()?.as_ref(), map.split.as_deref()));
    let cells: Vec<Option<Cell<'_>>> = columns.collect();
    let mut read = Rows::new(map);
    for (row, number) in (0..rows).zip(first..) {
        let arrays = Arrays {
            map,
            cells: &cells,
            row,
        };
        read.read(&arrays, Position::Record(number), None, parser);
    }
    read.finish(parser);
}

/// A row of a batch.
struct Arrays<'c, 'a> {
    map: &'c ColumnMap,
    /// The columns of the mapped fields, in their order.
    cells: &'c [Option<Cell<'a>>],
    row: usize,
}

impl<'a> Row<'a> for Arrays<'_, 'a> {
    fn value(&self, field: &'static str, column: usize) -> Result<Option<Value<'a>>, Fault> {
        let place = self.map.fields.iter().position(|(_, at)| *at == column);
        let cell = place.and_then(|place| self.cells.get(place));
        match cell {
            Some(Some(cell)) => cell(self.row),
            _ => Err(wrong_type(field, expected_type(field))),
        }
    }
}

// Reads the values of Arrow columns as those of records.

/// Returns the value of a column in a row.
pub(super) type Cell<'a> = Box<dyn Fn(usize) -> Result<Option<Value<'a>>, Fault> + 'a>;

/// Returns the bytes of a string or binary column in a row.
type Texts<'a> = Box<dyn Fn(usize) -> Option<&'a [u8]> + 'a>;

/// Describes the types that fit a field, for an error.
pub(super) fn expected_type(field: &str) -> &'static str {
    match field {
        "failed_before" => "a list of strings",
        "outlinks" => "a list of strings, or of structs with a string url or href",
        "spam" | "gone" => "boolean",
        "clicks" | "uncrawled_outlinks" | "quality" | "failures" | "observed_days"
        | "new_links" | "depth" => "a number",
        "seed" => "a string, or boolean",
        "fetch_status" | "status" => "a number or a string",
        "fetched" | "fetch_time" | "changed" | "failing_since" | "failed" => {
            "a timestamp, a date, a string or a number"
        }
        "digest" | "content_digest" => "a string, or binary",
        _ => "a string, or binary that is UTF-8",
    }
}

/// Returns the reader of a field's column; `None` if its type does not fit the field.
/// `split` separates the links in a text.
pub(super) fn cell<'a>(
    field: &'static str,
    array: &'a dyn Array,
    split: Option<&'a str>,
) -> Option<Cell<'a>> {
    // A column url of nulls is refused: it would yield any number of empty rows.
    if *array.data_type() == DataType::Null && field != "url" {
        return Some(Box::new(|_| Ok(None)));
    }
    match field {
        "failed_before" => links(array),
        "outlinks" => links(array).or_else(|| split_texts(array, split?)),
        "spam" | "gone" => truth(array),
        "seed" => truth(array).or_else(|| text(field, array)),
        "clicks" | "uncrawled_outlinks" | "quality" | "failures" | "observed_days"
        | "new_links" | "depth" => number(array),
        "fetch_status" | "status" => number(array).or_else(|| text(field, array)),
        "fetched" | "fetch_time" | "changed" | "failing_since" | "failed" => time(array)
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

/// Reads texts that are several links.
fn split_texts<'a>(array: &'a dyn Array, split: &'a str) -> Option<Cell<'a>> {
    let texts = texts(array)?;
    Some(Box::new(move |row| {
        let text = texts(row).map(std::str::from_utf8).transpose();
        let text = text
            .map_err(|error| Fault::new(RejectReason::InvalidUtf8, format!("outlinks: {error}")))?;
        Ok(text.map(|text| Value::Links(Box::new(split_links(text, split)))))
    }))
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

// Formats times of columns as records write them.

const DAY: i64 = 86_400_000_000;

/// Formats a timestamp, in microseconds since 1970, as RFC 3339; without a zone if the column has
/// none. A year of more than four digits yields a text that is not a time, and is rejected.
pub(super) fn format_timestamp(micros: i64, has_zone: bool) -> String {
    let Some(day) = format_date(micros.div_euclid(DAY)) else {
        return format!("{micros} microseconds since 1970");
    };
    let of_day = micros.rem_euclid(DAY);
    let (seconds, micros) = (of_day / 1_000_000, of_day % 1_000_000);
    let zone = if has_zone { "Z" } else { "" };
    format!(
        "{day}T{:02}:{:02}:{:02}.{micros:06}{zone}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// Formats a date, in days since 1970-01-01, of the proleptic Gregorian calendar; `None` if its year
/// does not have four digits.
///
/// Years are counted from March, in cycles of 400 (146,097 days), so that the leap day is the last
/// day of its year.
pub(super) fn format_date(number: i64) -> Option<String> {
    // 719,468 days lie between 0000-03-01 and 1970-01-01.
    let since_march = number.checked_add(719_468)?;
    let (cycle, day) = (
        since_march.div_euclid(146_097),
        since_march.rem_euclid(146_097),
    );
    let leap_days = day / 1_460 - day / 36_524 + day / 146_096;
    let year = (day - leap_days) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    // (153 m + 2) / 5 is the number of days in m months from March.
    let from_march = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 {
        from_march + 3
    } else {
        from_march - 9
    };
    let year = year + cycle * 400 + i64::from(month <= 2);
    (0..=9999)
        .contains(&year)
        .then(|| format!("{year:04}-{month:02}-{of_month:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::parse_timestamp;

    #[test]
    fn an_instant_is_read_back() {
        for micros in [
            0,
            -1,
            1_795_060_800_000_001,
            951_782_400_000_000,
            4_107_542_399_999_999,
            -62_167_219_200_000_000,
            253_402_300_799_999_999,
        ] {
            for has_zone in [true, false] {
                let read = parse_timestamp(&format_timestamp(micros, has_zone)).unwrap();
                assert_eq!((read.micros, read.zone_assumed), (micros, !has_zone));
            }
        }
        for beyond in [
            -62_167_219_200_000_001,
            253_402_300_800_000_000,
            i64::MIN,
            i64::MAX,
        ] {
            assert!(parse_timestamp(&format_timestamp(beyond, true)).is_err());
        }
    }

    #[test]
    fn every_day_of_two_cycles_is_its_own() {
        for number in -146_097..146_097 {
            let read = parse_timestamp(&format_date(number).unwrap()).unwrap();
            assert_eq!(read.micros, number * DAY);
        }
    }
}
