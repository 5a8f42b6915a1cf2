//! Vectors as they are stored and compared: one byte per number, compared in integers, so that ranks are the same on every
//! machine.

use multiversion::multiversion;

/// The largest number of a quantized vector; the smallest is its negative.
const LARGEST: f32 = 127.0;

/// A direction, as integers from -127 to 127.
///
/// Invariant: not all numbers are zero, and `squares` is the sum of their squares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Vector {
    numbers: Vec<i8>,
    squares: u32,
}

impl Vector {
    /// Returns the direction of `floats`, scaled so that the largest absolute number becomes 127. `None` if there is no
    /// direction: all numbers are zero, or one is not finite.
    pub(crate) fn of(floats: &[f32]) -> Option<Self> {
        if !floats.iter().all(|float| float.is_finite()) {
            return None;
        }
        let largest = floats.iter().fold(0.0_f32, |largest, float| largest.max(float.abs()));
        if largest == 0.0 {
            return None;
        }
        // Divides first: 127 times a large number may overflow.
        let numbers: Vec<i8> = floats.iter().map(|float| quantized(float / largest)).collect();
        Self::of_numbers(numbers)
    }

    /// Reads the vector from [`bytes`](Self::bytes). `None` if all are zero.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::of_numbers(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    fn of_numbers(numbers: Vec<i8>) -> Option<Self> {
        let squares = squares(&numbers);
        (squares > 0).then_some(Self { numbers, squares })
    }

    /// Returns the stored form: one byte per number.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.numbers.iter().map(|number| number.cast_unsigned()).collect()
    }

    pub(crate) fn numbers(&self) -> &[i8] {
        &self.numbers
    }

    pub(crate) fn dims(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the length, never zero. It is the root of an integer, which IEEE 754 rounds in exactly one way.
    pub(crate) fn length(&self) -> f64 {
        f64::from(self.squares).sqrt()
    }

    /// Returns the cosine of the angle between two vectors, from -1 to 1. Zero for vectors with different numbers of dims.
    pub(crate) fn cosine(&self, other: &Self) -> f32 {
        if self.dims() != other.dims() {
            return 0.0;
        }
        let products = self.numbers.iter().zip(&other.numbers).map(|(&a, &b)| i32::from(a) * i32::from(b));
        cosine(products.sum(), self.length(), other.length())
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the share of the largest number lies in -1..=1")]
fn quantized(share: f32) -> i8 {
    (share * LARGEST).round() as i8
}

/// Returns the sum of the squares.
#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2", "aarch64+neon"))]
pub(crate) fn squares(numbers: &[i8]) -> u32 {
    numbers.iter().map(|&number| i32::from(number) * i32::from(number)).sum::<i32>().unsigned_abs()
}

/// Computes the cosine of each vector with another, from their dot products and lengths; 0 instead of a negative one.
#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2", "aarch64+neon"))]
pub(crate) fn cosines(dots: &[i32], lengths: &[f64], other_length: f64, cosines: &mut [f32]) {
    for ((&dot, &length), into) in dots.iter().zip(lengths).zip(cosines) {
        *into = cosine(dot.max(0), length, other_length);
    }
}

/// Computes the cosine from a dot product and the two lengths. Up to here there are only integers; then come a product and a
/// division, which IEEE 754 rounds in exactly one way.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "a cosine needs no more digits than an f32 has")]
fn cosine(dot: i32, length: f64, other_length: f64) -> f32 {
    (f64::from(dot) / (length * other_length)) as f32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(floats: &[f32], expected: Option<&[i8]>) {
        assert_eq!(Vector::of(floats).as_ref().map(Vector::numbers), expected, "{floats:?}");
    }

    #[test]
    fn the_largest_number_becomes_127() {
        check(&[1.0, -0.5, 0.0], Some(&[127, -64, 0]));
        check(&[-2e-30, 1e-30], Some(&[-127, 64]));
        check(&[f32::MAX, f32::MIN, 1.0], Some(&[127, -127, 0]));
        check(&[f32::MIN_POSITIVE / 4.0, 0.0], Some(&[127, 0]));
    }

    #[test]
    fn what_has_no_direction_is_no_vector() {
        check(&[], None);
        check(&[0.0, -0.0], None);
        check(&[1.0, f32::NAN], None);
        check(&[1.0, f32::INFINITY], None);
        assert_eq!(Vector::from_bytes(&[0, 0]), None);
    }

    #[test]
    fn cosines_are_those_of_angles() {
        let at = |x: f32, y: f32| Vector::of(&[x, y]).unwrap();
        let east = at(3.0, 0.0);
        for (x, y, cosine) in
            [(9.0, 0.0, 1.0_f32), (-1.0, 0.0, -1.0), (0.0, 2.0, 0.0), (1.0, 1.0, 0.5_f32.sqrt())]
        {
            assert!((at(x, y).cosine(&east) - cosine).abs() < 1e-6, "{x} {y}");
        }
        assert!(at(1.0, 0.0).cosine(&Vector::of(&[1.0, 0.0, 0.0]).unwrap()).abs() < f32::EPSILON);
    }

    proptest! {
        #[test]
        fn bytes_come_back(floats in prop::collection::vec(-10.0_f32..10.0, 1..300)) {
            if let Some(vector) = Vector::of(&floats) {
                prop_assert_eq!(Vector::from_bytes(&vector.bytes()), Some(vector.clone()));
                prop_assert!((vector.cosine(&vector) - 1.0).abs() < 1e-6);
            }
        }

        #[test]
        fn quantized_cosines_are_near_the_true_ones(
            a in prop::collection::vec(-1.0_f32..1.0, 256),
            b in prop::collection::vec(-1.0_f32..1.0, 256),
        ) {
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
            let cosine = dot(&a, &b) / (dot(&a, &a) * dot(&b, &b)).sqrt();
            let found = Vector::of(&a).unwrap().cosine(&Vector::of(&b).unwrap());
            prop_assert!((f64::from(found) - cosine).abs() < 5e-3, "{found} for {cosine}");
        }
    }
}
