//! Chance from one number, so that a run can be made again.

#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// Another one, of its own.
    pub(crate) fn split(&mut self) -> Self {
        self.below(2);
        Self::new(self.0)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).unwrap_or(0)
    }

    pub(crate) fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    /// One of the later ones, mostly.
    pub(crate) fn recent<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        let among = of.len().min(8);
        if among == 0 { None } else { of.get(of.len() - 1 - self.below(among)) }
    }
}
