//! The last look of each sensor at each subject: while it stands, nobody makes the sensor look again.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use crate::{
    model::{
        ids::MemoryId,
        sensor::{CheckVerdict, NewSensor},
        stored_time::StoredTime,
    },
    text::measure::ContentHash,
};

/// How many looks are remembered before those that no longer stand are forgotten.
const MOST: usize = 1_024;

/// What was looked at: a sensor, a subject and an expectation.
type Key = (String, String, String);
/// The last look at one thing. Whoever looks holds it, and others wait.
pub(crate) type Place = Arc<tokio::sync::Mutex<Option<LastLook>>>;

/// The last looks of all sensors of one open file.
#[derive(Debug, Default)]
pub(crate) struct LastLooks(Mutex<HashMap<Key, Place>>);

/// One look, and the memories that have got its result.
#[derive(Debug)]
pub(crate) struct LastLook {
    pub(crate) at: StoredTime,
    pub(crate) rest: Duration,
    pub(crate) verdict: CheckVerdict,
    /// The memories, each with the hash of its text then: the same look counts once for each.
    pub(crate) told: HashSet<(MemoryId, ContentHash)>,
}

impl LastLook {
    /// Whether the look stands. One in the future, from before the clock was set back, does not.
    pub(crate) fn stands(&self, now: StoredTime) -> bool {
        (now - self.at).to_std().is_ok_and(|age| age < self.rest)
    }
}

impl LastLooks {
    /// Returns the place of the last look at this.
    pub(crate) fn of(&self, what: &NewSensor, now: StoredTime) -> Place {
        let expect = serde_json::Value::Object(what.expect.fields().clone()).to_string();
        let key = (what.sensor.clone(), what.subject.clone(), expect);
        // A place is put in or taken out as a whole, so the map is sound even if another holder of the lock panicked.
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() >= MOST {
            let stands = |place: &Place| {
                place.try_lock().map_or(true, |look| look.as_ref().is_some_and(|look| look.stands(now)))
            };
            places.retain(|_, place| Arc::strong_count(place) > 1 || stands(place));
        }
        Arc::clone(places.entry(key).or_default())
    }
}
