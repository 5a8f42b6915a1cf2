//! The verbs of `thermocline memory`, and what their help says.
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
    /// The same text is saved once: what is known gets the tags of both and what it lacked, and what else was stated is
    /// named; what was archived or forgotten holds again. What is saved into a slot takes the place of what holds there, if
    /// it is trusted at least as far (the user's words yield only to the user's); else it waits, archived, for a person.
    /// What is said again by somebody who is trusted further becomes their words. The user's words (--origin user) are trusted more than the assistant's, and those more than what a
    /// tool or a document says.
    ///
    /// With --batch, a line of the file is {"title":"...","content":"...","kind":"fix","tags":["redis"]}, optionally with
    /// summary, entities, steps, importance, confidence, reliability, frequency, information_type, volatility,
    /// validity_window_s, project, slot, task_type, pinned, outcome, session, caller_id, said_at (RFC 3339), origin, and sources: the turns that it
    /// comes of, by name, or {"turn":"...","quote":"..."}. text stands for content, id for caller_id; without a title the
    /// first sentence is it. Other fields are ignored, and so are empty lines. All lines are read before the first is
    /// saved; a save that was interrupted is simply run again. A line whose caller_id is that of another text, since that was
    /// edited say, is left and counted. Options hold for every line that does not say otherwise;
    /// a line's origin may not be more trusted than --origin.
    #[command(after_help = "Examples:\n  \
        thermocline memory save --user alex \"Redis timeouts\" \"Keepalive fixes them.\" --kind fix\n  \
        thermocline memory save --user alex --kind configuration --slot api:port \"The API runs on port 8443.\"\n  \
        thermocline memory save --user alex \"Design notes\" --content-file notes.md --source s1/3\n  \
        thermocline memory save --user alex --batch memories.jsonl --origin user")]
    Save(Box<SaveArgs>),

    /// Take files of other programs in as memories: markdown and JSON, or folders of them.
    ///
    /// Read are markdown with a head of names and values (the cognitive and the continuum paper) or without, and days and
    /// JSON of the entry paper. All are claims: the words of --origin, confidence at most .80, frequency at most mid; what
    /// else a file says is kept, and read by nothing. A file's own id is the memory's caller id, so the same files again
    /// save nothing. What cannot be read is named with its line, and the others are saved. In folders, hidden files and
    /// those that begin with an underscore are left out. To keep memories as files, see vault.
    #[command(
        after_help = "Examples:\n  thermocline memory import --user alex notes/graph 2026-01-29.md\n  \
                            thermocline memory import --user alex --restore notes"
    )]
    Import(ImportFilesArgs),

    /// Show a memory whole: what it says, how far it holds, what it comes of, what stands beside it.
    #[command(after_help = "Examples:\n  thermocline memory show --user alex mem_019e8d20\n  \
                            thermocline --json memory show --user alex redis-fix\n  \
                            thermocline memory show --user alex redis-fix --format entry > redis-fix.json")]
    Show(ShowArgs),

    /// List memories, newest first: the active ones, unless --status or --all says otherwise.
    #[command(after_help = "Examples:\n  thermocline memory list --user alex --tag redis --limit 20\n  \
                            thermocline memory list --user alex --kind decision --kind fix --all")]
    List(ListArgs),

    /// Change what a memory says or is; what is not said stays.
    ///
    /// Whose words it has stays too, and how far it is trusted, unless little of its text is left, or the editor is trusted
    /// less: then its words become the editor's. What a tool or a document says changes nothing that is trusted more, and
    /// nobody else moves the slot, kind or project of what is trusted more than they are. memory undo takes it back.
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

    /// Save a memory in the place of another, which is kept, superseded.
    ///
    /// Takes what memory save takes, or --by another memory that is there already.
    #[command(after_help = "Examples:\n  \
        thermocline memory supersede --user alex redis-fix \"Redis timeouts\" \"A pool of 20.\"\n  \
        thermocline memory supersede --user alex mem_019e8d20 --by mem_019e9f31")]
    Supersede(Box<SupersedeArgs>),

    /// Take back the newest operation on a memory that is not undone; called again, it goes further back. There is no redo.
    ///
    /// An edit, a change of frequency or status, what took whose place: in all memories it touched, or in none.
    /// memory history shows what there is. Reported uses and checks are not undone, nor what somebody
    /// did who is trusted more.
    ///
    /// With --group one operation is taken back whole: what memory tend moved, a quarantine, a merge.
    #[command(after_help = "Examples:\n  thermocline memory undo --user alex redis-fix\n  \
                            thermocline memory undo --user alex --group 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e")]
    Undo(UndoArgs),

    /// Forget a memory, or all that a filter lets pass: they are kept, and hidden. memory undo brings them back.
    #[command(after_help = "Examples:\n  thermocline memory forget --user alex redis-fix\n  \
                            thermocline memory forget --user alex --tag draft --dry-run")]
    Forget(Box<ForgetArgs>),

    /// Erase a memory out of the bytes of the file and its log, with its history, edges and episodes. It cannot be undone.
    #[command(after_help = "Example:\n  thermocline memory erase --user alex redis-fix --yes")]
    Erase(MemoryEraseArgs),

    /// Say how one memory stands to another: FROM TYPE TO.
    ///
    /// An edge of this type between the two is overwritten.
    #[command(after_help = "Example:\n  \
        thermocline memory relate --user alex redis-fix solves redis-drops --context \"as seen in May\"")]
    Relate(RelateArgs),

    /// Remove an edge between two memories, for good.
    #[command(after_help = "Example:\n  \
        thermocline memory unrelate --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e")]
    Unrelate(UnrelateArgs),

    /// Show what a memory stands beside, the strongest edges first.
    #[command(after_help = "Example:\n  thermocline memory neighbours --user alex redis-fix")]
    Neighbours(BesideArgs),

    /// Show what was done to a memory, newest first, by whom and why. What was undone says so.
    #[command(after_help = "Example:\n  thermocline memory history --user alex redis-fix")]
    History(BesideArgs),

    /// List what happened, newest first: memories that began, notes of the day, uses.
    #[command(after_help = "Examples:\n  thermocline memory episodes --user alex --since 2026-03-01\n  \
                            thermocline memory episodes --user alex --role use --limit 20")]
    Episodes(EpisodesArgs),

    /// Keep a note of the day: something that happened, and is no memory.
    #[command(after_help = "Example:\n  \
        thermocline memory note --user alex \"Moved the bot to websockets\" --kind decision --tag major-domo")]
    Note(Box<NoteArgs>),

    /// List the tags of the active memories, and how many have each.
    #[command(after_help = "Examples:\n  thermocline memory tags --user alex\n  \
                            thermocline memory tags --user alex --entities --limit 20")]
    Tags(TagsArgs),

    /// Say that a memory was used, and how that ended.
    ///
    /// What helped is believed more, what failed less, and what had to be corrected half as much; after twenty uses in
    /// several sessions, 95 of 100 of them successes, it settles. A use that is reported again, with the same --caller-id
    /// or --receipt, counts once; one of which nobody said yet whether it helped is rated by the report that does. An
    /// archived memory holds again, unless it did not help.
    #[command(after_help = "Examples:\n  \
        thermocline memory used --user alex redis-fix success --session s1 --project homelab\n  \
        thermocline memory used --user alex mem_019e8d20 failure --caller-id run-17")]
    Used(Box<UsedArgs>),

    /// List the memories that are due to be looked at again, those first that have been due for longest.
    ///
    /// Those that matter: mid above an importance of 0.7, low above 0.8. The first time a week after they were saved, then
    /// a month, a quarter and a year after memory surfaced; each memory dismiss doubles the wait, the third is the last.
    #[command(after_help = "Examples:\n  thermocline memory due --user alex\n  \
                            thermocline memory due --user alex --on 2026-12-24 --limit 5")]
    Due(DueArgs),

    /// Say that you looked at a memory again; once a day.
    #[command(after_help = "Example:\n  thermocline memory surfaced --user alex redis-fix")]
    Surfaced(ChangeArgs),

    /// Say that you do not want to see a memory now; once a day, and the third time is the last.
    ///
    /// memory edit --resurfacing on has it shown again.
    #[command(after_help = "Example:\n  thermocline memory dismiss --user alex redis-fix")]
    Dismiss(ChangeArgs),

    /// List the questions about memories that wait for a person, oldest first.
    ///
    /// memory approve says yes to what is asked, memory reject says no; of a memory that one question waits about, by the
    /// memory's name, too.
    #[command(after_help = "Examples:\n  thermocline memory review --user alex --kind contradiction\n  \
                            thermocline memory review --user alex --decided --limit 20")]
    Review(ReviewArgs),

    /// Say yes to what a review asks. Only a person does.
    ///
    /// contradiction: what waits takes the place of the other. promote: it stays for ever, and the assistant's words are
    /// yours by that. flagged: it stays as it is. merge: it takes the place of the other, with the tags of both. check: it
    /// holds, as you have seen. conflict: you have looked at what the file said, and the memory stays as it is. memory undo
    /// takes it back, but for a check.
    #[command(after_help = "Examples:\n  \
        thermocline memory approve --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e --origin user\n  \
        thermocline memory approve --user alex api-port --origin user --by anna")]
    Approve(DecideArgs),

    /// Say no to what a review asks. Only a person does.
    ///
    /// contradiction and check: it is forgotten. promote, merge and conflict: all stays as it is. flagged: it falls
    /// back to mid. memory undo takes it back.
    #[command(after_help = "Example:\n  \
        thermocline memory reject --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e --by anna --origin user")]
    Reject(DecideArgs),
    /// Have a sensor look whether a memory still holds: SENSOR at SUBJECT.
    ///
    /// It looks at memory validate, and, in a program that has the sensor, when the memory is stale and was shown. What it
    /// expected of the same subject before is replaced. Nothing is read, run or asked that the file of sensors does not
    /// name, whatever a memory says; with no file, nothing is.
    ///
    /// The file is a JSON list. Of each sensor may be said: name, reliability (from 0 to 1) and window_s (for how many
    /// seconds a pass holds, where the memory states no window). Folders and programs are absolute paths; a program runs
    /// without a shell, with an empty environment. An address on this machine or on a network of your own is one of
    /// private_urls.
    ///
    ///   [{"type": "fs", "roots": {"ops": "/etc/nginx"}},
    ///    {"type": "command", "commands": {"tests": {"argv": ["/usr/bin/make", "test"], "folder": "/srv/app"}}},
    ///    {"type": "http", "private_urls": {"api": "http://localhost:8443/health"}},
    ///    {"type": "http", "name": "weather", "window_s": 3600, "urls": {"lisbon": "https://..."}}]
    #[command(
        verbatim_doc_comment,
        after_help = "Examples:\n  \
        thermocline memory watch --user alex --sensors s.json port fs ops:api.conf --contains 8443\n  \
        thermocline memory watch --user alex --sensors s.json port http api \
        --expect '{\"pointer\":\"/port\",\"equals\":8443}'\n  \
        thermocline memory watch --user alex port human"
    )]
    Watch(Box<WatchArgs>),

    /// Have a sensor look at a memory no more.
    #[command(after_help = "Example:\n  thermocline memory unwatch --user alex port fs ops:api.conf")]
    Unwatch(UnwatchArgs),

    /// Show what looks at a memory, and for what.
    #[command(after_help = "Example:\n  thermocline memory sensors --user alex port")]
    Sensors(WatchersArgs),

    /// Have the sensors of memories look now, and keep what they find.
    ///
    /// What passes is checked; what fails has half its confidence and a weak source from then on, and a person is asked.
    /// What cannot be told changes nothing. memory history shows each check.
    #[command(after_help = "Examples:\n  \
        thermocline memory validate --user alex --sensors s.json port\n  \
        thermocline memory validate --user alex --sensors s.json --stale")]
    Validate(ValidateArgs),
    /// Look at all memories now, as a job does once a day: what settles, falls back, is archived, is asked about.
    ///
    /// What has shown that it helps settles one frequency further (high, mid, low); what helps too seldom, or is old and
    /// unused, falls back or is archived. What the user saved is not archived by a rule. All moves are one group, each with
    /// its numbers. The job refuses to archive more than half of 100 memories or more, for a clock that jumped looks like
    /// this: here it is done, so look with --dry-run first.
    #[command(after_help = "Examples:\n  thermocline memory tend --user alex --dry-run\n  \
                            thermocline memory tend --user alex && thermocline memory history --user alex redis-fix")]
    Tend(TendArgs),

    /// Show what matters most, at most 3,000 tokens of it: CORE.md, for the prompt of an agent that begins.
    ///
    /// Five sections of at most 15 memories: pinned ones first, then by how much each still matters. Left out is what a tool
    /// or a document says, what is contested, hidden, archived, or of a session. What is stale says so.
    #[command(after_help = "Examples:\n  thermocline memory core --user alex > CORE.md\n  \
                            thermocline --json memory core --user alex --max-tokens 1000")]
    Core(CoreArgs),

    /// Show what runs through all memories: REFLECTION.md.
    ///
    /// Tags that stand together, tags of several projects, what is used most, insights, merges.
    #[command(after_help = "Example:\n  thermocline memory reflection --user alex > REFLECTION.md")]
    Reflection(PageArgs),

    /// Propose which memories belong together, and which may be one; nothing holds before a person says so.
    ///
    /// Compares the newest 2,000 that are fresh, trusted and not contested by their vectors. Edges are only proposed, and
    /// whether two are one is asked in a review. No text is written.
    #[command(after_help = "Example:\n  thermocline memory reflect --user alex")]
    Reflect(PageArgs),

    /// Hide a source with all that came of it: a turn, a session, a memory, a call, all words of an origin.
    ///
    /// What jobs made of it is hidden, and what jobs made of that. What somebody saved of it stays, and is trusted like a
    /// document's words from then on. What a hidden memory had taken the place of holds again. memory lift takes it back.
    #[command(after_help = "Examples:\n  \
        thermocline memory quarantine --user alex --turn s1/3 --why \"a page that gave orders\"\n  \
        thermocline memory quarantine --user alex --of document --why audit")]
    Quarantine(Box<QuarantineArgs>),

    /// Take a quarantine back: all is as it was before.
    #[command(after_help = "Example:\n  \
        thermocline memory lift --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e")]
    Lift(LiftArgs),
}
