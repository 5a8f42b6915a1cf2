//! The arithmetic of a transformer: matrix products, normalization, softmax, GELU.
//!
//! Every machine and every instruction set gives the same numbers: sums are computed in a fixed order, from products and
//! sums that IEEE 754 rounds in exactly one way, and exp and erf are polynomials. Loops run over arrays of fixed length,
//! which the compiler turns into vector instructions for each target.

#![expect(clippy::inline_always, reason = "what is not inlined is not compiled for each instruction set")]

use multiversion::multiversion;

/// How many outputs are computed at a time: one register of 512 bits, or two of 256.
const LANES: usize = 16;
/// How many rows are computed at a time: with the weights and one number, they fill the registers of 256-bit machines.
const ROWS: usize = 6;

/// Computes `x W + b` for rows `x`.
///
/// Invariant: `panels` holds the weights in groups of 16 outputs, `inputs` arrays per group, padded with zeros.
#[derive(Debug)]
pub(super) struct Linear {
    inputs: usize,
    outputs: usize,
    panels: Vec<[f32; LANES]>,
    bias: Vec<[f32; LANES]>,
}

impl Linear {
    /// Creates it from weights with a row per output, as models are stored, and one bias per output.
    pub(super) fn new(weights: &[f32], bias: &[f32]) -> Self {
        let outputs = bias.len();
        let inputs = weights.len() / outputs.max(1);
        let mut panels = vec![[0.0; LANES]; outputs.div_ceil(LANES) * inputs];
        for (output, row) in weights.chunks_exact(inputs.max(1)).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                panels[output / LANES * inputs + input][output % LANES] = weight;
            }
        }
        let bias = bias.chunks(LANES).map(|chunk| std::array::from_fn(|at| *chunk.get(at).unwrap_or(&0.0)));
        Self { inputs, outputs, panels, bias: bias.collect() }
    }

    /// Returns a row of outputs for each row of inputs.
    pub(super) fn apply(&self, rows: &[f32]) -> Vec<f32> {
        let count = rows.len() / self.inputs;
        let mut results = vec![0.0; count * self.outputs];
        multiply(
            &tiled(rows, self.inputs),
            self.inputs,
            &self.panels,
            &self.bias,
            &mut results,
            self.outputs,
        );
        results
    }
}

/// Interleaves the numbers of six rows, input by input; missing rows are filled with zeros.
fn tiled(rows: &[f32], inputs: usize) -> Vec<[f32; ROWS]> {
    let mut tiles = Vec::with_capacity(rows.len().div_ceil(ROWS));
    for tile in rows.chunks(ROWS * inputs) {
        tiles.extend(
            (0..inputs)
                .map(|at| std::array::from_fn(|row| tile.get(row * inputs + at).copied().unwrap_or(0.0))),
        );
    }
    tiles
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn multiply(
    tiles: &[[f32; ROWS]],
    inputs: usize,
    panels: &[[f32; LANES]],
    bias: &[[f32; LANES]],
    results: &mut [f32],
    outputs: usize,
) {
    // The weights are larger than the rows: each panel is read once, for all rows.
    for (at, (panel, bias)) in panels.chunks_exact(inputs).zip(bias).enumerate() {
        let columns = at * LANES..outputs.min((at + 1) * LANES);
        for (tile, results) in tiles.chunks_exact(inputs).zip(results.chunks_mut(ROWS * outputs)) {
            let sums = tile_product(tile, panel, bias);
            for (sums, row) in sums.iter().zip(results.chunks_exact_mut(outputs)) {
                row[columns.clone()].copy_from_slice(&sums[..columns.len()]);
            }
        }
    }
}

/// Multiplies six rows by the weights of 16 outputs. The sums of each row are a separate value, which the compiler keeps in
/// a register; in a loop over rows it does not, and takes ten times as long.
#[inline(always)]
fn tile_product(tile: &[[f32; ROWS]], panel: &[[f32; LANES]], bias: &[f32; LANES]) -> [[f32; LANES]; ROWS] {
    let mut sums = [*bias; ROWS];
    for (numbers, weights) in tile.iter().zip(panel) {
        sums = [
            added(sums[0], numbers[0], weights),
            added(sums[1], numbers[1], weights),
            added(sums[2], numbers[2], weights),
            added(sums[3], numbers[3], weights),
            added(sums[4], numbers[4], weights),
            added(sums[5], numbers[5], weights),
        ];
    }
    sums
}

#[inline(always)]
fn added(sums: [f32; LANES], number: f32, weights: &[f32; LANES]) -> [f32; LANES] {
    std::array::from_fn(|at| sums[at] + number * weights[at])
}

/// Scales each row to mean 0 and variance 1, then by weights and biases (Ba et al. 2016).
#[derive(Debug)]
pub(super) struct LayerNorm {
    pub(super) weights: Vec<f32>,
    pub(super) bias: Vec<f32>,
    /// Added to the variance to avoid division by zero.
    pub(super) epsilon: f32,
}

impl LayerNorm {
    pub(super) fn apply(&self, rows: &mut [f32]) {
        normalize(rows, &self.weights, &self.bias, self.epsilon);
    }
}

#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2", "aarch64+neon"))]
fn normalize(rows: &mut [f32], weights: &[f32], bias: &[f32], epsilon: f32) {
    #[expect(clippy::cast_precision_loss, reason = "a row has fewer numbers than an f32 can count")]
    let count = weights.len() as f32;
    for row in rows.chunks_exact_mut(weights.len()) {
        let mean = sum(row.iter().copied()) / count;
        let variance = sum(row.iter().map(|number| (number - mean) * (number - mean))) / count;
        let scale = 1.0 / (variance + epsilon).sqrt();
        for (number, (weight, bias)) in row.iter_mut().zip(weights.iter().zip(bias)) {
            *number = (*number - mean) * scale * weight + bias;
        }
    }
}

/// Adds up the numbers in 16 parallel sums.
#[inline(always)]
fn sum(numbers: impl ExactSizeIterator<Item = f32>) -> f32 {
    let mut sums = [0.0; LANES];
    for (at, number) in numbers.enumerate() {
        sums[at % LANES] += number;
    }
    sums.iter().sum()
}

/// Replaces each number x by x times the share of a normal distribution below x (Hendrycks and Gimpel 2016).
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn gelu(numbers: &mut [f32]) {
    for number in numbers {
        *number *= 0.5 + 0.5 * erf(*number * std::f32::consts::FRAC_1_SQRT_2);
    }
}

/// Replaces each number by its hyperbolic tangent. Only classification heads and dense layers need it, for few numbers.
pub(super) fn tanh(numbers: &mut [f32]) {
    for number in numbers {
        *number = libm::tanhf(*number);
    }
}

/// The error function, to 5e-7: a rational approximation on -4..=4, outside of which the result is ±1 to all digits. The
/// coefficients are those of Eigen and XLA.
#[inline(always)]
fn erf(x: f32) -> f32 {
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let mut above = -2.726_142_3e-10;
    for term in
        [2.770_681_4e-8, -2.101_024e-6, -5.692_506_4e-5, -7.349_906_3e-4, -2.954_598e-3, -1.609_603_3e-2]
    {
        above = above * square + term;
    }
    let mut below = -1.456_607_2e-5;
    for term in [-2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2] {
        below = below * square + term;
    }
    x * above / below
}

/// Computes attention for one head: for each query the mean of `values`, weighted by the softmax of the query's products
/// with the keys. All are rows of `size` numbers, `count` of each; `results` has the same form.
#[multiversion(targets("x86_64+avx512f+avx512vl", "x86_64+avx2", "aarch64+neon"))]
pub(super) fn attend(queries: &[f32], keys: &[f32], values: &[f32], size: usize, results: &mut [f32]) {
    let count = queries.len() / size;
    #[expect(clippy::cast_precision_loss, reason = "a head has few numbers")]
    let scale = 1.0 / (size as f32).sqrt();
    // Transposes the keys: the dimension that is summed over is the outer one, so that sums run in parallel.
    let mut columns = vec![0.0; keys.len()];
    for (at, row) in keys.chunks_exact(size).enumerate() {
        for (number, column) in row.iter().zip(columns.chunks_exact_mut(count)) {
            column[at] = number * scale;
        }
    }
    let mut weights = vec![0.0; count];
    for (query, result) in queries.chunks_exact(size).zip(results.chunks_exact_mut(size)) {
        weights.fill(0.0);
        for (number, column) in query.iter().zip(columns.chunks_exact(count)) {
            for (weight, key) in weights.iter_mut().zip(column) {
                *weight += number * key;
            }
        }
        let largest = weights.iter().fold(f32::NEG_INFINITY, |largest, &weight| largest.max(weight));
        for weight in &mut weights {
            *weight = exp(*weight - largest);
        }
        let all = sum(weights.iter().copied());
        result.fill(0.0);
        for (weight, value) in weights.iter().zip(values.chunks_exact(size)) {
            let share = weight / all;
            for (result, value) in result.iter_mut().zip(value) {
                *result += share * value;
            }
        }
    }
}

/// e^x for x of 0 or less, with a relative error of 2e-7; below -87 it is e^-87. The polynomial is that of Cephes.
#[inline(always)]
fn exp(x: f32) -> f32 {
    // Adding this constant rounds to an integer, and leaves the integer in the low bits.
    const ROUNDER: f32 = 12_582_912.0;
    let x = x.max(-87.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUNDER;
    let twos = shifted - ROUNDER;
    // ln 2 in two parts, the first with few digits, so that its product is exact.
    let rest = x - twos * 0.693_359_4 + twos * 2.121_944_4e-4;
    let mut power = 1.987_569_1e-4;
    for term in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5] {
        power = power * rest + term;
    }
    let power = power * rest * rest + rest + 1.0;
    // 2^n, by its exponent's bits.
    power * f32::from_bits(shifted.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127) << 23)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pseudo-random numbers from -1 to 1.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from(u16::try_from(state >> 16).unwrap()) / 32_768.0 - 1.0
        };
        std::iter::repeat_with(next).take(count).collect()
    }

    #[track_caller]
    fn check_near(found: &[f32], expected: &[f64], tolerance: f64) {
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < tolerance, "{found} for {expected}");
        }
    }

    #[test]
    fn products_are_those_of_plain_loops() {
        for (count, inputs, outputs) in [(1, 1, 1), (6, 8, 16), (7, 5, 17), (13, 48, 40)] {
            let (rows, weights) = (numbers(count * inputs, 1), numbers(outputs * inputs, 2));
            let bias = numbers(outputs, 3);
            let mut expected = Vec::new();
            for row in rows.chunks(inputs) {
                for (weights, bias) in weights.chunks(inputs).zip(&bias) {
                    let products = row.iter().zip(weights).map(|(a, b)| f64::from(*a) * f64::from(*b));
                    expected.push(f64::from(*bias) + products.sum::<f64>());
                }
            }
            check_near(&Linear::new(&weights, &bias).apply(&rows), &expected, 1e-5);
        }
    }

    #[test]
    fn exp_and_erf_are_near_the_true_ones() {
        for step in 0..=8_700_u16 {
            let x = -f32::from(step) / 100.0;
            let expected = libm::exp(x.into());
            assert!((f64::from(exp(x)) / expected - 1.0).abs() < 2e-7, "{x}");
        }
        assert!(exp(-1e30) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
        for step in -5_000..=5_000_i16 {
            let x = f32::from(step) / 1_000.0;
            assert!((f64::from(erf(x)) - libm::erf(x.into())).abs() < 5e-7, "{x}");
        }
    }

    #[test]
    fn rows_are_normalized() {
        let norm = LayerNorm { weights: vec![2.0; 20], bias: vec![1.0; 20], epsilon: 1e-12 };
        let mut rows = numbers(40, 4);
        norm.apply(&mut rows);
        for row in rows.chunks(20) {
            let mean = row.iter().sum::<f32>() / 20.0;
            let variance = row.iter().map(|number| (number - mean).powi(2)).sum::<f32>() / 20.0;
            assert!((mean - 1.0).abs() < 1e-5 && (variance - 4.0).abs() < 1e-4, "{mean} {variance}");
        }
        let mut equal = vec![3.0; 20];
        norm.apply(&mut equal);
        check_near(&equal, &[1.0; 20], 1e-6);
    }

    #[test]
    fn attention_is_a_weighted_mean_of_values() {
        let (size, count) = (3, 5);
        let [queries, keys, values] = [5, 6, 7].map(|seed| numbers(size * count, seed));
        let mut expected = Vec::new();
        for query in queries.chunks(size) {
            let product = |key: &[f32]| -> f64 {
                query.iter().zip(key).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
            };
            let weights: Vec<f64> =
                keys.chunks(size).map(|key| libm::exp(product(key) / 3.0_f64.sqrt())).collect();
            let all: f64 = weights.iter().sum();
            for at in 0..size {
                let values = values.chunks(size).map(|value| f64::from(value[at]));
                expected.push(weights.iter().zip(values).map(|(weight, value)| weight / all * value).sum());
            }
        }
        let mut found = vec![f32::NAN; size * count];
        attend(&queries, &keys, &values, size, &mut found);
        check_near(&found, &expected, 1e-6);
    }
}
