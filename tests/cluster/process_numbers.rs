//! The number of a process: given, from Slurm, from Kubernetes.

use crate::support::{Folder, messages};

/// Returns the number of a process of three, or the message of the error.
fn number(given: Option<usize>, variables: &[(&str, &str)]) -> Result<usize, String> {
    let env = |name: &str| {
        let variable = variables.iter().find(|(other, _)| *other == name);
        variable.map(|(_, value)| (*value).to_owned())
    };
    let members = Folder::new(3, "").members();
    members
        .process_number(given, env)
        .map_err(|error| messages(&error).pop().unwrap())
}

#[test]
fn the_given_number_precedes_variables() {
    assert_eq!(
        number(Some(2), &[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "9")]),
        Ok(2)
    );
    assert_eq!(
        number(Some(3), &[]).unwrap_err(),
        r#"the given number: expected a number below 3, found "3""#
    );
    assert_eq!(
        number(None, &[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "3")]),
        Ok(1)
    );
    assert_eq!(number(None, &[("JOB_COMPLETION_INDEX", "2")]), Ok(2));
}

#[test]
fn wrong_variables_are_explained() {
    for (variables, expected) in [
        (
            &[][..],
            "it is not given, and neither SLURM_PROCID nor JOB_COMPLETION_INDEX is set",
        ),
        (
            &[("SLURM_PROCID", "3"), ("SLURM_NTASKS", "3")],
            r#"SLURM_PROCID: expected a number below 3, found "3""#,
        ),
        (
            &[("SLURM_PROCID", "x"), ("SLURM_NTASKS", "3")],
            r#"SLURM_PROCID: expected a number below 3, found "x""#,
        ),
        (
            &[("SLURM_PROCID", "1")],
            "SLURM_NTASKS: expected 3, the number of processes in the members file, found no value",
        ),
        (
            &[("SLURM_PROCID", "1"), ("SLURM_NTASKS", "4")],
            r#"SLURM_NTASKS: expected 3, the number of processes in the members file, found "4""#,
        ),
        (
            &[("JOB_COMPLETION_INDEX", "-1")],
            r#"JOB_COMPLETION_INDEX: expected a number below 3, found "-1""#,
        ),
    ] {
        assert_eq!(number(None, variables).unwrap_err(), expected);
    }
}
