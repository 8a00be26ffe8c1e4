//! Whole numbers of any size, as far as comparing and showing them needs.

use std::fmt;

/// Digits of a number that is read at most: Python's own limit is 4,300.
pub const DIGITS_MAX: usize = 10_000;

/// A whole number. Equal numbers have one form only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integer {
    negative: bool,
    /// Little-endian limbs without zeros at the end; none for zero.
    limbs: Vec<u32>,
}

impl From<i64> for Integer {
    fn from(number: i64) -> Self {
        let magnitude = number.unsigned_abs().to_le_bytes();
        Self::from_magnitude(number < 0, &magnitude)
    }
}

impl From<u64> for Integer {
    fn from(number: u64) -> Self {
        Self::from_magnitude(false, &number.to_le_bytes())
    }
}

impl Integer {
    /// From the little-endian bytes of its magnitude.
    fn from_magnitude(negative: bool, bytes: &[u8]) -> Self {
        let mut limbs: Vec<u32> = bytes
            .chunks(4)
            .map(|chunk| (chunk.iter().rev()).fold(0, |limb, byte| limb << 8 | u32::from(*byte)))
            .collect();
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        let negative = negative && !limbs.is_empty();
        Self { negative, limbs }
    }

    /// From little-endian bytes in two's complement.
    #[must_use]
    pub fn from_signed_bytes(bytes: &[u8]) -> Self {
        if bytes.last().is_none_or(|top| top & 0x80 == 0) {
            return Self::from_magnitude(false, bytes);
        }
        let mut carry = true;
        let magnitude: Vec<u8> = bytes
            .iter()
            .map(|byte| {
                let (sum, over) = (!byte).overflowing_add(u8::from(carry));
                carry = over;
                sum
            })
            .collect();
        let mut magnitude = magnitude;
        if carry {
            magnitude.push(1);
        }
        Self::from_magnitude(true, &magnitude)
    }

    /// Little-endian bytes in two's complement, with room for the sign.
    #[must_use]
    pub fn signed_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self
            .limbs
            .iter()
            .flat_map(|limb| limb.to_le_bytes())
            .collect();
        bytes.push(0);
        if self.negative {
            let mut carry = true;
            for byte in &mut bytes {
                let (sum, over) = (!*byte).overflowing_add(u8::from(carry));
                (*byte, carry) = (sum, over);
            }
        }
        bytes
    }

    /// From decimal digits with an optional sign; `None` if it is anything else, or too long.
    #[must_use]
    pub fn from_decimal(text: &str) -> Option<Self> {
        let (negative, digits) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            all => (false, all),
        };
        let valid = !digits.is_empty() && digits.len() <= DIGITS_MAX;
        if !valid || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let mut limbs: Vec<u32> = Vec::new();
        for digit in digits {
            let mut carry = u64::from(digit - b'0');
            for limb in &mut limbs {
                let product = u64::from(*limb) * 10 + carry;
                *limb = low(product);
                carry = product >> 32;
            }
            if carry > 0 {
                limbs.push(low(carry));
            }
        }
        let negative = negative && !limbs.is_empty();
        Some(Self { negative, limbs })
    }

    /// The number if it is whole and finite.
    #[must_use]
    pub fn from_f64(number: f64) -> Option<Self> {
        if !number.is_finite() || number.fract() != 0.0 {
            return None;
        }
        if number == 0.0 {
            return Some(Self::from(0_i64));
        }
        let bits = number.abs().to_bits();
        let exponent = i32::try_from(bits >> 52).unwrap_or(0) - 1075;
        let mantissa = (bits & ((1 << 52) - 1)) | (1 << 52);
        let magnitude = if exponent <= 0 {
            (mantissa >> exponent.unsigned_abs()).to_le_bytes().to_vec()
        } else {
            let exponent = exponent.unsigned_abs();
            let mut bytes = vec![0; usize::try_from(exponent / 8).unwrap_or(0)];
            let shifted = u128::from(mantissa) << (exponent % 8);
            bytes.extend(shifted.to_le_bytes());
            bytes
        };
        Some(Self::from_magnitude(number < 0.0, &magnitude))
    }

    /// The nearest float, infinite beyond the largest.
    #[must_use]
    pub fn to_f64(&self) -> f64 {
        let magnitude = (self.limbs.iter().rev())
            .fold(0.0, |sum, limb| sum * 4_294_967_296.0 + f64::from(*limb));
        if self.negative { -magnitude } else { magnitude }
    }

    /// The number, if it has 64 bits at most.
    #[must_use]
    pub fn to_i64(&self) -> Option<i64> {
        let bytes = self.signed_bytes();
        let sign = if self.negative { 0xff } else { 0 };
        let (low, high) = bytes.split_at(bytes.len().min(8));
        let mut full = [sign; 8];
        full[..low.len()].copy_from_slice(low);
        let number = i64::from_le_bytes(full);
        (high.iter().all(|byte| *byte == sign) && (number < 0) == self.negative).then_some(number)
    }

    /// Bytes that are the same for equal numbers only.
    pub(super) fn key(&self) -> Vec<u8> {
        let mut bytes = self.signed_bytes();
        let sign = if self.negative { 0xff } else { 0 };
        while bytes.len() > 1 && bytes.last() == Some(&sign) {
            bytes.pop();
        }
        bytes.push(sign);
        bytes
    }
}

/// Its lower 32 bits.
fn low(number: u64) -> u32 {
    u32::try_from(number & 0xffff_ffff).unwrap_or(u32::MAX)
}

impl fmt::Display for Integer {
    /// Numbers of more than 2,000 bits are shown by their size: nobody reads them.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.limbs.len() > 64 {
            let bits = self.limbs.len() * 32;
            return write!(formatter, "<int of about {bits} bits>");
        }
        let mut limbs = self.limbs.clone();
        let mut parts: Vec<u32> = Vec::new();
        while !limbs.is_empty() {
            let mut rest = 0;
            for limb in limbs.iter_mut().rev() {
                let part = rest << 32 | u64::from(*limb);
                *limb = low(part / 1_000_000_000);
                rest = part % 1_000_000_000;
            }
            parts.push(low(rest));
            while limbs.last() == Some(&0) {
                limbs.pop();
            }
        }
        if self.negative {
            formatter.write_str("-")?;
        }
        let mut parts = parts.into_iter().rev();
        write!(formatter, "{}", parts.next().unwrap_or(0))?;
        parts.try_for_each(|part| write!(formatter, "{part:09}"))
    }
}
