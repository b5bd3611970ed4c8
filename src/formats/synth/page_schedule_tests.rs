use super::Draw;
use super::*;

fn site(number: u64, size: u32) -> Site {
    Site {
        number: 0,
        key: Draw::new(3).at(number),
        size,
        sections: 0,
        spam: false,
    }
}

fn life(days: u32) -> PageSchedule {
    PageSchedule::new(&SynthOptions {
        days,
        gone_per_day: 0.02,
        born_per_day: 0.01,
        ..SynthOptions::default()
    })
}

#[test]
fn the_day_of_birth_inverts_the_number_born() {
    let life = life(400);
    for number in 0..50 {
        for size in [1, 7, 1000] {
            let site = &site(number, size);
            assert_eq!(life.pages_by(site, 0), size);
            for day in 1..60 {
                let before = life.pages_by(site, day - 1);
                for page in before..life.pages_by(site, day) {
                    assert_eq!(life.birth(site, page), day, "{size} {page}");
                }
            }
        }
    }
}

#[test]
fn events_and_being_alive_agree_day_by_day() {
    let life = life(120);
    let mut seen = [0; 3];
    for page in 1..2000 {
        let site = &site(9, 500);
        let mut alive = page < 500;
        for day in 1..=120 {
            match life.event(site, page, day) {
                Some(Event::Born) => {
                    assert!(!alive);
                    alive = true;
                    seen[0] += 1;
                }
                Some(Event::Returned) => {
                    assert!(!alive);
                    alive = true;
                    seen[1] += 1;
                }
                Some(Event::Gone) => {
                    assert!(alive);
                    alive = false;
                    seen[2] += 1;
                }
                Some(Event::Changed | Event::Clicked) => assert!(alive),
                None => {}
            }
            if page >= life.pages_by(site, day) {
                continue;
            }
            assert_eq!(alive, life.alive(site, page, day), "{page} {day}");
        }
        if page + 1 == life.pages_by(site, 120) {
            break;
        }
    }
    assert!(seen.iter().all(|&n| n > 5), "{seen:?}");
}
