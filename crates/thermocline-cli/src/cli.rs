//! The command line's verbs and their help texts.
#![expect(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::{env, path::PathBuf};

use clap::{Parser, Subcommand};

use crate::{
    args::{
        AnchorListArgs, AnchorRetractArgs, AnchorSetArgs, AnchorShowArgs, BackupArgs, CompletionsArgs,
        CompressAgainArgs, DoctorArgs, EraseArgs, HelpArgs, ImportArgs, JobsListArgs, JobsRetryArgs,
        JobsRunArgs, ReplayArgs, RestoreArgs, SessionArgs, SessionListArgs, SessionShowArgs,
        SessionStateArgs, SessionTurnsArgs, TurnShowArgs, UserExportArgs, UserListArgs,
    },
    exit::EXIT_CODES,
    find::Db,
    memory::verbs::MemoryVerb,
    recall_args::{ChatArgs, ContextArgs, EmbedArgs, EvalArgs, RecallArgs, WhyArgs},
    vault::VaultVerb,
};

/// The default file if none is named.
const DEFAULT_DB: &str = "thermocline.db";
/// The environment variable that names the file for a whole shell session.
const DB_VARIABLE: &str = "THERMOCLINE_DB";

/// Hot, warm and cold memory for conversations, in one SQLite file.
///
/// A turn is a user message and its reply. The latest turns of an open session are hot: at most 5, and 1,500 tokens. Older
/// turns are warm. A context packs both into a token budget for the LLM that answers. When a session has ended, its turns
/// become cold: jobs run compresses them into summaries, anchors and an archive.
///
/// Start with `thermocline demo`: it tells a short story and shows what the memory makes of it.
#[derive(Debug, Parser)]
#[command(
    name = "thermocline",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "Example:\n  thermocline demo",
    after_long_help = format!(
        "Examples:\n  \
         thermocline demo\n  \
         thermocline replay chat.jsonl --user alex\n  \
         thermocline recall --user alex \"What did I say about the boat?\"\n  \
         thermocline chat --user alex\n  \
         thermocline jobs run\n\n\
         {EXIT_CODES}"
    )
)]
pub(crate) struct Cli {
    /// The memory file; if it is missing, only demo, replay, chat, import, memory save, memory import --restore, serve, mcp
    /// and those operations of call that add something for a user create it [default: $THERMOCLINE_DB, else thermocline.db
    /// in the current folder].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,

    /// Print one JSON document on stdout instead of text; a failure is reported as the last line on stderr, as JSON.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Open the file for reading only: write, create and migrate nothing, and keep no receipts. Verbs that only read do this
    /// automatically if the file or its folder is not writable; verbs that write are refused.
    #[arg(long, global = true)]
    pub(crate) read_only: bool,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Cli {
    /// The file from the command line, else from the environment, else the default.
    pub(crate) fn db_or_default(&self) -> Db {
        let from_environment =
            || env::var_os(DB_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
        let path = self.db.clone().or_else(from_environment).unwrap_or_else(|| DEFAULT_DB.into());
        Db { path, read_only: self.read_only }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Tell a short story to a new memory, and show what it makes of it.
    ///
    /// Three conversations, 25 turns. You see which turns move from hot to warm and why (turn_limit, token_budget,
    /// session_end), how ended sessions are compressed, where every turn is stored afterwards, and what is known. Then a new
    /// conversation asks about something said weeks before: you see the context that an LLM would get, and why each part is
    /// in it. The file is kept, so that you can explore it. Without --db it is created in a new temporary folder, even if
    /// THERMOCLINE_DB is set.
    #[command(after_help = "Examples:\n  thermocline demo\n  thermocline --db demo.db demo")]
    Demo,

    /// Record the conversations of a transcript: JSON Lines with one turn per line, or a ChatGPT export.
    ///
    /// A line is {"session":"s1","id":"1","at":"2026-03-02T18:10:00Z","user":"...","assistant":"..."}, optionally with
    /// user_name and assistant_name. session, id and user are required. Without assistant the reply is empty; without at
    /// (RFC 3339) the turn gets the current time. Other fields and empty lines are ignored.
    ///
    /// A new session value ends the previous session, at the time of its last turn; if a later file continues that session,
    /// its turns go into a new part. Turns are identified by their ids: replaying a file again changes nothing, so after an
    /// interruption just run the replay again. A bad line stops the replay; nothing of it is written, and the lines before
    /// it stay recorded. A turn dated more than a day ahead of the clock counts as a bad line, because it would be the
    /// newest turn for years; --future allows it. jobs run compresses the ended sessions.
    ///
    /// With --format openai, the file is a ChatGPT export (conversations.json), of which the displayed branches are
    /// replayed, or messages in the chat API's format: [{"role":"user","content":"..."}, ...], {"messages":[...]}, or lists
    /// or lines of these. A session is one conversation. A turn is a user message with the replies to it; its id combines
    /// the ids of the conversation and of the turn's last message, so a reply that a later export regenerates or adds
    /// becomes another turn. Instructions, tool calls and their results, hidden messages and other branches are left out,
    /// and counted. The whole file is read before the first turn is recorded; the oldest conversation comes first.
    ///
    /// Instead of a transcript, an SQLite database with the tables from the tiering paper (conversation_turns,
    /// conversation_sessions) is also accepted. It is only read; its ids become the turns' ids and the session keys.
    #[command(after_help = "Examples:\n  thermocline replay chat.jsonl --user alex --end\n  \
                            thermocline replay conversations.json --user alex --format openai --end\n  \
                            zcat chat.jsonl.gz | thermocline --db alex.db replay - --user alex\n  \
                            thermocline --db memory.db replay old.db --user alex")]
    Replay(ReplayArgs),

    /// Print the context to give to an LLM together with a message.
    ///
    /// Recent turns come first. Of the earlier ones, those that the message refers back to ("you mentioned", "earlier") come
    /// next, then the newest; then who the user is, and what is recalled from everything said before. The text never exceeds
    /// the budget. Stdout contains exactly the context; stderr reports its token count, what did not fit, and what was
    /// recalled. The only thing written is a receipt, which why explains, and with --sensors a job that checks the stale
    /// memories shown.
    ///
    /// With --plan, an LLM first reads the message and the last turns, and says what to search for. Its plan adds to what
    /// the message itself finds; if the LLM is late or its answer is unusable, the context is the same as without --plan.
    #[command(after_help = "Examples:\n  \
        thermocline context --user alex \"You mentioned a knot earlier, what was it?\"\n  \
        thermocline context --user alex --session s1 --budget-tokens 800 --now 2026-06-01 \"And then?\"\n  \
        thermocline context --user alex --messages \"And then?\"\n  \
        thermocline context --user alex --query \"the berth of the boat\" \"Is it still ours?\"\n  \
        thermocline context --user alex --plan --llm-url http://localhost:11434/v1 --llm-model qwen3:8b \"Is it still ours?\"\n  \
        thermocline context --user alex --without recent-turns --since 2026-01-01 \"And then?\"")]
    Context(ContextArgs),

    /// Search everything a user ever said for a query, and print the results and why they match.
    ///
    /// Searches every session and tier, by words and by meaning. A time in the query ("last week", "in March") raises what
    /// was said then; a query that is only a time asks for what was said then. Each result shows its score, its date, its
    /// place (SESSION/NUMBER, as turn show takes it), its tier, the parts of its score, and its first words.
    ///
    /// With a reranker (a cross-encoder), the best 50 are shown in its order, each with the reranker's score in addition to
    /// its own; anchors keep their places. If the reranker does not answer, the original order stays.
    ///
    /// The only thing written is a receipt, which why explains, and with --sensors a job that checks the stale memories
    /// found; the ranking data does not change.
    #[command(after_help = "Examples:\n  \
        thermocline recall --user alex \"What is my sister's name?\"\n  \
        thermocline recall --user alex --profile paper -k 5 --now 2026-06-01 \"the boat\"\n  \
        thermocline recall --user alex --project boat --since 2026-01-01 --until 2026-07-01 \"the berth\"\n  \
        thermocline recall --user alex --weight words=0.9 --weight meaning=0.1 \"the boat\"\n  \
        thermocline recall --user alex --rerank-dir models/ms-marco-MiniLM-L-6-v2 \"the boat\"\n  \
        thermocline recall --user alex --rerank-url http://localhost:8000/v1 --rerank-model BAAI/bge-reranker-v2-m3 \"the boat\"\n  \
        thermocline recall --user alex --batch queries.jsonl")]
    Recall(RecallArgs),

    /// Explain a recall or a context: what was found, what was left out, and why.
    ///
    /// Shows how the question was understood, how it was ranked and with which weights, and what was missing; then every
    /// candidate in order, with its date, its place, what became of it and how it was found. At the end, the scores are
    /// recomputed from their parts. Without a receipt, lists the newest ones. The file keeps the newest 1,000 per user. With
    /// --json, prints the receipt itself. Writes nothing.
    #[command(after_help = "Examples:\n  \
        thermocline why --user alex\n  \
        thermocline why --user alex last\n  \
        thermocline why --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e")]
    Why(WhyArgs),

    /// Talk in the terminal, and see what is recalled.
    ///
    /// Each line is a message. Shows what its context recalled (date, score, how much of it is included, place, first words)
    /// and the reply of LLM#2, if one is given, and records the turn as the answer to that context. Without an LLM#2, it
    /// shows the context that one would have received, and records the turn with an empty reply. Input may also come from a
    /// pipe; then the first failure ends the chat.
    ///
    /// Commands: /why explains the last recall; /context shows the last context; /end ends the session and leaves; /quit
    /// leaves, and the session stays open. To send a message that starts with /, put a space before it. With --json, prints
    /// one line for each message.
    #[command(after_help = "Examples:\n  \
        thermocline chat --user alex\n  \
        thermocline chat --user alex --session boat --budget-tokens 2000\n  \
        echo \"Where did I moor the boat?\" | thermocline chat --user alex")]
    Chat(ChatArgs),

    /// Measure how well recall finds the turns that answer, on a user's own history.
    ///
    /// Reads questions with known evidence: the turns that answer them, by the ids they were recorded with. Each question is
    /// asked with each measured profile, to a depth of 100.
    ///
    /// recall@k: the share of a question's evidence among the first k turns. hit@10: whether any of it is. NDCG@10: the
    /// same, with higher places counting more (1 / log2(place + 1), divided by the best possible). Session recall@5: the
    /// share of the evidence's sessions among the first 5, ranked by their best turn. All evidence in a cold part: the share
    /// of questions for which a context with a cold part of 900 tokens shows every evidence turn verbatim: whole, its user's
    /// half, or an extract; summaries do not count, and are reported separately. All values are means over the questions;
    /// times cover recall alone, once the user's index is in memory. main leaves out the categories adversarial and
    /// abstention, whose evidence is a trap. Questions with evidence that the memory does not know are left out and counted.
    /// Writes nothing.
    #[command(after_help = "Examples:\n  \
        thermocline eval --user alex questions.jsonl\n  \
        thermocline eval --user alex questions.jsonl --categories --profile default\n  \
        thermocline eval --user alex questions.jsonl --weight neighbours=0 --json")]
    Eval(EvalArgs),

    /// Show how far turns are embedded, or rebuild an embedder's vectors.
    #[command(subcommand, after_help = "Examples:\n  thermocline embed status\n  thermocline embed rebuild")]
    Embed(EmbedVerb),

    /// List the users of the file.
    #[command(subcommand, after_help = "Example:\n  thermocline user list")]
    User(UserVerb),

    /// List, show, read, end, restore or compress sessions.
    #[command(subcommand, after_help = "Example:\n  thermocline session list --user alex")]
    Session(SessionVerb),

    /// Show a turn.
    #[command(subcommand, after_help = "Example:\n  thermocline turn show --user alex s1/3")]
    Turn(TurnVerb),

    /// List, show, set or retract anchors: facts about who the user is.
    ///
    /// Anchors are found in what users say, when their sessions are compressed. An anchor's key, such as user.name, is a
    /// subject (user, assistant, or a name) and an attribute. One value at a time: name, pronouns, birthday, age, home,
    /// hometown, employer, job, field, school and relationship; a new value supersedes the old one, which is kept with its
    /// dates. Many values: family, pets, likes, dislikes, hobbies, languages, health, diet, goals and note.
    #[command(
        subcommand,
        after_help = "Examples:\n  thermocline anchor list --user alex\n  \
                                        thermocline anchor set --user alex user.home Lisbon"
    )]
    Anchor(AnchorVerb),

    /// Save, show, list, change, relate, forget or erase memories: knowledge in addition to what was said.
    ///
    /// A memory has a title, a text and a kind, and an origin: the user's words are trusted more than the assistant's, and
    /// the assistant's more than a tool's or a document's. What is typed at a terminal counts as the user's words; what a
    /// script or an agent saves counts as the assistant's, unless --origin says otherwise. Refer to a memory by its id
    /// (mem_...), by the first or last digits of its id, or by the caller's own id.
    #[command(
        subcommand,
        after_help = "Examples:\n  thermocline memory save --user alex \"Redis timeouts\" \"Keepalive fixes them.\" --kind fix\n  \
                                        thermocline memory list --user alex\n  \
                                        thermocline memory undo --user alex redis-fix"
    )]
    Memory(MemoryVerb),

    /// Keep a user's memories as a folder of markdown files: to read, to edit, for Obsidian and git.
    ///
    /// Thermocline's file stays the source of truth; sync imports what people changed in the folder, and writes what is
    /// known. Using a memory changes no file that git tracks.
    #[command(
        subcommand,
        after_help = "Examples:\n  thermocline vault init notes --user alex\n  thermocline vault sync notes --user alex"
    )]
    Vault(VaultVerb),

    /// List, run or retry the jobs queued in the file.
    ///
    /// When a session ends, a job is queued to compress it. Programs that use the library run jobs on their own; if none is
    /// running, use jobs run.
    #[command(subcommand, after_help = "Examples:\n  thermocline jobs list\n  thermocline jobs run")]
    Jobs(JobsVerb),

    /// Erase a turn, a session, or everything of a user: its rows, and its bytes in the file.
    ///
    /// Removes turns in every tier, with their words, summaries, moves and jobs; for a user also the anchors and the name.
    /// Anchors that an erased turn or session shares with others are derived again from those others. Erasing a turn also
    /// erases the turns it had replaced. This cannot be undone. Asks first, unless --yes is given; without a terminal and
    /// without --yes, it only says what would be erased, and exits with 3.
    ///
    /// If a crash interrupts it, jobs run finishes it. Exits with 6 if the file's log still holds old bytes because another
    /// program is reading the file: end that program, then jobs run empties the log.
    ///
    /// It cannot reach backups and exports made before, what other processes hold in memory until they next read the file,
    /// and copies that the disk or its file system keeps below the file. A vault's folder follows at its next sync; if the
    /// whole user is erased, delete the folder yourself.
    #[command(after_help = "Examples:\n  thermocline erase --user alex --session s1\n  \
                            thermocline erase --user alex --turn s1/3\n  \
                            thermocline erase --user alex --yes")]
    Erase(EraseArgs),

    /// Count what is in the file.
    ///
    /// Users, sessions, moves between tiers, and the turns, tokens and text of each tier: for all users together, and
    /// without anything that anybody said. Sizes are in B, KiB (1,024 B), MiB ..., with --json in bytes.
    ///
    /// For answered contexts: what was of use; how well the rules work that keep turns verbatim (a rule with 200
    /// chances and no use for a user keeps no more turns for that user); and by month which tiers were reached: hot by
    /// contexts that showed hot turns, warm and cold by those that showed something from there because its content matched.
    #[command(after_help = "Examples:\n  thermocline stats\n  thermocline --json stats")]
    Stats,

    /// Check whether the whole file is sound.
    ///
    /// Checks its pages, its tables, indexes, views and triggers, the counts that must agree, every text against its hash,
    /// and its settings. Reads the whole file, which takes minutes for gigabytes; others may use it meanwhile. Writes
    /// nothing, neither to the file nor to its log. Exits with 7 if a check fails: then keep the file, and restore a backup.
    #[command(after_help = "Example:\n  thermocline doctor && echo sound")]
    Doctor(DoctorArgs),

    /// Write a complete copy of the file as of this moment.
    ///
    /// Others may read and write meanwhile (copying with cp could then produce a broken file). The copy appears under its
    /// name only once it is on disk, and never replaces a file.
    #[command(after_help = "Example:\n  thermocline backup thermocline-2026-06-01.db")]
    Backup(BackupArgs),

    /// Put a backup in the place of the file.
    ///
    /// Use this instead of cp or mv: after a crash, the old file's log is still there, and would destroy whatever takes the
    /// file's place. Checks the backup first: that it is Thermocline's, complete and sound. Every process that has the file
    /// open must be ended before; otherwise nothing is replaced, and it exits with 6. The file that was there is kept beside
    /// the new one as FILE.replaced-1 (2, 3 ...), with what its log had, and may be opened under that name. If this is
    /// interrupted, the file is the old one or the new one; run it again.
    ///
    /// Asks first if there is a file, unless --yes is given; without a terminal and without --yes, it only says what would be
    /// replaced, and exits with 3.
    #[command(after_help = "Examples:\n  thermocline restore thermocline-2026-06-01.db\n  \
                            thermocline --db memory.db restore memory-backup.db --yes")]
    Restore(RestoreArgs),

    /// Write all of a user's memory to a file: JSON Lines, to move it or to keep it.
    ///
    /// Contains sessions, turns (including archived ones), summaries, anchors with their evidence, moves between tiers, and
    /// memories with their history, edges and episodes, as of one moment; others may read and write meanwhile. The last line
    /// confirms that the export is complete. Deleted originals and jobs are not included. The export contains everything the
    /// user said: only its owner may read it, and erase does not reach it. When writing to stdout, the counts go to stderr.
    #[command(after_help = "Examples:\n  thermocline export --user alex alex.jsonl\n  \
                            thermocline export --user alex - | gzip > alex.jsonl.gz")]
    Export(UserExportArgs),

    /// Read an export as the memory of a user who has none yet.
    ///
    /// All or nothing: an export that has a wrong line, is cut short, or has ids that the file already has changes nothing.
    /// Sessions that have ended but were not compressed wait for jobs run.
    #[command(after_help = "Examples:\n  thermocline --db other.db import --user alex alex.jsonl\n  \
                            zcat alex.jsonl.gz | thermocline import --user alex -")]
    Import(ImportArgs),

    /// Serve HTTP and MCP, for programs that do not link the library.
    ///
    /// Listens on the loopback address and needs no key there: requests may read, write and inspect, but not erase, export
    /// or back up. /openapi.json describes all operations. Ctrl-C stops it once running requests are done.
    #[cfg(feature = "service")]
    #[command(after_help = "Examples:\n  thermocline serve --db memory.db\n  \
                            curl -s localhost:7411/v1/users/alex/recall -H 'content-type: application/json' -d '{\"query\":\"the boat\"}'")]
    Serve(crate::service::serve::ServeArgs),

    /// Ask a server whether it is ready. Exits with 7 if it is not, and with 6 if it does not answer.
    #[cfg(feature = "service")]
    #[command(
        after_help = "Examples:\n  thermocline health\n  thermocline health unix:/run/thermocline.sock"
    )]
    Health(crate::service::health::HealthArgs),

    /// Create, list and revoke the keys that give access to a server.
    #[cfg(feature = "service")]
    #[command(
        subcommand,
        after_help = "Examples:\n  thermocline key add laptop --scope read,write --user alex\n  thermocline key list"
    )]
    Key(crate::service::key::KeyVerb),

    /// Speak MCP on standard input and output, for one user, as started by desktop clients.
    #[cfg(feature = "service")]
    #[command(after_help = "Example:\n  thermocline mcp --db memory.db --user alex")]
    Mcp(crate::service::mcp::McpArgs),

    /// Run one operation of the service without a server: JSON in, JSON out.
    #[cfg(feature = "service")]
    #[command(
        after_help = "Examples:\n  thermocline call --list\n  thermocline call recall --user alex '{\"query\":\"the boat\"}'"
    )]
    Call(crate::service::call::CallArgs),

    /// Print a completion script for a shell.
    ///
    /// Always plain text, even with --json.
    #[command(after_help = "Examples:\n  \
        thermocline completions bash > ~/.local/share/bash-completion/completions/thermocline\n  \
        thermocline completions zsh > ~/.zfunc/_thermocline\n  \
        thermocline completions fish > ~/.config/fish/completions/thermocline.fish")]
    Completions(CompletionsArgs),

    /// Print a verb's help, like its --help.
    #[command(after_help = "Examples:\n  thermocline help replay\n  thermocline help session show")]
    Help(HelpArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionVerb {
    /// List a user's sessions, the last added first.
    ///
    /// Times are UTC; tokens count the texts as they were said. To page, use --limit 50, then --after with the last session
    /// shown.
    #[command(after_help = "Examples:\n  thermocline session list --user alex\n  \
                            thermocline --json session list --user alex --limit 50 --after s1")]
    List(SessionListArgs),

    /// Show a session: its turns by tier, oldest first, and why they moved.
    ///
    /// Each turn is shown with its place in the session, the time it was said (UTC), its tokens, the reason for its last
    /// move between tiers, and its first words. A cold turn also shows how it is kept: verbatim because it is critical (and
    /// by which rule) or short; in the archive; or only as a summary, if its original was deleted. With --json, turns are
    /// shown in full, and every move has its time.
    #[command(after_help = "Examples:\n  thermocline session show --user alex s1\n  \
                            thermocline session show --user alex --last 20 s1")]
    Show(SessionShowArgs),

    /// Read what was said in a session, oldest first, in any tier.
    ///
    /// Shows 50 turns from the beginning, unless --limit, --after, --before or --last say otherwise. A turn whose original
    /// was deleted is shown as its summary; a damaged one is named. With --json, kind is turn, summary or damaged.
    #[command(after_help = "Examples:\n  thermocline session turns --user alex s1 --after 50\n  \
                            thermocline session turns --user alex s1 --last --limit 10")]
    Turns(SessionTurnsArgs),

    /// Show or set a session's state, such as an agent's plan or variables.
    ///
    /// Without NAME, shows all of it; with NAME, that entry; with TEXT, overwrites the entry. An empty text, "", clears it;
    /// the end of the session clears everything. State is neither searched nor shown in contexts, and has no history.
    #[command(
        after_help = "Examples:\n  thermocline session state --user alex s1 plan \"1. look 2. leap\"\n  \
                            thermocline session state --user alex s1"
    )]
    State(SessionStateArgs),

    /// End a session now: its hot turns become warm. It never reopens; a later turn under its key starts a new part.
    ///
    /// Ending it again changes nothing. A session ends by itself after 24 hours of silence.
    #[command(after_help = "Example:\n  thermocline session end --user alex s1")]
    End(SessionArgs),

    /// Show the summaries that replace the turns of a compressed session.
    ///
    /// Each is shown with the place of its turn, when that was said (UTC), who wrote the summary ("extractive": the built-in
    /// summarizer; "extractive-fallback": the same, because the LLM failed), and its topics. turn show prints the original,
    /// unless it was deleted.
    #[command(after_help = "Example:\n  thermocline session summaries --user alex s1")]
    Summaries(SessionArgs),

    /// Undo the compression of an ended session: restore its turns from the archive, and remove its summaries.
    ///
    /// The turns become warm, and no job compresses them again until session compress asks for it. Turns whose originals
    /// were deleted stay summaries. Anchors stay.
    #[command(after_help = "Example:\n  thermocline session restore --user alex s1")]
    Restore(SessionArgs),

    /// Queue the compression of an ended session that was restored; jobs run performs it.
    ///
    /// Other sessions do not need this: their compression is queued when they end.
    #[command(after_help = "Example:\n  thermocline session compress --user alex s1 && thermocline jobs run")]
    Compress(SessionArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserVerb {
    /// List all users, in the order in which they were added: id, counts, name.
    ///
    /// turns: all turns ever recorded; tokens: their tokens as they were said. The name is - if only the id is known. Shows
    /// nothing that anybody said.
    #[command(after_help = "Examples:\n  thermocline user list\n  \
                            thermocline --json user list --limit 100 --after alex")]
    List(UserListArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnchorVerb {
    /// List a user's current anchors, by subject, attribute and value.
    ///
    /// strength is 1 - 0.5^n for n turns that state it; since is when it was first said and has held without a break.
    #[command(after_help = "Examples:\n  thermocline anchor list --user alex\n  \
                            thermocline anchor list --user alex --all --subject \"sister anna\"")]
    List(AnchorListArgs),

    /// Show anchors with their evidence: the turns that state them, when, in which words, and who found it.
    #[command(after_help = "Example:\n  thermocline anchor show --user alex user.home")]
    Show(AnchorShowArgs),

    /// Set an anchor by hand.
    ///
    /// If the attribute has one value, the new value supersedes the current one. A retracted value counts again.
    #[command(after_help = "Examples:\n  thermocline anchor set --user alex user.home Lisbon\n  \
                            thermocline anchor set --user alex \"sister anna.birthday\" \"4 May\"")]
    Set(AnchorSetArgs),

    /// Retract an anchor: nothing said up to now counts as evidence for it.
    ///
    /// What it had superseded holds again; what is said later counts. A key selects the current value; if there are several,
    /// add =VALUE, or name one by its id.
    #[command(after_help = "Examples:\n  thermocline anchor retract --user alex user.home\n  \
                            thermocline anchor retract --user alex user.likes=tea")]
    Retract(AnchorRetractArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsVerb {
    /// List the jobs of all users, in the order in which they were queued.
    ///
    /// Finished jobs disappear from the list. Each job is shown with the turns done so far, its tries, when it runs next
    /// (UTC), and why its last try failed. Users are shown by their ids, which --user also accepts.
    ///
    /// compress: compress an ended session. erase: finish an interrupted erase. scrub: overwrite erased bytes that the file
    /// or its log still holds. index, embed: add the words and vectors of new turns to what recall reads. mend: rebuild a
    /// damaged index or damaged vectors. derive: derive again what older rules derived from turns and memories. prune:
    /// remove what older versions kept forever. validate: have sensors check stale memories that were shown. tend: apply the
    /// daily rules to the user's memories. extract: look through an ended session for memories (jobs run --extract).
    #[command(
        after_help = "Examples:\n  thermocline jobs list\n  thermocline --json jobs list --limit 100 --after 17"
    )]
    List(JobsListArgs),

    /// Run the jobs that are due, until none is.
    ///
    /// Ends the sessions that silence has ended, then compresses ended sessions: critical and short turns stay verbatim, the
    /// others are summarized and their originals go into the archive. Also builds missing index entries and vectors,
    /// including those of an embedder named here. A job that fails is postponed and retried, and eventually given up; the
    /// report counts both, and the exit code is 0. You may interrupt it at any time: finished work stays, the rest waits.
    /// Other programs may use the file meanwhile. If another process works on a job, the report says until when it holds the
    /// job; with --wait, the command waits.
    #[command(
        after_help = "Examples:\n  thermocline jobs run\n  thermocline jobs run --wait\n  thermocline jobs run --max 100\n  \
                            thermocline jobs run --originals delete --llm-url http://localhost:11434/v1 --llm-model qwen3:8b"
    )]
    Run(Box<JobsRunArgs>),

    /// Have an LLM redo what the built-in summarizer did because the LLM was down or none was named.
    ///
    /// Restores the sessions in which the built-in summarizer wrote a summary (one session or all of the user's), and has
    /// the named LLM compress the user's waiting sessions; other users' sessions are left alone. You may interrupt it at any
    /// time: nothing is lost, and the same command continues.
    #[command(after_help = "Examples:\n  \
        thermocline jobs compress-again --user alex --llm-url http://localhost:11434/v1 --llm-model qwen3:8b\n  \
        thermocline jobs compress-again --user alex --session s1")]
    CompressAgain(CompressAgainArgs),

    /// Make jobs due that were given up or postponed.
    #[command(after_help = "Examples:\n  thermocline jobs retry\n  thermocline jobs retry 17")]
    Retry(JobsRetryArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum EmbedVerb {
    /// Rebuild the vectors of the named embedder, or of the built-in one.
    ///
    /// Not needed after a change of model: jobs run takes care of that. It is needed if a model changed under the same name.
    /// Vectors of other models stay, unless --drop-others is given. Meanwhile recall works by words and with the built-in
    /// embedder. You may interrupt it at any time: jobs run does the rest.
    #[command(
        after_help = "Examples:\n  thermocline embed rebuild\n  thermocline embed rebuild --drop-others"
    )]
    Rebuild(EmbedArgs),

    /// Show how far each user's turns are embedded, by model.
    ///
    /// Users are shown by their ids, which --user also accepts. refused: turns that the model rejected; they are found by
    /// words, and tried again. Vectors of the built-in model that the newest turns lack are computed during recall.
    #[command(after_help = "Example:\n  thermocline embed status")]
    Status,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TurnVerb {
    /// Show a turn in full: what was said, when, its tokens, and where it is stored.
    ///
    /// A summarized turn is shown with its summary; if its original was deleted, only the summary is shown. With --json,
    /// original is kept (verbatim among the turns), archived or deleted.
    #[command(after_help = "Examples:\n  thermocline turn show --user alex msg-17\n  \
                            thermocline turn show --user alex s1/3")]
    Show(TurnShowArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}
