//! The verbs of `thermocline memory`, and what their help says.
#![expect(
    clippy::doc_markdown,
    clippy::doc_link_with_quotes,
    reason = "the comments are the help, which shows no Markdown"
)]

use clap::Subcommand;

use crate::memory::{
    args::{ChangeArgs, EditArgs, MemoryArgs, SaveArgs, SupersedeArgs},
    list_args::{
        BesideArgs, EpisodesArgs, ForgetArgs, ListArgs, MemoryEraseArgs, NoteArgs, RelateArgs, TagsArgs,
        UnrelateArgs,
    },
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
    /// summary, entities, steps, importance, confidence, reliability, frequency, information_type, volatility, project,
    /// slot, task_type, pinned, outcome, session, caller_id, said_at (RFC 3339), origin, and sources: the turns that it
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

    /// Show a memory whole: what it says, how far it holds, what it comes of, what stands beside it.
    #[command(after_help = "Examples:\n  thermocline memory show --user alex mem_019e8d20\n  \
                            thermocline --json memory show --user alex redis-fix")]
    Show(MemoryArgs),

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
    #[command(after_help = "Example:\n  thermocline memory undo --user alex redis-fix")]
    Undo(ChangeArgs),

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
}
