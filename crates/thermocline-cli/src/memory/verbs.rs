//! The verbs of `thermocline memory` and their help texts.
#![expect(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "the comments are the help, which shows no Markdown"
)]

use clap::Subcommand;

use crate::memory::{
    args::{ChangeArgs, EditArgs, SaveArgs, ShowArgs, SupersedeArgs},
    import::ImportFilesArgs,
    life_args::{DecideArgs, DueArgs, ReviewArgs, UsedArgs},
    list_args::{
        BesideArgs, EpisodesArgs, ForgetArgs, ListArgs, MemoryEraseArgs, NoteArgs, RelateArgs, TagsArgs,
        UnrelateArgs,
    },
    sensor_args::{UnwatchArgs, ValidateArgs, WatchArgs, WatchersArgs},
    tending_args::{CoreArgs, LiftArgs, PageArgs, QuarantineArgs, TendArgs, UndoArgs},
};

#[derive(Debug, Subcommand)]
pub(crate) enum MemoryVerb {
    /// Save something that is known: a title, a text, a kind.
    ///
    /// The same text is saved only once. If it is already known, the existing memory gets the tags of both and the fields it
    /// lacked; other differing fields are reported. If it was archived or forgotten, it becomes active again, unless a
    /// person rejected it within 30 days. If a less trusted memory was saved before, it becomes the words of the more
    /// trusted source. A memory saved into a slot replaces the slot's current memory, if it is trusted at least as much
    /// (the user's words yield only to the user's); otherwise it waits, archived, for a person's decision. The user's
    /// words (--origin user) are trusted more than the assistant's, and the assistant's more than a tool's or a document's.
    ///
    /// With --batch, each line of the file is {"title":"...","content":"...","kind":"fix","tags":["redis"]}, optionally with
    /// summary, entities, steps, importance, confidence, reliability, frequency, information_type, volatility,
    /// validity_window_s, project, slot, task_type, pinned, outcome, session, caller_id, said_at (RFC 3339), origin, and
    /// sources: the turns it comes from, by name, or {"turn":"...","quote":"..."}. text is accepted for content, and id for
    /// caller_id; without a title, the first sentence becomes the title. Other fields and empty lines are ignored. All lines
    /// are read before the first is saved; if a save is interrupted, just run it again. A line whose caller_id already
    /// belongs to a different text, for example because that was edited, is skipped and counted. Options apply to every line
    /// that does not set its own value, and --tag to every line; a line's origin may not be more trusted than --origin.
    #[command(after_help = "Examples:\n  \
        thermocline memory save --user alex \"Redis timeouts\" \"Keepalive fixes them.\" --kind fix\n  \
        thermocline memory save --user alex --kind configuration --slot api:port \"The API runs on port 8443.\"\n  \
        thermocline memory save --user alex \"Design notes\" --content-file notes.md --source s1/3\n  \
        thermocline memory save --user alex --batch memories.jsonl --origin user")]
    Save(Box<SaveArgs>),

    /// Import files of other programs as memories: markdown and JSON, or folders of them.
    ///
    /// Reads markdown with or without front matter (the cognitive and the continuum paper), and the days and JSON of the
    /// entry paper. All are imported as claims: with the origin --origin, confidence at most .80, and frequency at most mid;
    /// other data in a file is stored, but not used. A file's own id becomes the memory's caller id, so importing the same
    /// files again saves nothing. Unreadable files are listed with the line of the error, and the others are saved. In
    /// folders, hidden files and files that start with an underscore are skipped. To keep memories as files, see vault.
    #[command(
        after_help = "Examples:\n  thermocline memory import --user alex notes/graph 2026-01-29.md\n  \
                            thermocline memory import --user alex --restore notes"
    )]
    Import(ImportFilesArgs),

    /// Show a memory in full: what it says, how well it holds, what it comes from, what it is related to.
    #[command(after_help = "Examples:\n  thermocline memory show --user alex mem_019e8d20\n  \
                            thermocline --json memory show --user alex redis-fix\n  \
                            thermocline memory show --user alex redis-fix --format entry > redis-fix.json")]
    Show(ShowArgs),

    /// List memories, newest first: active ones, unless --status or --all says otherwise.
    #[command(after_help = "Examples:\n  thermocline memory list --user alex --tag redis --limit 20\n  \
                            thermocline memory list --user alex --kind decision --kind fix --all")]
    List(ListArgs),

    /// Change a memory's text or fields; fields that are not given stay.
    ///
    /// Its origin and trust stay too, unless little of its text is left: then its words become the editor's. Nobody can
    /// change a memory that is trusted more than they are. memory undo reverts an edit.
    #[command(after_help = "Examples:\n  \
        thermocline memory edit --user alex mem_019e8d20 --content \"Keepalive of 300 s fixes them.\"\n  \
        thermocline memory edit --user alex redis-fix --importance 0.9 --tag redis --tag production")]
    Edit(Box<EditArgs>),

    /// Keep a memory from fading, and from being archived by a rule.
    #[command(after_help = "Example:\n  thermocline memory pin --user alex redis-fix")]
    Pin(ChangeArgs),

    /// Let a memory fade again.
    #[command(after_help = "Example:\n  thermocline memory unpin --user alex redis-fix")]
    Unpin(ChangeArgs),

    /// Save a memory in place of another, which is kept as superseded.
    ///
    /// Takes the arguments of memory save, or --by with an existing memory.
    #[command(after_help = "Examples:\n  \
        thermocline memory supersede --user alex redis-fix \"Redis timeouts\" \"A pool of 20.\"\n  \
        thermocline memory supersede --user alex mem_019e8d20 --by mem_019e9f31")]
    Supersede(Box<SupersedeArgs>),

    /// Undo the newest operation on a memory that is not yet undone; repeat to go further back. There is no redo.
    ///
    /// Undoes an edit, a change of frequency or status, or a replacement: in all memories that it touched, or in none.
    /// memory history lists the operations. Checks cannot be undone, nor can the operations of somebody
    /// who is trusted more.
    ///
    /// With --group, one operation is undone as a whole: what memory tend moved, a quarantine, a merge.
    #[command(after_help = "Examples:\n  thermocline memory undo --user alex redis-fix\n  \
                            thermocline memory undo --user alex --group 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e")]
    Undo(UndoArgs),

    /// Forget a memory, or all that match a filter: they are kept, but hidden. memory undo brings them back.
    #[command(after_help = "Examples:\n  thermocline memory forget --user alex redis-fix\n  \
                            thermocline memory forget --user alex --tag draft --dry-run")]
    Forget(Box<ForgetArgs>),

    /// Erase a memory from the bytes of the file and its log, with its history, edges and episodes. It cannot be undone.
    #[command(after_help = "Example:\n  thermocline memory erase --user alex redis-fix --yes")]
    Erase(MemoryEraseArgs),

    /// Relate one memory to another: FROM TYPE TO.
    ///
    /// An existing edge of this type between the two is overwritten.
    #[command(after_help = "Example:\n  \
        thermocline memory relate --user alex redis-fix solves redis-drops --context \"as seen in May\"")]
    Relate(RelateArgs),

    /// Remove an edge between two memories, permanently.
    #[command(after_help = "Example:\n  \
        thermocline memory unrelate --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e")]
    Unrelate(UnrelateArgs),

    /// Show a memory's neighbours, the strongest edges first.
    #[command(after_help = "Example:\n  thermocline memory neighbours --user alex redis-fix")]
    Neighbours(BesideArgs),

    /// Show what was done to a memory, newest first, by whom and why. Undone operations are marked.
    #[command(after_help = "Example:\n  thermocline memory history --user alex redis-fix")]
    History(BesideArgs),

    /// List what happened, newest first: memories created, notes of the day, uses.
    #[command(after_help = "Examples:\n  thermocline memory episodes --user alex --since 2026-03-01\n  \
                            thermocline memory episodes --user alex --role use --limit 20")]
    Episodes(EpisodesArgs),

    /// Keep a note of the day: something that happened, but is not a memory.
    #[command(after_help = "Example:\n  \
        thermocline memory note --user alex \"Moved the bot to websockets\" --kind decision --tag major-domo")]
    Note(Box<NoteArgs>),

    /// List the tags of the active memories, with the number of memories for each.
    #[command(after_help = "Examples:\n  thermocline memory tags --user alex\n  \
                            thermocline memory tags --user alex --entities --limit 20")]
    Tags(TagsArgs),

    /// Report that a memory was used, and how that ended.
    ///
    /// A success raises its confidence, a failure lowers it, and a correction halves it. After twenty uses in several
    /// sessions, with 95 % successes, it settles. A use reported again, with the same --caller-id or --receipt,
    /// counts once; if a use was reported without an outcome, the report that has one rates it. An archived memory becomes
    /// active again, unless it did not help.
    ///
    /// A report by somebody who is trusted less than the memory (see --origin) counts only with the --receipt of a context
    /// that showed it, and rates it once a day. memory undo takes a rated use back.
    #[command(after_help = "Examples:\n  \
        thermocline memory used --user alex redis-fix success --session s1 --project homelab\n  \
        thermocline memory used --user alex mem_019e8d20 failure --caller-id run-17")]
    Used(Box<UsedArgs>),

    /// List the memories that are due for another look, those first that have been due the longest.
    ///
    /// Only important memories become due: mid above an importance of 0.7, low above 0.8. The first time is a week after
    /// they were saved; after memory surfaced it is a month, a quarter and a year later. Each memory dismiss doubles the
    /// wait; the third is the last.
    #[command(after_help = "Examples:\n  thermocline memory due --user alex\n  \
                            thermocline memory due --user alex --on 2026-12-24 --limit 5")]
    Due(DueArgs),

    /// Report that you looked at a memory again; once a day.
    #[command(after_help = "Example:\n  thermocline memory surfaced --user alex redis-fix")]
    Surfaced(ChangeArgs),

    /// Report that you do not want to see a memory now; once a day, and the third time is the last.
    ///
    /// memory edit --resurfacing on makes it due again.
    #[command(after_help = "Example:\n  thermocline memory dismiss --user alex redis-fix")]
    Dismiss(ChangeArgs),

    /// List the questions about memories that wait for a person, oldest first.
    ///
    /// memory approve answers yes, memory reject no. If a memory has only one open review, both also accept the memory's
    /// name.
    #[command(after_help = "Examples:\n  thermocline memory review --user alex --kind contradiction\n  \
                            thermocline memory review --user alex --decided --limit 20")]
    Review(ReviewArgs),

    /// Answer yes to a review's question. Only a person may.
    ///
    /// contradiction: the waiting memory replaces the other. promote: it stays forever, and the assistant's words become
    /// yours. flagged: it stays as it is. merge: it replaces the other, with the tags of both. check: it holds, because you
    /// have checked it. conflict: you have read what the file said, and the memory stays as it is. memory undo reverts all
    /// of these except check.
    #[command(after_help = "Examples:\n  \
        thermocline memory approve --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e --origin user\n  \
        thermocline memory approve --user alex api-port --origin user --by anna")]
    Approve(DecideArgs),

    /// Answer no to a review's question. Only a person may.
    ///
    /// contradiction and check: it is forgotten. promote, merge and conflict: everything stays as it is. flagged: it falls
    /// back to mid. memory undo reverts this.
    #[command(after_help = "Example:\n  \
        thermocline memory reject --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e --by anna --origin user")]
    Reject(DecideArgs),
    /// Have a sensor watch whether a memory still holds: CHECK of SENSOR, both from the sensors file.
    ///
    /// It looks during memory validate and, in a program that has the sensor, when the memory is stale and was shown; a
    /// check looks at most once a minute. Only what the sensors file states is ever read, run or queried, whatever a memory
    /// says; without a file, nothing is.
    ///
    /// The file is a JSON list. In checks, each check has a subject (ROOT:PATH for fs, the name of a command or an address)
    /// and what is expected of it: {"exists":true}, {"contains":"..."}, {"sha256":"..."}, {"exit_code":0},
    /// {"status":200,"pointer":"/port","equals":8443} [default: the file exists, the command succeeds, the address answers].
    /// users names whom the sensor serves: "all", a user's name, "acme/*" for the users below acme/, or a list of these;
    /// {"name": "all"} is always a name. Without users, it serves this command line alone, and nobody over HTTP and MCP.
    ///
    /// Each sensor may also have: name, reliability (from 0 to 1) and window_s (for how many seconds a pass holds, if the
    /// memory states no window). Folders and programs are absolute paths; a program runs without a shell, with an empty
    /// environment. An address on this machine or on a private network belongs in private_urls.
    ///
    ///   [{"type": "fs", "roots": {"ops": "/etc/nginx"}, "users": "acme/*",
    ///     "checks": {"api_port": {"subject": "ops:api.conf", "expect": {"contains": "8443"}}}},
    ///    {"type": "command", "commands": {"make": {"argv": ["/usr/bin/make", "test"], "folder": "/srv/app"}},
    ///     "checks": {"tests": {"subject": "make"}}},
    ///    {"type": "http", "private_urls": {"api": "http://localhost:8443/health"},
    ///     "checks": {"api_up": {"subject": "api", "expect": {"status": 200}}}}]
    #[command(
        verbatim_doc_comment,
        after_help = "Examples:\n  \
        thermocline memory watch --user alex --sensors s.json port fs api_port\n  \
        thermocline memory watch --user alex port human"
    )]
    Watch(Box<WatchArgs>),

    /// Remove a sensor from a memory.
    #[command(after_help = "Example:\n  thermocline memory unwatch --user alex port fs api_port")]
    Unwatch(UnwatchArgs),

    /// Show which checks of which sensors watch a memory. memory watch --help describes the sensors file.
    #[command(after_help = "Example:\n  thermocline memory sensors --user alex port")]
    Sensors(WatchersArgs),

    /// Have the sensors of memories look now, and keep the results.
    ///
    /// A pass counts as a check; after a failure the memory has half its confidence and a weak source, and a person is
    /// asked. An unknown result changes nothing. memory history shows each check.
    #[command(after_help = "Examples:\n  \
        thermocline memory validate --user alex --sensors s.json port\n  \
        thermocline memory validate --user alex --sensors s.json --stale")]
    Validate(ValidateArgs),
    /// Apply the daily rules to all memories now: what settles, falls back, is archived, or is put to a person.
    ///
    /// A memory that has proved helpful settles one frequency further (high, mid, low); one that helps too seldom, or is old
    /// and unused, falls back or is archived. Rules never archive what the user saved. All moves form one group, each with
    /// its numbers. The daily job refuses to archive or lower more than half of 100 memories or more, because a clock that
    /// jumped looks like this; this command does not refuse, so check with --dry-run first.
    #[command(after_help = "Examples:\n  thermocline memory tend --user alex --dry-run\n  \
                            thermocline memory tend --user alex && thermocline memory history --user alex redis-fix")]
    Tend(TendArgs),

    /// Show what matters most, in at most 3,000 tokens: CORE.md, for the prompt of an agent that starts.
    ///
    /// Five sections of at most 15 memories: pinned ones first, then by how much each still matters. Leaves out the words of
    /// tools and documents, and what is contested, hidden, archived, or specific to a session. Stale memories are marked.
    #[command(after_help = "Examples:\n  thermocline memory core --user alex > CORE.md\n  \
                            thermocline --json memory core --user alex --max-tokens 1000")]
    Core(CoreArgs),

    /// Show what the memories have in common: REFLECTION.md.
    ///
    /// Tags that occur together, tags of several projects, what is used most, insights, merges.
    #[command(after_help = "Example:\n  thermocline memory reflection --user alex > REFLECTION.md")]
    Reflection(PageArgs),

    /// Propose which memories are related, and which may be the same; nothing takes effect by itself.
    ///
    /// Compares the newest 2,000 fresh, trusted and uncontested memories by their vectors. Edges are only proposed, until
    /// somebody states them with memory relate, and whether two memories are one is asked in a review. No text is written.
    #[command(after_help = "Example:\n  thermocline memory reflect --user alex")]
    Reflect(PageArgs),

    /// Hide the memories of a source, and what came of them: a turn, a session, a memory, a call, or an origin.
    ///
    /// Hides what jobs made of it and what tools, documents and the assistant saved from it, and what came of that. What the
    /// user or the backend saved from it, or a person approved, stays, and is trusted like a document's words from then on
    /// unless it is approved. What others save from a hidden turn or session is born hidden. What a hidden memory had replaced is as it was before. Turns are still
    /// recalled. memory lift reverts this.
    #[command(after_help = "Examples:\n  \
        thermocline memory quarantine --user alex --turn s1/3 --why \"a page that gave orders\"\n  \
        thermocline memory quarantine --user alex --of document --why audit")]
    Quarantine(Box<QuarantineArgs>),

    /// Lift a quarantine: everything is as it was before.
    #[command(after_help = "Example:\n  \
        thermocline memory lift --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e")]
    Lift(LiftArgs),
}
