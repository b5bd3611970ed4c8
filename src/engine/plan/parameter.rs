//! A parameter of plans, independent of its type: name, help, range, default, the methods that take
//! it, and how it merges with stored parameters.

use std::fmt;

use super::declaration::{Access, Declaration, Slot};
use super::parameter_type::{NamedValue, ParameterType, ValueKind};
use crate::engine::error::{Family, PlanError};
use crate::engine::policy::List;

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
