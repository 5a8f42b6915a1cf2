//! The open connections: which of them wait for a request, and which one is closed when a new one needs its place.
//!
//! Whoever can connect can leave connections open that send nothing, without a key. So a new connection never waits for
//! such a one to end: at the limit, the connection that has waited longest for its head is closed.

use std::{
    collections::BTreeMap,
    future::pending,
    net::{IpAddr, Ipv6Addr},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::body::Body;
use http_body_util::BodyExt;
use tokio::{sync::Notify, time::Instant};

/// The places beyond the limit, for connections that only ask whether the server is healthy.
const KEPT_FOR_HEALTH: usize = 16;
/// The maximum number of connections of one peer, unless that is this machine or a proxy.
const MOST_OF_A_PEER: usize = 64;
/// How long a connection may wait for its head before it can be closed for another one, so that a client whose head is on its
/// way is not closed for those that connect faster than heads are sent.
const GRACE: Duration = Duration::from_millis(20);

/// The open connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    limit: usize,
    begun: Instant,
    /// How many wait after a request: as long as there is none, nobody looks for one.
    idle: Arc<AtomicUsize>,
    open: Mutex<Open>,
}

#[derive(Debug, Default)]
struct Open {
    /// In the order in which they were admitted.
    by_number: BTreeMap<u64, Arc<Connection>>,
    /// How many of them are beyond the limit.
    beyond_limit: usize,
    next: u64,
}

/// One open connection.
#[derive(Debug)]
pub(super) struct Connection {
    /// `None` if the number of connections from there is not limited.
    peer: Option<IpAddr>,
    /// Whether it is beyond the limit, so that it is only told whether the server is healthy.
    pub(super) is_beyond_limit: bool,
    begun: Instant,
    idle: Arc<AtomicUsize>,
    state: AtomicU64,
    closing: Notify,
}

/// The states of a connection. A larger number is one that waits: the microseconds since the server's start at which its wait
/// began, times two, plus one if it never had a request.
const BUSY: u64 = 0;
const CLOSED: u64 = 1;
/// Busy with a request that had arrived when the connection was closed for another one: it is answered, as the last one.
const LAST: u64 = 2;
const FIRST_WAIT: u64 = 4;

/// What becomes of a new connection.
#[derive(Debug)]
pub(super) enum Admission {
    /// It is open, as long as it has this place.
    Place(ConnectionPlace),
    /// It can be admitted after this time: those that wait have only just begun to.
    After(Duration),
    /// It is closed: of those in its way, none waits for a request.
    Refused,
}

/// Whether a connection was closed for another one.
#[derive(Debug, PartialEq, Eq)]
enum Closing {
    Done,
    /// The one that waits longest can be closed after this time.
    After(Duration),
}

/// An open connection's place, until it is dropped.
#[derive(Debug)]
pub(super) struct ConnectionPlace {
    pub(super) connection: Arc<Connection>,
    number: u64,
    of: Arc<Connections>,
}

impl Connections {
    /// Creates the connections of a server, at most `limit` and those that are kept for health.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, begun: Instant::now(), idle: Arc::default(), open: Mutex::default() }
    }

    /// Admits a connection from this peer, and closes another one if it needs to.
    pub(super) fn admit(self: &Arc<Self>, peer: Option<IpAddr>) -> Admission {
        let mut open = self.open();
        if let Some(peer) = peer {
            let is_theirs = |connection: &Connection| connection.peer == Some(peer);
            let theirs = open.by_number.values().filter(|connection| is_theirs(connection)).count();
            if theirs >= MOST_OF_A_PEER && self.close_one(&mut open, is_theirs) != Some(Closing::Done) {
                return Admission::Refused;
            }
        }
        let mut is_beyond_limit = false;
        if open.by_number.len() - open.beyond_limit >= self.limit {
            match self.close_one(&mut open, |connection| !connection.is_beyond_limit) {
                Some(Closing::Done) => {}
                Some(Closing::After(wait)) => return Admission::After(wait),
                None => is_beyond_limit = true,
            }
        }
        if is_beyond_limit
            && open.beyond_limit >= KEPT_FOR_HEALTH
            && self.close_one(&mut open, |connection| connection.is_beyond_limit) != Some(Closing::Done)
        {
            return Admission::Refused;
        }
        let connection = Arc::new(Connection {
            peer,
            is_beyond_limit,
            begun: self.begun,
            idle: Arc::clone(&self.idle),
            state: AtomicU64::new(waiting(self.begun, true)),
            closing: Notify::new(),
        });
        let number = open.next;
        open.next += 1;
        open.beyond_limit += usize::from(is_beyond_limit);
        open.by_number.insert(number, Arc::clone(&connection));
        Admission::Place(ConnectionPlace { connection, number, of: Arc::clone(self) })
    }

    /// Closes the connection that has waited longest, if one waits.
    pub(super) fn close_longest(&self) {
        let _ = self.close_one(&mut self.open(), |_| true);
    }

    /// Closes the one of these connections that has waited longest: first of those that had a request before, whose clients
    /// know how to connect again, then of those that never had one. Returns `None` if none of them waits.
    fn close_one(&self, open: &mut Open, of: impl Fn(&Connection) -> bool) -> Option<Closing> {
        let theirs = || open.by_number.iter().filter(|(_, connection)| of(connection));
        let mut closed = None;
        if self.idle.load(Ordering::Acquire) > 0 {
            let idle = theirs().filter(|(_, connection)| connection.is_idle());
            closed = idle.min_by_key(|(_, connection)| connection.state()).filter(|(_, idle)| idle.close());
        }
        let now = micros_since(self.begun);
        let mut soonest: Option<Duration> = None;
        if closed.is_none() {
            // The first of those that never had a request was admitted first, and so waits longest.
            closed = theirs().find(|(_, connection)| {
                let Some(since) = connection.waits_since() else { return false };
                let waited = Duration::from_micros(now.saturating_sub(since));
                let left = GRACE.saturating_sub(waited);
                if !left.is_zero() {
                    soonest = Some(soonest.map_or(left, |soonest| soonest.min(left)));
                    return false;
                }
                connection.close()
            });
        }
        let closed = closed.map(|(number, _)| *number);
        match closed {
            Some(number) => {
                open.remove(number);
                Some(Closing::Done)
            }
            None => soonest.map(Closing::After),
        }
    }

    /// Whether more than half of the places are taken.
    pub(super) fn is_crowded(&self) -> bool {
        self.open().by_number.len() > self.limit / 2
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        // No panic can leave the map half written.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn remove(&mut self, number: u64) {
        if let Some(connection) = self.by_number.remove(&number) {
            self.beyond_limit -= usize::from(connection.is_beyond_limit);
        }
    }
}

impl Connection {
    /// Completes when the connection has to close at once. One that answers its last request closes by itself.
    pub(super) async fn closed(&self) {
        self.closing.notified().await;
        if self.is_last() {
            pending::<()>().await;
        }
    }

    /// Marks the connection as busy with a request, until the guard is dropped.
    pub(super) fn begin(self: &Arc<Self>) -> Busy {
        self.change(|state| match state {
            CLOSED | LAST => LAST,
            _ => BUSY,
        });
        Busy(Arc::clone(self))
    }

    /// Marks the connection as one that waits for its client, although it has sent a request: one that is refused, whose
    /// body is still to come.
    pub(super) fn wait(&self) {
        self.change(|state| if state == BUSY { waiting(self.begun, true) } else { state });
    }

    /// Whether the connection has to close after its running request.
    pub(super) fn is_last(&self) -> bool {
        self.state() == LAST
    }

    /// Closes the connection if it still waits; returns whether it did.
    fn close(&self) -> bool {
        let was = self.change(|state| if state >= FIRST_WAIT { CLOSED } else { state });
        if was >= FIRST_WAIT {
            self.closing.notify_one();
        }
        was >= FIRST_WAIT
    }

    /// Since when it waits, if it does.
    fn waits_since(&self) -> Option<u64> {
        self.state().checked_sub(FIRST_WAIT).map(|since| since / 2)
    }

    fn is_idle(&self) -> bool {
        is_idle(self.state())
    }

    fn state(&self) -> u64 {
        self.state.load(Ordering::Acquire)
    }

    /// Changes the state, and returns what it was.
    fn change(&self, to: impl Fn(u64) -> u64) -> u64 {
        let changed = self.state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |state| Some(to(state)));
        let (Ok(was) | Err(was)) = changed;
        match (is_idle(was), is_idle(to(was))) {
            (true, false) => _ = self.idle.fetch_sub(1, Ordering::AcqRel),
            (false, true) => _ = self.idle.fetch_add(1, Ordering::AcqRel),
            _ => {}
        }
        was
    }
}

fn is_idle(state: u64) -> bool {
    state >= FIRST_WAIT && state.is_multiple_of(2)
}

/// Marks a connection as busy.
#[derive(Debug)]
pub(super) struct Busy(Arc<Connection>);

impl Drop for Busy {
    fn drop(&mut self) {
        let waits = waiting(self.0.begun, false);
        self.0.change(|state| if state == BUSY || state >= FIRST_WAIT { waits } else { state });
    }
}

fn waiting(begun: Instant, is_new: bool) -> u64 {
    FIRST_WAIT + 2 * micros_since(begun) + u64::from(is_new)
}

fn micros_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX >> 2)
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.connection.change(|_| CLOSED);
        self.of.open().remove(self.number);
    }
}

/// Returns the address whose connections are counted together, or `None` if they are not limited, as on this machine. A host
/// has a whole network of addresses of version 6, of which the first 64 bits are the same.
pub(super) fn counted_as(address: IpAddr) -> Option<IpAddr> {
    let address = address.to_canonical();
    if address.is_loopback() {
        return None;
    }
    Some(match address {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        IpAddr::V4(_) => address,
    })
}

/// Returns the body of an answer, until whose end its connection is busy.
pub(super) fn busy_until_end(body: Body, busy: Busy) -> Body {
    Body::new(body.map_err(move |error| {
        let _until_end = &busy;
        error
    }))
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    struct Tested(Arc<Connections>);

    impl Tested {
        fn new(limit: usize) -> Self {
            Self(Arc::new(Connections::new(limit)))
        }

        /// Admits a connection when those before it have waited long enough.
        async fn admit_from(&self, peer: Option<IpAddr>) -> Option<ConnectionPlace> {
            advance(GRACE).await;
            match self.0.admit(peer) {
                Admission::Place(place) => Some(place),
                _ => None,
            }
        }

        async fn admit(&self) -> ConnectionPlace {
            self.admit_from(None).await.unwrap()
        }

        async fn admit_some(&self, count: usize) -> Vec<ConnectionPlace> {
            let mut places = Vec::new();
            for _ in 0..count {
                places.push(self.admit().await);
            }
            places
        }
    }

    fn is_closed(place: &ConnectionPlace) -> bool {
        place.connection.state() == CLOSED
    }

    #[tokio::test(start_paused = true)]
    async fn the_longest_wait_goes_first() {
        let connections = Tested::new(3);
        let first = connections.admit_some(3).await;
        let _more = connections.admit_some(2).await;
        assert_eq!([0, 1, 2].map(|at| is_closed(&first[at])), [true, true, false]);
        assert!(connections.0.is_crowded());
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_connection_goes_before_one_that_never_had_a_request() {
        let connections = Tested::new(2);
        let (new, idle) = (connections.admit().await, connections.admit().await);
        drop(idle.connection.begin());
        let _third = connections.admit().await;
        assert_eq!([&new, &idle].map(is_closed), [false, true]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_whose_head_may_be_on_its_way_is_not_closed() {
        let connections = Tested::new(1);
        let first = connections.admit().await;
        advance(GRACE / 4).await;
        let Admission::After(wait) = connections.0.admit(None) else { panic!("it has to wait") };
        assert_eq!((wait, is_closed(&first)), (GRACE / 4 * 3, false));
    }

    #[tokio::test(start_paused = true)]
    async fn if_every_connection_is_busy_a_few_more_are_admitted_for_health_alone() {
        let connections = Tested::new(2);
        let busy = connections.admit_some(2).await;
        let running: Vec<_> = busy.iter().map(|place| place.connection.begin()).collect();
        let beyond = connections.admit_some(KEPT_FOR_HEALTH).await;
        assert!(beyond.iter().all(|place| place.connection.is_beyond_limit));
        let next = connections.admit().await;
        assert!(is_closed(&beyond[0]) && !is_closed(&beyond[1]) && next.connection.is_beyond_limit);
        let answering: Vec<_> =
            beyond.iter().skip(1).chain([&next]).map(|of| of.connection.begin()).collect();
        assert!(connections.admit_from(None).await.is_none());
        drop(running);
        assert!(!connections.admit().await.connection.is_beyond_limit);
        drop(answering);
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_takes_its_places_from_itself() {
        let connections = Tested::new(1_000);
        let [peer, other] = ["192.0.2.7", "192.0.2.8"].map(|address| counted_as(address.parse().unwrap()));
        let other = connections.admit_from(other).await.unwrap();
        let mut theirs = Vec::new();
        for _ in 0..=MOST_OF_A_PEER {
            theirs.push(connections.admit_from(peer).await.unwrap());
        }
        assert!(is_closed(&theirs[0]) && !is_closed(&theirs[1]) && !is_closed(&other));
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_that_had_arrived_when_its_connection_was_closed_is_the_last_one() {
        let connections = Tested::new(1);
        let first = connections.admit().await;
        let second = connections.admit().await;
        drop(second.connection.begin());
        let _last = first.connection.begin();
        assert_eq!([&first, &second].map(|place| place.connection.is_last()), [true, false]);
    }

    #[test]
    fn addresses_of_one_host_count_together_and_this_machine_does_not_count() {
        let of = |address: &str| counted_as(address.parse().unwrap());
        assert_eq!([of("127.0.0.9"), of("::1"), of("::ffff:127.0.0.1")], [None; 3]);
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2:ffff::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.7"), of("192.0.2.7"));
    }
}
