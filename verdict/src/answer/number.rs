//! Numbers as answers write them: whole, decimal, with an exponent, with thousands separators, as
//! fractions, plain or in TeX. Exact: a decimal is not a float.

/// Digits of a number that is read at most.
const DIGITS_MAX: usize = 1000;

/// A decimal: `digits` times ten to the `exponent`, with no zeros at either end of the digits;
/// zero has none. Equal decimals have one form only.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

/// A number: a decimal over another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    above: Decimal,
    below: Decimal,
}

/// Reads a number; `None` if the whole text is none.
pub(super) fn parse(text: &str) -> Option<Number> {
    let text = simplified(text);
    let one = || Decimal {
        negative: false,
        digits: vec![1],
        exponent: 0,
    };
    if let Some(number) = decimal(&text) {
        return Some(Number {
            above: number,
            below: one(),
        });
    }
    let (negative, rest) = sign(&text);
    let (above, below) = match rest.strip_prefix("\\frac{") {
        Some(parts) => parts.strip_suffix('}')?.split_once("}{")?,
        None => rest.split_once('/')?,
    };
    let (mut above, below) = (decimal(above)?, decimal(below)?);
    if below.digits.is_empty() {
        return None;
    }
    above.negative ^= negative && !above.digits.is_empty();
    Some(Number { above, below })
}

/// Without what means nothing: spaces, dollar signs of TeX, its thin spaces.
fn simplified(text: &str) -> String {
    let text = text.trim().trim_matches('$');
    let text = text
        .replace("\\dfrac", "\\frac")
        .replace("\\tfrac", "\\frac")
        .replace("\\,", "")
        .replace("\\!", "")
        .replace("{,}", ",")
        .replace('\u{2212}', "-");
    text.split_whitespace().collect()
}

fn sign(text: &str) -> (bool, &str) {
    match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    }
}

/// `[+-] digits [. digits] [e [+-] digits]`, with commas between groups of three before the point.
fn decimal(text: &str) -> Option<Decimal> {
    let (negative, rest) = sign(text);
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = without_separators(whole)?;
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let count = whole.len() + fraction.len();
    if count == 0 || count > DIGITS_MAX || !all_digits(&whole) || !all_digits(fraction) {
        return None;
    }
    let mut digits: Vec<u8> = (whole.bytes().chain(fraction.bytes()))
        .map(|byte| byte - b'0')
        .collect();
    let mut exponent = i64::from(exponent) - i64::try_from(fraction.len()).ok()?;
    while digits.last() == Some(&0) {
        digits.pop();
        exponent += 1;
    }
    let zeros = digits.iter().take_while(|digit| **digit == 0).count();
    digits.drain(..zeros);
    let is_zero = digits.is_empty();
    Some(Decimal {
        negative: negative && !is_zero,
        digits,
        exponent: if is_zero { 0 } else { exponent },
    })
}

/// Commas only where they part groups of three digits after one to three: `1,234` and not `12,34`.
fn without_separators(whole: &str) -> Option<String> {
    if !whole.contains(',') {
        return Some(whole.to_owned());
    }
    let mut groups = whole.split(',');
    let first = groups.next()?;
    let fits = (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3);
    fits.then(|| whole.replace(',', ""))
}

impl Decimal {
    /// The nearest float.
    fn to_f64(&self) -> f64 {
        let digits: String = self
            .digits
            .iter()
            .map(|digit| char::from(digit + b'0'))
            .collect();
        let sign = if self.negative { "-" } else { "" };
        // Always of the form that the parser reads.
        format!("{sign}0{digits}e{}", self.exponent)
            .parse()
            .unwrap_or(f64::NAN)
    }

    /// Digits as a number and the power of ten, where that fits.
    fn scaled(&self, exponent: i64) -> Option<i128> {
        let zeros = u32::try_from(self.exponent.checked_sub(exponent)?).ok()?;
        let ten: i128 = 10;
        let mut number: i128 = 0;
        for digit in &self.digits {
            number = number.checked_mul(10)?.checked_add(i128::from(*digit))?;
        }
        let number = number.checked_mul(ten.checked_pow(zeros)?)?;
        Some(if self.negative { -number } else { number })
    }
}

impl Number {
    /// Whether both are the same number, exactly; false where the numbers are too long to tell.
    fn equals(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        // a/b = c/d where a*d = c*b, all four as whole numbers of one power of ten.
        let parts = [&self.above, &self.below, &other.above, &other.below];
        let least = parts.iter().map(|part| part.exponent).min().unwrap_or(0);
        let whole: Option<Vec<i128>> = parts.iter().map(|part| part.scaled(least)).collect();
        match whole.as_deref() {
            Some([a, b, c, d]) => match (a.checked_mul(*d), c.checked_mul(*b)) {
                (Some(left), Some(right)) => left == right,
                _ => false,
            },
            _ => false,
        }
    }

    fn to_f64(&self) -> f64 {
        self.above.to_f64() / self.below.to_f64()
    }

    /// Whether `got` is this number, or differs from it by at most `tolerance`, absolutely or
    /// relative to this one.
    pub(super) fn accepts(&self, got: &Self, tolerance: Option<f64>) -> bool {
        if self.equals(got) {
            return true;
        }
        let Some(by) = tolerance.filter(|by| *by > 0.0) else {
            return false;
        };
        let (expected, got) = (self.to_f64(), got.to_f64());
        let apart = (expected - got).abs();
        apart.is_finite() && (apart <= by || apart <= by * expected.abs())
    }
}
