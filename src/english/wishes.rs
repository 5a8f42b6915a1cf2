//! Whether somebody says how things are to be from now on, in words that often say so. It lifts what is found; what is kept
//! for ever is judged by [`moments`](crate::english::moments).

use crate::english::lists::{List, list, spaced};

static WISHES: List = list!("wishes");

/// `always`, `from now on`, `I'd rather`.
pub(crate) fn states_wish(text: &str) -> bool {
    /// What is pasted behind it says nothing of wishes.
    const LOOKED_AT: usize = 4_096;
    WISHES.is_part_of(&spaced(&text[..text.floor_char_boundary(LOOKED_AT)]))
}
