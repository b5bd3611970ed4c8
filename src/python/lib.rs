//! The native part of the Python package `seedbank_engine`: banks, and tables that other libraries take
//! without a copy.
//!
//! | module | purpose |
//! | --- | --- |
//! | `bank` | the class `Bank`: its methods call those of the library |
//! | `handle` | the bank that calls work on; answers as objects |
//! | `call` | one call: without the interpreter's lock, with progress, ended by Ctrl-C, refused after a fork |
//! | `ingest` | the kinds of input: paths, records, columns |
//! | `records` | records of Python as lines of JSON |
//! | `columns` | columns of other libraries, by the C stream interface of Arrow |
//! | `table` | the class `Table` |
//! | `evaluate` | the class `Evaluate`: experiments |
//! | `export` | a bank's state in files |
//! | `arguments` | other arguments |
//! | `parameters` | keyword arguments as parameters of plans |
//! | `errors`, `hints` | errors as exceptions, with advice in terms of this package |
//!
//! The rest of the package is written in Python, in `python/seedbank_engine`. The guide's page is
//! `src/guide/python.md`.

mod arguments;
mod bank;
mod call;
mod columns;
mod errors;
mod evaluate;
mod export;
mod handle;
mod hints;
mod ingest;
mod parameters;
mod records;
mod table;

use pyo3::prelude::*;

/// The native part of `seedbank_engine`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::bank::Bank;
    #[pymodule_export]
    use crate::evaluate::Evaluate;
    #[pymodule_export]
    use crate::table::{Rows, Table};
}
