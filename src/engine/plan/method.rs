//! Methods of selecting seeds: cores, or a cover method.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use seedbank_algorithms::cover;

/// Method of selecting seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// One seed from each dense group of hubs and authorities between sites.
    #[default]
    Cores,
    /// Pages of each site, by the pages that they cover on it.
    #[serde(untagged)]
    Cover(cover::Method),
}

impl Method {
    /// Names of all methods.
    pub const NAMES: [&str; cover::Method::ALL.len() + 1] = {
        let mut names = [Self::Cores.name(); cover::Method::ALL.len() + 1];
        let mut at = 0;
        while at < cover::Method::ALL.len() {
            names[at + 1] = cover::Method::ALL[at].name();
            at += 1;
        }
        names
    };

    /// Returns the method with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        if name == Self::Cores.name() {
            return Some(Self::Cores);
        }
        let mut methods = cover::Method::ALL.into_iter();
        methods
            .find(|method| method.name() == name)
            .map(Self::Cover)
    }

    /// Returns the method's name in plans and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cores => "cores",
            Self::Cover(method) => method.name(),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.pad(self.name())
    }
}

// The derived implementation would not list the valid names.
impl<'de> Deserialize<'de> for Method {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        Self::named(&name).ok_or_else(|| D::Error::unknown_variant(&name, &Self::NAMES))
    }
}
