//! What is known of a parameter of plans, whatever its type: its name, its help, its range, its
//! default, the methods that take it, and how it merges with what the plan stored.

use std::fmt;

use serde::Deserialize;

use super::PlanOptions;
use super::details::{Access, Details, Slot};
use super::types::ParameterType;
use crate::engine::policy::List;
use crate::engine::{Family, PlanError};

/// A parameter of plans.
///
/// ```
/// use seedbank::engine::{Parameter, PlanOptions};
///
/// let hops = Parameter::named("hops").unwrap();
/// let mut options = PlanOptions::default();
/// hops.read(&mut options, "3")?;
/// assert_eq!(options.hops, Some(3));
/// # Ok::<(), String>(())
/// ```
#[non_exhaustive]
pub struct Parameter {
    /// The name in plan files; with `--` before it, that of the flag.
    pub name: String,
    /// What the parameter does, without a full stop. Other parameters stand in backticks.
    pub help: String,
    /// What stands for the value in help: `N`.
    pub value_name: &'static str,
    /// How the value is written.
    pub kind: Kind,
    /// The words that the parameter can be set to; empty if it takes other values.
    pub words: Vec<Word>,
    /// The range of the value, in words; `None` if all values of the type make sense.
    pub expected: Option<String>,
    /// The default, in words; `None` if nothing happens without the parameter.
    pub default: Option<String>,
    /// The part of a command's help in which it is described.
    pub section: Section,
    /// The methods that take it.
    pub taken_by: TakenBy,
    /// Whether the values of pages follow from it.
    pub values_pages: bool,
    pub(super) slot: Box<dyn Slot>,
}

/// The part of a command's help in which a parameter is described.
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
    /// The family of these methods; `None` for all methods.
    #[must_use]
    pub const fn family(self) -> Option<Family> {
        match self {
            Self::Any => None,
            Self::Cores => Some(Family::Cores),
            Self::Cover | Self::Web => Some(Family::Cover),
        }
    }
}

/// How a parameter's value is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// As a number without a sign, or a word.
    Text,
    /// As a number that may be negative.
    Signed,
    /// As `true` or `false`; a flag without a value means `true`.
    Switch,
    /// As the path of a file with a [`List`].
    List,
}

/// One of the words that a parameter can be set to.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
pub struct Word {
    /// The word.
    #[serde(rename = "const")]
    pub name: String,
    /// What it means.
    #[serde(rename = "description")]
    pub help: String,
}

impl Parameter {
    /// Erases the type of a parameter.
    pub(super) fn new<T: ParameterType>(
        section: Section,
        taken_by: TakenBy,
        (field, doc): (&str, &str),
        access: Access<T>,
        details: Details<T>,
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

    /// All parameters, in the order of [`PlanOptions`].
    #[must_use]
    pub fn all() -> &'static [Self] {
        &super::parameters::PARAMETERS
    }

    /// The parameter of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::all().iter().find(|parameter| parameter.name == name)
    }

    /// Sets the parameter to the value that is written so. Of a list only the name is set:
    /// [`PlanOptions::read_lists`] reads it.
    ///
    /// # Errors
    ///
    /// Which texts are values, if this one is none.
    pub fn read(&self, options: &mut PlanOptions, text: &str) -> Result<(), String> {
        self.slot.read(options, text)
    }

    /// Sets a parameter of the kind [`List`](Kind::List); others stay as they are.
    pub fn set_list(&self, options: &mut PlanOptions, list: List) {
        self.slot.set_list(options, list);
    }

    /// Whether the parameter is set.
    #[must_use]
    pub fn is_given(&self, options: &PlanOptions) -> bool {
        self.slot.is_given(options)
    }

    /// Fails if the value is out of range.
    pub(super) fn check(&'static self, options: &PlanOptions) -> Result<(), PlanError> {
        self.slot
            .check(options)
            .map_err(|found| PlanError::OutOfRange {
                parameter: &self.name,
                expected: self.expected.clone().unwrap_or_default(),
                found,
            })
    }
}

impl fmt::Debug for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Parameter").field(&self.name).finish()
    }
}
