//! All vectors of one user in one space, contiguous in memory, and the scan that compares a query with each.

use std::{sync::Mutex, thread};

use multiversion::multiversion;

use crate::embed::quantize::{self, Vector};

/// Rows are padded to a multiple of this many numbers: a cache line, and the widest register there is.
const BLOCK: usize = 64;
/// The length of the built-in embedder's vectors, for which there is a faster loop.
const BUILT_IN_DIMS: usize = 256;
/// From this many rows, about 8 MB, a second thread is worth the 30 microseconds that it takes to start.
const ROWS_WORTH_A_THREAD: usize = if cfg!(test) { 64 } else { 32_768 };
/// How many rows a thread takes at a time, about 1 MB: a thread whose core is busy with other work takes fewer.
const ROWS_AT_A_TIME: usize = if cfg!(test) { 16 } else { 4_096 };

/// The vectors of one user in one space.
///
/// Invariant: for each of `rows`, `numbers` holds `stride` numbers, of which those past `dims` are zero, and `lengths` holds
/// the vector's length, never zero.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    dims: usize,
    stride: usize,
    numbers: Vec<i8>,
    lengths: Vec<f64>,
    /// The owner of each row's vector, and the piece that it is the vector of.
    rows: Vec<(u32, u8)>,
}

impl Matrix {
    /// Creates an empty matrix of rows of `dims` numbers.
    pub(crate) fn new(dims: usize) -> Self {
        let stride = dims.next_multiple_of(BLOCK);
        Self { dims, stride, numbers: Vec::new(), lengths: Vec::new(), rows: Vec::new() }
    }

    /// Adds the vector of one piece of `owner`. If it has another length or only zeros, adds nothing and returns false,
    /// because it could match nothing.
    pub(crate) fn push(&mut self, owner: u32, piece: u8, numbers: &[i8]) -> bool {
        numbers.len() == self.dims && self.add(owner, piece, numbers.iter().copied())
    }

    /// Adds many vectors as they are stored: `dims` bytes for each of `owners`. Returns how many were added. Leaves out rows
    /// of zeros, and vectors or owners that have no counterpart.
    pub(crate) fn extend_from(&mut self, bytes: &[u8], owners: impl IntoIterator<Item = (u32, u8)>) -> usize {
        if self.dims == 0 {
            return 0;
        }
        let before = self.rows.len();
        for (row, (owner, piece)) in bytes.chunks_exact(self.dims).zip(owners) {
            self.add(owner, piece, row.iter().map(|byte| byte.cast_signed()));
        }
        self.rows.len() - before
    }

    fn add(&mut self, owner: u32, piece: u8, numbers: impl Iterator<Item = i8>) -> bool {
        let start = self.numbers.len();
        self.numbers.extend(numbers);
        let squares = quantize::squares(&self.numbers[start..]);
        if squares == 0 {
            self.numbers.truncate(start);
            return false;
        }
        self.numbers.resize(start + self.stride, 0);
        self.lengths.push(f64::from(squares).sqrt());
        self.rows.push((owner, piece));
        true
    }

    /// Reserves room for this many more bytes of vectors in one step: growing step by step would copy the existing ones each
    /// time.
    pub(crate) fn reserve(&mut self, bytes: usize) {
        let rows = bytes / self.dims.max(1);
        self.numbers.reserve_exact(rows * self.stride);
        self.lengths.reserve_exact(rows);
        self.rows.reserve_exact(rows);
    }

    /// Returns the size in memory, in bytes.
    pub(crate) fn len_bytes(&self) -> usize {
        self.numbers.capacity()
            + self.lengths.capacity() * size_of::<f64>()
            + self.rows.capacity() * size_of::<(u32, u8)>()
    }

    /// Returns each row's owner and piece, and its cosine with the query, or 0 if that is negative, in the order in which
    /// rows were added. A query of another length matches nothing.
    pub(crate) fn scan(&self, query: &Vector) -> impl Iterator<Item = (u32, u8, f32)> {
        self.rows.iter().zip(self.cosines(query)).map(|(&(owner, piece), cosine)| (owner, piece, cosine))
    }

    /// Computes the cosines, for many rows on two threads: a scan is limited by memory, and with two threads takes half as
    /// long.
    fn cosines(&self, query: &Vector) -> Vec<f32> {
        if query.dims() != self.dims {
            return Vec::new();
        }
        let mut padded: Vec<i16> = query.numbers().iter().map(|&number| number.into()).collect();
        padded.resize(self.stride, 0);
        let length = query.length();
        let mut cosines = vec![0.0; self.rows.len()];
        let is_worth_a_thread = cosines.len() >= ROWS_WORTH_A_THREAD;
        let numbers = self.numbers.chunks(ROWS_AT_A_TIME * self.stride.max(1));
        let lengths = self.lengths.chunks(ROWS_AT_A_TIME);
        let parts = Mutex::new(numbers.zip(lengths).zip(cosines.chunks_mut(ROWS_AT_A_TIME)));
        let work = || {
            let mut dots = [0; ROWS_AT_A_TIME];
            let next = || parts.lock().expect("no one panics while holding the parts").next();
            while let Some(((numbers, lengths), cosines)) = next() {
                dot_products(numbers, &padded, &mut dots);
                quantize::cosines(&dots, lengths, length, cosines);
            }
        };
        thread::scope(|scope| {
            if is_worth_a_thread {
                // If the system provides no thread, this one does all of it.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        cosines
    }
}

/// Computes the dot product of each row with the query, which is as long as a row. Integer sums are the same in any order,
/// so the versions for all targets give the same result.
#[multiversion(targets("x86_64+avx512f+avx512bw", "x86_64+avx2", "aarch64+neon"))]
fn dot_products(rows: &[i8], query: &[i16], dots: &mut [i32]) {
    if let Ok(query) = query.try_into() {
        return built_in_dot_products(rows, query, dots);
    }
    for (row, dot) in rows.chunks_exact(query.len()).zip(dots) {
        *dot = row.iter().zip(query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    }
}

/// The same for rows of the built-in embedder's length: 1.3 times as fast, because the compiler knows the length. Inlined,
/// so that it is compiled for each target.
#[inline]
fn built_in_dot_products(rows: &[i8], query: &[i16; BUILT_IN_DIMS], dots: &mut [i32]) {
    for (row, dot) in rows.as_chunks::<BUILT_IN_DIMS>().0.iter().zip(dots) {
        *dot = row.iter().zip(query).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scanned(matrix: &Matrix, query: &Vector) -> Vec<(u32, u8, u32)> {
        matrix.scan(query).map(|(owner, piece, cosine)| (owner, piece, cosine.to_bits())).collect()
    }

    fn bytes(numbers: &[i8]) -> Vec<u8> {
        numbers.iter().map(|number| number.cast_unsigned()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_scan_gives_what_one_by_one_comparison_gives(
            (dims, rows, query) in prop_oneof![1_usize..150, Just(BUILT_IN_DIMS)].prop_flat_map(|dims| {
                let row = prop::collection::vec(any::<i8>(), dims);
                (Just(dims), prop::collection::vec(row.clone(), 0..300), row)
            }),
        ) {
            let Some(query) = Vector::from_bytes(&bytes(&query)) else { return Ok(()) };
            let mut pushed = Matrix::new(dims);
            let (mut expected, mut known) = (Vec::new(), 0);
            for (owner, row) in (0..).zip(&rows) {
                let vector = Vector::from_bytes(&bytes(row));
                prop_assert_eq!(pushed.push(owner, 7, row), vector.is_some());
                known += usize::from(vector.is_some());
                let cosine = vector.map(|vector| vector.cosine(&query).max(0.0));
                expected.extend(cosine.map(|cosine| (owner, 7, cosine.to_bits())));
            }
            prop_assert_eq!(scanned(&pushed, &query), expected.clone());

            let mut loaded = Matrix::new(dims);
            let all: Vec<u8> = rows.iter().flat_map(|row| bytes(row)).collect();
            prop_assert_eq!(loaded.extend_from(&all, (0..).map(|owner| (owner, 7))), known);
            prop_assert_eq!(scanned(&loaded, &query), expected);
        }
    }

    #[test]
    fn what_cannot_match_is_left_out() {
        let mut matrix = Matrix::new(3);
        assert!(!matrix.push(1, 0, &[1, 2]));
        assert!(!matrix.push(1, 0, &[0, 0, 0]));
        assert_eq!(matrix.extend_from(&[0, 0, 0, 1, 2, 3, 9], [(1, 0), (2, 1), (3, 0)]), 1);
        assert_eq!(matrix.rows.len(), 1);
        assert!(matrix.len_bytes() >= BLOCK);
        assert_eq!(scanned(&matrix, &Vector::from_bytes(&[1, 2, 3]).unwrap()), [(2, 1, 1.0_f32.to_bits())]);
        assert_eq!(scanned(&matrix, &Vector::from_bytes(&[1, 2]).unwrap()), []);
        assert_eq!(Matrix::new(0).extend_from(&[1], [(1, 0)]), 0);
    }

    #[test]
    fn the_largest_sums_do_not_overflow() {
        let dims = crate::embed::MAX_DIMS as usize;
        let mut matrix = Matrix::new(dims);
        assert!(matrix.push(1, 0, &vec![i8::MIN; dims]));
        let query = Vector::of(&vec![-1.0; dims]).unwrap();
        assert_eq!(scanned(&matrix, &query), [(1, 0, 1.0_f32.to_bits())]);
    }
}
