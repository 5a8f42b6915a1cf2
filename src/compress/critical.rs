//! stub
use crate::model::{critical::CriticalRule, ids::SnapshotId, turn::Turn};
pub(crate) fn judge(turn: &Turn, _previous: Option<SnapshotId>) -> Vec<CriticalRule> {
    if turn.turn_number == 1 {
        vec![CriticalRule::FirstTurn]
    } else {
        turn.critical_rule.into_iter().collect()
    }
}
