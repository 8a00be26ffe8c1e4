//! Which source may report what.

use super::{Draft, DraftError, Event, Source};

const SOURCES: [Source; 4] = [Source::Api, Source::Launcher, Source::Init, Source::Audit];

#[test]
fn every_event_has_a_source_and_no_event_mixes_launcher_with_others() {
    for event in Event::ALL {
        let allowed: Vec<_> = SOURCES
            .into_iter()
            .filter(|s| event.may_come_from(*s))
            .collect();
        assert!(!allowed.is_empty(), "{event:?}");
        assert!(
            allowed == [Source::Launcher] || !allowed.contains(&Source::Launcher),
            "{event:?}"
        );
        assert!(
            allowed == [Source::Audit] || !allowed.contains(&Source::Audit),
            "{event:?}"
        );
    }
}

#[test]
fn a_draft_of_the_wrong_source_or_length_is_refused() {
    let draft = Draft::new(Event::SandboxSpawned, Source::Api);
    assert!(matches!(draft.check(), Err(DraftError::Source { .. })));
    for run_id in [String::new(), "x".repeat(257)] {
        let mut draft = Draft::new(Event::RunAdmitted, Source::Api);
        draft.run_id = Some(run_id);
        assert!(matches!(
            draft.check(),
            Err(DraftError::Length {
                field: "run_id",
                ..
            })
        ));
    }
}
