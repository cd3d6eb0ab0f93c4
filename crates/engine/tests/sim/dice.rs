//! Chance from a seed (SplitMix64, Steele, Lea and Flood 2014), and chance that depends on a name alone: what happens
//! to an attempt must not depend on which of two attempts asked first.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

#[derive(Debug, Clone)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Dice of their own for a name.
    pub fn named(&self, name: impl std::hash::Hash) -> Self {
        let mut hasher = DefaultHasher::new();
        (self.0, name).hash(&mut hasher);
        Self(hasher.finish())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// 0 to `n - 1`.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).unwrap()
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    /// The same things in another order (Fisher and Yates).
    pub fn shuffled<T, const N: usize>(mut self, mut things: [T; N]) -> [T; N] {
        for left in (1..N).rev() {
            things.swap(left, self.below(left + 1));
        }
        things
    }
}
