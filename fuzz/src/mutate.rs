//! Changes to bytes that look random and are not: the same number gives the same ones.

/// The longest input that is made, in bytes.
const INPUT_BYTES_MAX: usize = 1 << 16;

/// Numbers that look random.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// From a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number from 0 to `bound - 1`; 0 for a bound of 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next_number() % bound).unwrap_or(0)
    }

    fn byte(&mut self) -> u8 {
        self.next_number().to_le_bytes()[0]
    }
}

/// Bytes that often matter: ends of ranges, separators, lengths beyond everything.
const WORDS: &[&[u8]] = &[
    b"\0",
    b"\xff",
    b"\x7f",
    b"\x80",
    b"\xff\xff\xff\xff",
    b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
    b"\0\0\0\0",
    b"\x01\0\0\0",
    b"\n",
    b"\r\n",
    b"\"",
    b"\\",
    b"\\u0000",
    b"\\ud800",
    b"{",
    b"}",
    b"[",
    b"]",
    b":",
    b",",
    b"=",
    b"'",
    b"#",
    b"../",
    b"/",
    b"//",
    b"null",
    b"true",
    b"false",
    b"0",
    b"-1",
    b"1e999",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"\xc3\xa9",
    b"\xe2\x80\xae",
    b"\x1b]52;c;",
];

/// Changes `input` in one to four places; `others` lend it pieces.
pub fn mutate(random: &mut Random, input: &mut Vec<u8>, others: &[Vec<u8>]) {
    for _ in 0..=random.below(4) {
        let at = random.below(input.len() + 1);
        match random.below(9) {
            0 => flip(random, input),
            1 => insert(input, at, &[random.byte()]),
            2 | 3 => insert(input, at, WORDS[random.below(WORDS.len())]),
            4 => remove(random, input, at),
            5 => double(random, input, at),
            6 => splice(random, input, at, others),
            7 => replace_number(random, input),
            _ => overwrite(input, at, WORDS[random.below(WORDS.len())]),
        }
    }
    input.truncate(INPUT_BYTES_MAX);
}

fn flip(random: &mut Random, input: &mut [u8]) {
    let at = random.below(input.len());
    if let Some(byte) = input.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

fn overwrite(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    let end = (at + piece.len()).min(input.len());
    input.splice(at..end, piece.iter().copied());
}

fn remove(random: &mut Random, input: &mut Vec<u8>, at: usize) {
    // Short pieces most of the time, sometimes all the rest.
    let length = match random.below(8) {
        0 => input.len() - at,
        _ => random.below(16) + 1,
    };
    let end = at.saturating_add(length).min(input.len());
    input.drain(at..end);
}

fn double(random: &mut Random, input: &mut Vec<u8>, at: usize) {
    let end = at.saturating_add(random.below(64) + 1).min(input.len());
    let piece = input[at..end].to_vec();
    insert(input, end, &piece);
}

fn splice(random: &mut Random, input: &mut Vec<u8>, at: usize, others: &[Vec<u8>]) {
    let Some(other) = others.get(random.below(others.len())) else {
        return;
    };
    let from = random.below(other.len());
    let to = from.saturating_add(random.below(128) + 1).min(other.len());
    let piece = other[from..to].to_vec();
    insert(input, at, &piece);
}

/// Another decimal number in the place of one.
fn replace_number(random: &mut Random, input: &mut Vec<u8>) {
    let from = random.below(input.len());
    let Some(start) = (from..input.len()).find(|at| input[*at].is_ascii_digit()) else {
        return;
    };
    let end = (start..input.len())
        .find(|at| !input[*at].is_ascii_digit())
        .unwrap_or(input.len());
    let shift = u32::try_from(random.below(64)).unwrap_or(0);
    let number = (random.next_number() >> shift).to_string();
    input.splice(start..end, number.into_bytes());
}
