//! Refused.
