//! Enums that a user chooses from by name: each value is declared once, with its name and what it is,
//! for the library, the command line and the addresses of the server.

/// A value of such an enum.
#[derive(Clone, Copy, Debug)]
pub struct Named<T: 'static> {
    /// The value.
    pub value: T,
    /// Its name.
    pub name: &'static str,
    /// Another name that it is found by.
    pub alias: Option<&'static str>,
    /// What it is, in a phrase.
    pub about: &'static str,
}

impl<T: Copy> Named<T> {
    /// The value of this name or alias.
    #[must_use]
    pub fn find(all: &[Self], name: &str) -> Option<T> {
        let mut all = all.iter();
        let found = all.find(|named| named.name == name || named.alias == Some(name));
        found.map(|named| named.value)
    }
}

/// Declares such an enum: `Value = "name" | "alias", "what it is";`.
macro_rules! named {
    (
        $(#[$of_enum:meta])*
        $vis:vis enum $Enum:ident {
            $($(#[$of_value:meta])* $Value:ident = $name:literal $(| $alias:literal)?, $about:literal;)+
        }
    ) => {
        $(#[$of_enum])*
        $vis enum $Enum {
            $(#[doc = $about] $(#[$of_value])* $Value,)+
        }

        impl $Enum {
            /// Every value with its name, in the order in which they are offered.
            $vis const NAMED: &'static [$crate::named::Named<Self>] = &[$(
                $crate::named::Named {
                    value: Self::$Value,
                    name: $name,
                    alias: $crate::named::named!(@alias $($alias)?),
                    about: $about,
                },
            )+];

            /// Its name, as it is asked for.
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

pub(crate) use named;

#[cfg(test)]
mod tests {
    use super::*;

    named! {
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
            assert_eq!(Named::find(Size::NAMED, name), size, "{name}");
        }
        assert_eq!(Size::Large.to_string(), "large");
        assert_eq!(Size::NAMED[1].about, "Does not fit");
    }
}
