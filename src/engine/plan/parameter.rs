//! A parameter of plans, independent of its type: name, help, range, default, the methods that take
//! it, and how it merges with stored parameters.

use std::fmt;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

use super::{Crawls, Duplicates, Goal, Method, Pages, Scope};
use crate::engine::error::{Family, PlanError};
use crate::engine::policy::{Limit, List};
use schemars::JsonSchema;
use seedbank_algorithms::cores::{Density, Growth, Hits, Pick};
use seedbank_algorithms::cover::global::ValueBy;
use seedbank_algorithms::cover::{self, Covered, Revisit, Share, Value, Weights, limits};
use seedbank_algorithms::slack::Slack;
use seedbank_formats::display::parse_count;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use serde::{Deserialize, Serialize};

/// A parameter of plans, with options of type `O`.
///
/// ```
/// use seedbank::engine::PlanOptions;
/// use seedbank::engine::plan::Parameter;
///
/// let hops = Parameter::named("hops").unwrap();
/// let mut options = PlanOptions::default();
/// hops.read(&mut options, "3")?;
/// assert_eq!(options.hops, Some(3));
/// # Ok::<(), String>(())
/// ```
#[non_exhaustive]
pub struct Parameter<O: 'static> {
    /// The name in plan files. With `--` before it, the name of the flag.
    pub name: String,
    /// What the parameter does, without a full stop. Names of other parameters are in backticks.
    pub help: String,
    /// The placeholder for the value in help texts: `N`.
    pub value_name: &'static str,
    /// How the value is written.
    pub kind: ValueKind,
    /// The words that the parameter can be set to; empty if it takes other values.
    pub words: Vec<NamedValue>,
    /// The range of the value, in words; `None` if all values of the type are valid.
    pub expected: Option<String>,
    /// The default, in words; `None` if there is none.
    pub default: Option<String>,
    /// The section of a command's help that describes it.
    pub section: Section,
    /// The methods that take it.
    pub taken_by: TakenBy,
    /// Whether it determines the values of pages.
    pub values_pages: bool,
    pub(super) slot: Box<dyn Slot<O>>,
}

/// The section of a command's help that describes a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Section {
    /// Parameters of any method.
    Plan,
    /// Parameters of the method cores.
    Cores,
    /// Parameters of cover methods.
    Cover,
    /// Parameters of cover methods over the whole web.
    Web,
    /// Policies.
    Policies,
}

/// The methods that take a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TakenBy {
    /// All methods.
    Any,
    /// The method cores.
    Cores,
    /// All cover methods.
    Cover,
    /// Cover methods over the whole web.
    Web,
}

impl TakenBy {
    /// Returns the family of these methods; `None` for all methods.
    #[must_use]
    pub const fn family(self) -> Option<Family> {
        match self {
            Self::Any => None,
            Self::Cores => Some(Family::Cores),
            Self::Cover | Self::Web => Some(Family::Cover),
        }
    }
}

impl<O: 'static> Parameter<O> {
    /// Erases the type of a parameter.
    pub(super) fn new<T: ParameterType>(
        section: Section,
        taken_by: TakenBy,
        field: &str,
        doc: &str,
        access: Access<O, T>,
        details: Declaration<O, T>,
    ) -> Self {
        Self {
            name: field.replace('_', "-"),
            help: doc.trim().trim_end_matches('.').to_owned(),
            value_name: details.value_name,
            kind: T::KIND,
            words: T::words(),
            expected: details.expected.clone(),
            default: details.default.clone(),
            section,
            taken_by,
            values_pages: details.values_pages,
            slot: details.slot(access),
        }
    }

    /// Parses a value and sets the parameter. For a list, only the name is set;
    /// [`PlanOptions::read_lists`](super::PlanOptions::read_lists) reads the list.
    ///
    /// # Errors
    ///
    /// The expected values, if the text is not one of them or out of range.
    pub fn read(&self, options: &mut O, text: &str) -> Result<(), String> {
        self.slot.read(options, text)
    }

    /// Sets a parameter of kind [`List`](ValueKind::List). Does nothing for other kinds.
    pub fn set_list(&self, options: &mut O, list: List) {
        self.slot.set_list(options, list);
    }

    /// Whether the parameter is set.
    #[must_use]
    pub fn is_given(&self, options: &O) -> bool {
        self.slot.is_given(options)
    }

    /// Whether the parameter has the same value in both options, or is set in neither.
    #[must_use]
    pub fn is_equal(&self, one: &O, other: &O) -> bool {
        self.slot.is_equal(one, other)
    }

    /// Fails if the value is out of range.
    pub(super) fn check(&'static self, options: &O) -> Result<(), PlanError> {
        self.slot
            .check(options)
            .map_err(|found| PlanError::OutOfRange {
                parameter: &self.name,
                expected: self.expected.clone().unwrap_or_default(),
                found,
            })
    }
}

impl<O: 'static> fmt::Debug for Parameter<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parameter").field(&self.name).finish()
    }
}

// Types of parameters, and how their values are written.

/// How a parameter's value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ValueKind {
    /// A number without a sign, or a word.
    Text,
    /// A number that may be negative.
    Signed,
    /// `true` or `false`; a flag without a value means `true`.
    Switch,
    /// The path of a file with a [`List`].
    List,
}

/// One of the words to which a parameter can be set.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct NamedValue {
    /// The word.
    #[serde(rename = "const")]
    pub name: String,
    /// What it means.
    #[serde(rename = "description")]
    pub help: String,
}

/// A type of parameters.
pub(super) trait ParameterType: Clone + Serialize + Send + Sync + 'static {
    const KIND: ValueKind = ValueKind::Text;

    /// What comes before and after the range in a description of the expected numbers; `None` for other
    /// types.
    const NUMBER: Option<[&'static str; 2]> = None;

    /// Parses a value as in flags.
    fn read(text: &str) -> Result<Self, String>;

    /// Returns all values, if they are words.
    fn words() -> Vec<NamedValue> {
        Vec::new()
    }

    /// Whether the value removes what a plan stored.
    fn removes_stored(&self) -> bool {
        false
    }

    fn from_list(_: List) -> Option<Self> {
        None
    }

    fn list_mut(&mut self) -> Option<&mut List> {
        None
    }
}

/// Formats a value as in flags.
pub(super) fn to_text(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        // Percentages are floats in JSON: 100.0.
        Ok(value) => value.to_string().trim_end_matches(".0").to_owned(),
        Err(_) => String::new(),
    }
}

/// Parses a type whose values are words.
fn read_word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let word: StrDeserializer<'_, ValueError> = text.into_deserializer();
    T::deserialize(word).map_err(|e| e.to_string())
}

/// Returns the words of a type with their doc comments, taken from its JSON Schema.
fn words_of<T: JsonSchema>() -> Vec<NamedValue> {
    let schema = schemars::schema_for!(T).to_value();
    let variants = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    let variants = variants.and_then(serde_json::Value::as_array);
    let words = variants.into_iter().flatten().filter_map(|variant| {
        let word = NamedValue::deserialize(variant).ok()?;
        let lines: Vec<&str> = word.help.trim_end_matches('.').lines().collect();
        let help = lines.join(" ");
        Some(NamedValue { help, ..word })
    });
    words.collect()
}

macro_rules! words {
    ($($type:ty),+) => {$(
        impl ParameterType for $type {
            fn read(text: &str) -> Result<Self, String> {
                read_word(text)
            }
            fn words() -> Vec<NamedValue> {
                words_of::<Self>()
            }
        }
    )+};
}

words!(
    Goal, Hits, Growth, Pick, Pages, Scope, Share, Covered, ValueBy, Duplicates
);

impl ParameterType for Method {
    fn read(text: &str) -> Result<Self, String> {
        read_word(text)
    }

    // The schema names the cover methods as a type of their own.
    fn words() -> Vec<NamedValue> {
        [words_of::<Self>(), words_of::<cover::Method>()].concat()
    }
}

macro_rules! whole_numbers {
    ($($type:ty),+) => {$(
        impl ParameterType for $type {
            const NUMBER: Option<[&'static str; 2]> = Some(["a whole number", ""]);
            fn read(text: &str) -> Result<Self, String> {
                let number = parse_count(text).and_then(|number| Self::try_from(number).ok());
                number.ok_or_else(|| format!("expected a whole number from 0 to {}", Self::MAX))
            }
        }
    )+};
}

whole_numbers!(u32, u64);

/// Parses a value. The error leaves out the text, which whoever passes it knows.
fn read_text<T: FromStr<Err: fmt::Display>>(text: &str) -> Result<T, String> {
    text.parse().map_err(|e: T::Err| {
        let problem = e.to_string();
        let found = format!(", found {text:?}");
        problem.strip_suffix(&found).unwrap_or(&problem).to_owned()
    })
}

macro_rules! parsed {
    ($($type:ty, $kind:ident, $number:expr);+) => {$(
        impl ParameterType for $type {
            const KIND: ValueKind = ValueKind::$kind;
            const NUMBER: Option<[&'static str; 2]> = $number;
            fn read(text: &str) -> Result<Self, String> {
                read_text(text)
            }
        }
    )+};
}

parsed!(
    bool, Switch, None;
    Density, Text, None;
    Slack, Text, None;
    Value, Signed, Some(["a number", " with at most six decimals"])
);

impl ParameterType for Limit {
    fn read(text: &str) -> Result<Self, String> {
        text.parse().map_err(str::to_owned)
    }

    fn removes_stored(&self) -> bool {
        *self == Self::None
    }
}

impl ParameterType for Revisit {
    fn read(text: &str) -> Result<Self, String> {
        read_text(text)
    }
}

impl ParameterType for Crawls {
    fn read(text: &str) -> Result<Self, String> {
        read_text(text)
    }
}

impl ParameterType for List {
    const KIND: ValueKind = ValueKind::List;

    fn read(text: &str) -> Result<Self, String> {
        read_word(text)
    }

    fn removes_stored(&self) -> bool {
        self.is_off()
    }

    fn from_list(list: List) -> Option<Self> {
        Some(list)
    }

    fn list_mut(&mut self) -> Option<&mut List> {
        Some(self)
    }
}

// The declaration of a parameter, and the access to its field that follows from it.
//
// The type `O` of the options that contain the field is generic, so that this module does not
// depend on their declaration.

/// What is declared of a parameter besides its name, its type and its help.
pub(super) struct Declaration<O, T> {
    pub(super) value_name: &'static str,
    pub(super) expected: Option<String>,
    contains: Option<Predicate<T>>,
    pub(super) default: Option<String>,
    pub(super) values_pages: bool,
    weight_field: Option<fn(&mut Weights) -> &mut T>,
    clears: Option<fn(&T, &mut O)>,
}

type Predicate<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// Declares a parameter. Help texts show `value_name` for its value.
pub(super) fn value<O, T>(value_name: &'static str) -> Declaration<O, T> {
    Declaration {
        value_name,
        expected: None,
        contains: None,
        default: None,
        values_pages: false,
        weight_field: None,
        clears: None,
    }
}

/// Declares a parameter that is on or off.
pub(super) fn switch<O: 'static>(default: bool) -> Declaration<O, bool> {
    value("true|false").default(default)
}

/// Declares one of the [`Weights`], with the default of [`Weights`].
pub(super) fn weight<O: 'static>(
    weight_field: fn(&mut Weights) -> &mut Value,
) -> Declaration<O, Value> {
    let details = value("VALUE")
        .range(limits::WEIGHTS)
        .default(*weight_field(&mut Weights::default()))
        .values_pages();
    Declaration {
        weight_field: Some(weight_field),
        ..details
    }
}

impl<O: 'static, T: ParameterType> Declaration<O, T> {
    /// Rejects values outside a range.
    pub(super) fn range(self, range: impl RangeBounds<T> + Send + Sync + 'static) -> Self
    where
        T: PartialOrd,
    {
        let expected = match (range.start_bound(), range.end_bound()) {
            (Bound::Included(least), Bound::Included(most)) => {
                format!("{} to {}", to_text(least), to_text(most))
            }
            (Bound::Included(least), _) => format!("at least {}", to_text(least)),
            (_, Bound::Included(most)) => format!("at most {}", to_text(most)),
            _ => "another value".to_owned(),
        };
        Self {
            expected: Some(expected),
            contains: Some(Box::new(move |value| range.contains(value))),
            ..self
        }
    }

    /// Sets the default value.
    #[expect(clippy::needless_pass_by_value, reason = "declarations read better")]
    pub(super) fn default(self, default: T) -> Self {
        let default = to_text(&default);
        self.default_is(&default)
    }

    /// Describes the default if it is not a single value.
    pub(super) fn default_is(self, default: &str) -> Self {
        Self {
            default: Some(default.to_owned()),
            ..self
        }
    }

    /// Marks a parameter that determines the values of pages.
    pub(super) fn values_pages(self) -> Self {
        Self {
            values_pages: true,
            ..self
        }
    }

    /// Returns the access to the field, with its type erased.
    pub(super) fn slot(self, access: Access<O, T>) -> Box<dyn Slot<O>> {
        Box::new(Typed {
            access,
            declaration: self,
        })
    }

    /// Describes the expected numbers; `None` for other types, and without a range.
    fn expected_number(&self) -> Option<String> {
        let ([before, after], range) = (T::NUMBER?, self.expected.as_ref()?);
        let word = if range.starts_with("at ") {
            "of"
        } else {
            "from"
        };
        Some(format!("expected {before} {word} {range}{after}"))
    }

    /// Clears stored parameters that conflict with the given value of this one.
    pub(super) fn clears(self, clears: fn(&T, &mut O)) -> Self {
        Self {
            clears: Some(clears),
            ..self
        }
    }
}

/// The field that contains a parameter.
pub(super) struct Access<O, T> {
    pub(super) get: fn(&O) -> &Option<T>,
    pub(super) get_mut: fn(&mut O) -> &mut Option<T>,
}

/// The field of a parameter, with the declared properties of its value.
struct Typed<O, T> {
    access: Access<O, T>,
    declaration: Declaration<O, T>,
}

/// A parameter's field, of any type.
pub(super) trait Slot<O>: Send + Sync {
    fn read(&self, options: &mut O, text: &str) -> Result<(), String>;
    fn set_list(&self, options: &mut O, list: List);
    fn is_given(&self, options: &O) -> bool;
    fn is_equal(&self, one: &O, other: &O) -> bool;
    fn clear(&self, options: &mut O);
    fn fill(&self, options: &mut O, stored: &O);
    fn clear_conflicts(&self, given: &O, stored: &mut O);
    fn removes_stored(&self, options: &O) -> bool;
    fn list_mut<'a>(&self, options: &'a mut O) -> Option<&'a mut List>;
    fn set_weight(&self, options: &O, weights: &mut Weights);
    /// Returns the value as text if it is out of range.
    fn check(&self, options: &O) -> Result<(), String>;
}

impl<O: 'static, T: ParameterType> Slot<O> for Typed<O, T> {
    fn read(&self, options: &mut O, text: &str) -> Result<(), String> {
        let expected = || self.declaration.expected_number();
        let value = T::read(text).map_err(|problem| expected().unwrap_or(problem))?;
        if let (Some(contains), Some(expected)) = (&self.declaration.contains, expected())
            && !contains(&value)
        {
            return Err(expected);
        }
        *(self.access.get_mut)(options) = Some(value);
        Ok(())
    }

    fn set_list(&self, options: &mut O, list: List) {
        if let Some(value) = T::from_list(list) {
            *(self.access.get_mut)(options) = Some(value);
        }
    }

    fn is_given(&self, options: &O) -> bool {
        (self.access.get)(options).is_some()
    }

    fn is_equal(&self, one: &O, other: &O) -> bool {
        // Equal values are written alike; not all of these types are comparable.
        let written = |options| (self.access.get)(options).as_ref().map(to_text);
        written(one) == written(other)
    }

    fn clear(&self, options: &mut O) {
        *(self.access.get_mut)(options) = None;
    }

    fn fill(&self, options: &mut O, stored: &O) {
        let value = (self.access.get_mut)(options);
        if value.is_none() {
            value.clone_from((self.access.get)(stored));
        }
    }

    fn clear_conflicts(&self, given: &O, stored: &mut O) {
        if let (Some(clears), Some(value)) = (self.declaration.clears, (self.access.get)(given)) {
            clears(value, stored);
        }
    }

    fn removes_stored(&self, options: &O) -> bool {
        let value = (self.access.get)(options);
        value.as_ref().is_some_and(T::removes_stored)
    }

    fn list_mut<'a>(&self, options: &'a mut O) -> Option<&'a mut List> {
        (self.access.get_mut)(options).as_mut()?.list_mut()
    }

    fn set_weight(&self, options: &O, weights: &mut Weights) {
        // Only weights have the type `Value` and a `weight_field`, so the type decides where the
        // value goes.
        if let (Some(weight_field), Some(value)) =
            (self.declaration.weight_field, (self.access.get)(options))
        {
            weight_field(weights).clone_from(value);
        }
    }

    fn check(&self, options: &O) -> Result<(), String> {
        match (&self.declaration.contains, (self.access.get)(options)) {
            (Some(contains), Some(value)) if !contains(value) => Err(to_text(value)),
            _ => Ok(()),
        }
    }
}
