//! The common parts of all pages: parameters of tables, navigation, search field, links to JSON, and paging.

/// Declares the parameters of a page that has tables: those given, and the name and the format of a table.
macro_rules! params {
    ($(#[$of_type:meta])* $Params:ident { $($(#[$of_field:meta])* $field:ident: $Type:ty,)* }) => {
        $(#[$of_type])*
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        pub(super) struct $Params {
            $($(#[$of_field])* $field: $Type,)*
            table: Option<crate::serve::params::TableName>,
            #[serde(rename = "format")]
            _format: Option<crate::serve::answer::MediaType>,
        }
    };
}

pub(super) use params;

use crate::serve::address::Address;
use crate::serve::executor::Context;

/// Contents of the common parts of a page.
pub(crate) struct Layout<'a> {
    /// Name of the bank's folder.
    pub(crate) bank: &'a str,
    /// The text in the search field.
    pub(crate) query: String,
    /// Titles and addresses of the page's data as JSON.
    pub(crate) json: Vec<(&'static str, Address)>,
}

impl<'a> Layout<'a> {
    /// Creates the layout of a page whose data is available as JSON at one address of the API.
    pub(crate) fn new(context: &Context<'a>, address: &Address) -> Self {
        Self::with_json(context, [("This page as JSON", address.clone())])
    }

    /// Creates the layout of a page whose data is available as JSON at these addresses of the API; none is
    /// allowed.
    pub(crate) fn with_json(
        context: &Context<'a>,
        parts: impl IntoIterator<Item = (&'static str, Address)>,
    ) -> Self {
        Self {
            bank: context.name,
            query: String::new(),
            json: parts.into_iter().collect(),
        }
    }
}

/// Addresses of the previous and the next page of a long list.
pub(super) type Pager = (Option<Address>, Option<Address>);

/// Returns the pager of a list of `total` rows, of which the page shows up to `rows`, from `from` on.
pub(super) fn pager(
    from: u64,
    rows: u64,
    total: u64,
    address_from: impl Fn(u64) -> Address,
) -> Pager {
    let previous = from.min(total).saturating_sub(rows);
    let next = from.saturating_add(rows);
    (
        (from > 0).then(|| address_from(previous)),
        (next < total).then(|| address_from(next)),
    )
}
