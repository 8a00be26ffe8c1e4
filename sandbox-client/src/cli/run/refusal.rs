//! A refused limit in the words of the command line: the option beside the field, and numbers with
//! their units. Knows the options of `run`; asks nobody.

use crate::cli::failure::Failure;
use crate::error::{Answer, ClientError};

const REASON: &str = "LIMIT_OUT_OF_RANGE";

/// What the numbers of a field count.
#[derive(Clone, Copy)]
enum Unit {
    Ms,
    Bytes,
    One,
}

/// Field, option and unit.
const OPTIONS: [(&str, &str, Unit); 6] = [
    ("limits.wall_ms_max", "--time", Unit::Ms),
    ("limits.cpu_ms_max", "--cpu-time", Unit::Ms),
    ("limits.memory_bytes_max", "--memory", Unit::Bytes),
    ("limits.pids_max", "--pids", Unit::One),
    ("limits.disk_bytes_max", "--disk", Unit::Bytes),
    ("limits.output_bytes_total_max", "--output-cap", Unit::Bytes),
];

/// The failure as somebody who wrote options understands it.
pub(super) fn in_options(failure: Failure) -> Failure {
    match failure {
        Failure::Client(ClientError::Refused(answer)) if answer.reason == REASON => {
            ClientError::Refused(reworded(answer)).into()
        }
        other => other,
    }
}

fn reworded(answer: Answer) -> Answer {
    let named = OPTIONS
        .iter()
        .find(|(field, ..)| answer.field.as_deref() == Some(field));
    let Some((field, option, unit)) = named else {
        return answer;
    };
    let message = with_units(&answer.message, *unit);
    let message = match message.strip_prefix(field) {
        Some(rest) => format!("{option} ({field}){rest}"),
        None => format!("{option} ({field}): {message}"),
    };
    Answer { message, ..answer }
}

/// The text with a unit after each of its numbers. Exactly: 1 byte too many must be seen.
fn with_units(text: &str, unit: Unit) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(start);
        let end = number
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(number.len());
        let (digits, after) = number.split_at(end);
        shown.push_str(before);
        shown.push_str(
            &digits
                .parse()
                .map_or_else(|_too_large| digits.to_owned(), |number| exact(number, unit)),
        );
        rest = after;
    }
    shown + rest
}

fn exact(number: u64, unit: Unit) -> String {
    let larger: &[(u64, &str)] = match unit {
        Unit::Ms => &[(60_000, "min"), (1000, "s"), (1, "ms")],
        Unit::Bytes => &[
            (1 << 30, "GiB"),
            (1 << 20, "MiB"),
            (1 << 10, "KiB"),
            (1, "B"),
        ],
        Unit::One => &[],
    };
    larger
        .iter()
        .find(|(scale, _)| number >= *scale && number.is_multiple_of(*scale))
        .map_or_else(
            || number.to_string(),
            |(scale, name)| format!("{} {name}", number / scale),
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(field: &str, message: &str) -> String {
        let answer = Answer {
            code: "invalid_argument".to_owned(),
            reason: REASON.to_owned(),
            field: Some(field.to_owned()),
            message: message.to_owned(),
            retry_after: None,
        };
        in_options(answer.into_error().into()).to_string()
    }

    #[test]
    fn a_refused_limit_names_its_option_and_units() {
        assert_eq!(
            told(
                "limits.memory_bytes_max",
                "limits.memory_bytes_max = 1024 is outside 4194304..=2147483648; ask for a value \
                 in that range"
            ),
            "refused: --memory (limits.memory_bytes_max) = 1 KiB is outside 4 MiB..=2 GiB; ask \
             for a value in that range [LIMIT_OUT_OF_RANGE]"
        );
        let time = told(
            "limits.wall_ms_max",
            "limits.wall_ms_max = 240001 is outside 10..=240000",
        );
        assert!(
            time.contains("= 240001 ms is outside 10 ms..=4 min"),
            "{time}"
        );
        let pids = told("limits.pids_max", "limits.pids_max = 0 is outside 1..=64");
        assert!(
            pids.contains("--pids (limits.pids_max) = 0 is outside 1..=64"),
            "{pids}"
        );
    }

    #[test]
    fn other_refusals_are_left_as_they_are() {
        let text = "limits.files_max = 5 is outside 16..=64";
        let whole = format!("refused: {text} [{REASON}]");
        assert_eq!(told("limits.files_max", text), whole);
        let other = Answer {
            code: "not_found".to_owned(),
            field: Some("limits.pids_max".to_owned()),
            message: "no 5".to_owned(),
            ..Answer::default()
        };
        let failure = in_options(other.into_error().into());
        assert_eq!(failure.to_string(), "refused: limits.pids_max: no 5");
    }
}
