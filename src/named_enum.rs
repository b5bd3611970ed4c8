//! Enums that a user selects by name. Each value is declared once, with its name and help text, for the
//! library, the command line and the server's URLs.

/// A value of a named enum.
#[derive(Clone, Copy, Debug)]
pub struct NamedValue<T: 'static> {
    /// The value.
    pub value: T,
    /// The name.
    pub name: &'static str,
    /// An alternative name.
    pub alias: Option<&'static str>,
    /// A phrase that describes the value.
    pub help: &'static str,
}

impl<T: Copy> NamedValue<T> {
    /// Returns the value with this name or alias.
    #[must_use]
    pub fn find(all: &[Self], name: &str) -> Option<T> {
        let mut all = all.iter();
        let found = all.find(|named| named.name == name || named.alias == Some(name));
        found.map(|named| named.value)
    }
}

/// Declares a named enum; each value is written `Value = "name" | "alias", "help text";`.
macro_rules! named_enum {
    (
        $(#[$of_enum:meta])*
        $vis:vis enum $Enum:ident {
            $($(#[$of_value:meta])* $Value:ident = $name:literal $(| $alias:literal)?, $help:literal;)+
        }
    ) => {
        $(#[$of_enum])*
        $vis enum $Enum {
            $(#[doc = $help] $(#[$of_value])* $Value,)+
        }

        impl $Enum {
            /// All values with their names, in the order in which they are offered.
            $vis const VALUES: &'static [$crate::named_enum::NamedValue<Self>] = &[$(
                $crate::named_enum::NamedValue {
                    value: Self::$Value,
                    name: $name,
                    alias: $crate::named_enum::named_enum!(@alias $($alias)?),
                    help: $help,
                },
            )+];

            /// Returns the name of the value.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $(Self::$Value => $name,)+
                }
            }
        }

        impl std::fmt::Display for $Enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
    (@alias) => { None };
    (@alias $alias:literal) => { Some($alias) };
}

pub(crate) use named_enum;

#[cfg(test)]
mod tests {
    use super::*;

    named_enum! {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        enum Size {
            Small = "small", "Fits";
            Large = "large" | "big", "Does not fit";
        }
    }

    #[test]
    fn values_are_found_by_name_and_alias() {
        for (name, size) in [
            ("small", Some(Size::Small)),
            ("large", Some(Size::Large)),
            ("big", Some(Size::Large)),
            ("Big", None),
            ("", None),
        ] {
            assert_eq!(NamedValue::find(Size::VALUES, name), size, "{name}");
        }
        assert_eq!(Size::Large.to_string(), "large");
        assert_eq!(Size::VALUES[1].help, "Does not fit");
    }
}
