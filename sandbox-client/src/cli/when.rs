//! Milliseconds since 1970 as a date and time in UTC, for people.

const DAY_MS: u64 = 86_400_000;

/// `2026-11-30 15:31:58`; an empty text for 0, which means "never".
pub(crate) fn show_unix_ms(unix_ms: u64) -> String {
    if unix_ms == 0 {
        return String::new();
    }
    let (year, month, day) = date_of(unix_ms / DAY_MS);
    let seconds = unix_ms % DAY_MS / 1_000;
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
        seconds / 3_600,
        seconds / 60 % 60,
        seconds % 60
    )
}

/// Year, month and day of a number of days since 1970, in the Gregorian calendar.
fn date_of(days: u64) -> (u64, u64, u64) {
    // Counted from the first of March of a year divisible by 400, so that a leap day ends a year.
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::show_unix_ms;

    #[test]
    fn known_moments() {
        for (unix_ms, text) in [
            (0, ""),
            (1_000, "1970-01-01 00:00:01"),
            (951_782_400_000, "2000-02-29 00:00:00"),
            (1_704_067_199_999, "2023-12-31 23:59:59"),
            (4_107_542_400_000, "2100-03-01 00:00:00"),
        ] {
            assert_eq!(show_unix_ms(unix_ms), text);
        }
    }
}
