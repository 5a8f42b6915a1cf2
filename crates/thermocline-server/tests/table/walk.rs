//! A walk over the table: what holds of every row.
