//! The declaration of a parameter, and the access to its field that follows from it.
//!
//! The type `O` of the options that contain the field is generic, so that this module does not
//! depend on their declaration.

use std::ops::{Bound, RangeBounds};

use super::parameter_type::{ParameterType, to_text};
use crate::engine::policy::List;
use seedbank_algorithms::cover::{Value, Weights, limits};

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
