//! Records of one page in any order and division.

use super::*;
use proptest::prelude::*;

/// Records of few times and values, with what their targets are.
fn record() -> impl Strategy<Value = (PageUpdate, u64, u8)> {
    let fields = (
        any::<(Option<bool>, Option<bool>)>(),
        prop::option::of(0..3_u64),
        prop::option::of(0..3_u8),
        0..4_u16,
        0..4_u16,
    );
    (0..5_u64, 0..6_u8, 0..3_u8, fields).prop_map(|(order, found, targets, fields)| {
        let ((spam, sums), clicks, digest, uncrawled, quality) = fields;
        if found == 0 {
            return (PageUpdate::GONE, order, 0);
        }
        let alias = found == 1;
        // A resource has no links.
        let is_resource = found == 2 && order > 0;
        let targets = if alias || found == 3 { targets } else { 0 };
        let mut sum = LinkSum::default();
        for target in 0..targets {
            sum.add_url("a.example", &format!("0/{target}"));
        }
        let update = PageUpdate {
            links: alias || is_resource || found == 3,
            // Attributes alone have no time.
            crawled: found == 3 || order > 0 || digest.is_some(),
            alias,
            kind: match found {
                2 if is_resource => Some(PageKind::Resource),
                4 => None,
                _ => Some(PageKind::Page),
            },
            spam,
            clicks,
            digest: digest.map(|digest| [digest; 16]),
            uncrawled: match uncrawled {
                0 => UncrawledOutlinks::Absent,
                1 => UncrawledOutlinks::Counted,
                count => UncrawledOutlinks::Given(count.into()),
            },
            quality: match quality {
                0 => Attribute::Absent,
                1 => Attribute::Removed,
                quality => Attribute::Given(quality),
            },
            sums: sums.map(|sums| Yield {
                days: sums.into(),
                new: 1,
            }),
            order: Some(sum.order()),
            ..PageUpdate::NAMED
        };
        (update, order, targets)
    })
}

fn merged(records: &[(PageUpdate, u64, u8)], is_final: bool) -> (PageUpdate, u64, u8) {
    let mut all = MergedRecords::default();
    for (update, order, targets) in records {
        all.add(update, *order, *targets);
    }
    let (update, order, targets) = all.finish(is_final);
    (update, order, targets.unwrap_or(0))
}

proptest! {
    #[test]
    fn neither_order_nor_division_of_records_matters(
        (records, shuffled, cut) in prop::collection::vec(record(), 1..7).prop_flat_map(|records| {
            let cut = 0..=records.len();
            (Just(records.clone()), Just(records).prop_shuffle(), cut)
        }),
    ) {
        let whole = merged(&records, true);
        prop_assert_eq!(&merged(&shuffled, true), &whole);
        let (one, other) = shuffled.split_at(cut);
        let parts = [one, other].into_iter().filter(|part| !part.is_empty());
        let parts: Vec<_> = parts.map(|part| merged(part, false)).collect();
        prop_assert_eq!(&merged(&parts, true), &whole);
        prop_assert_eq!(&merged(&[parts, vec![whole.clone()]].concat(), true), &whole);
    }
}
