//! The verbs of the command line, and what their help says.
#![expect(clippy::doc_markdown, reason = "the comments are the help, which shows no Markdown")]

use std::{env, path::PathBuf};

use clap::{Parser, Subcommand};

use crate::{
    args::{
        AnchorListArgs, AnchorRetractArgs, AnchorSetArgs, AnchorShowArgs, BackupArgs, CompletionsArgs,
        CompressAgainArgs, EraseArgs, HelpArgs, ImportArgs, JobsListArgs, JobsRetryArgs, JobsRunArgs,
        ReplayArgs, SessionArgs, SessionListArgs, SessionShowArgs, SessionStateArgs, SessionTurnsArgs,
        TurnShowArgs, UserExportArgs, UserListArgs,
    },
    exit::EXIT_CODES,
    find::Db,
    memory::verbs::MemoryVerb,
    recall_args::{ChatArgs, ContextArgs, EmbedArgs, EvalArgs, RecallArgs, WhyArgs},
    vault::VaultVerb,
};

/// The file that is meant when none is named.
const DEFAULT_DB: &str = "thermocline.db";
/// Names the file for a whole shell session.
const DB_VARIABLE: &str = "THERMOCLINE_DB";

/// Hot, warm and cold memory for conversations, in one SQLite file.
///
/// A turn is a user message and the reply to it. The last turns of an open session are hot: at most 5, and 1,500
/// tokens. Older ones are warm. A context packs both into a token budget for the LLM that answers. The turns of a
/// session that has ended become cold: jobs run compresses them into summaries, anchors and an archive.
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
    /// The file that holds the memory; only demo, replay, chat, import, memory save, serve and mcp make it if it is missing [default:
    /// $THERMOCLINE_DB, else thermocline.db in this folder].
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) db: Option<PathBuf>,

    /// Print one JSON document on stdout instead of text; a failure is a line of JSON on stderr, the last.
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Only look at the file: nothing is written, made or migrated, and no receipt is kept. Verbs that look do so by
    /// themselves where the file or its folder cannot be written; verbs that write are refused.
    #[arg(long, global = true)]
    pub(crate) read_only: bool,

    #[command(subcommand)]
    pub(crate) verb: Verb,
}

impl Cli {
    /// The file that the command line names, else the environment, else the usual one.
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
    /// Three conversations, 25 turns: you see which turns leave hot for warm and why (turn_limit, token_budget,
    /// session_end), how ended sessions are compressed, where all turns live then, and what is known. Then a new
    /// conversation asks for what was said weeks before: the context that an LLM would get, and why each part is in it. The
    /// file stays, so that you can look into it. Without --db it lies in a new folder for temporary files, whatever
    /// THERMOCLINE_DB says.
    #[command(after_help = "Examples:\n  thermocline demo\n  thermocline --db demo.db demo")]
    Demo,

    /// Record the conversations of a transcript: JSON Lines, a turn a line; or an export of ChatGPT.
    ///
    /// A line is {"session":"s1","id":"1","at":"2026-03-02T18:10:00Z","user":"...","assistant":"..."}, optionally
    /// with user_name and assistant_name. session, id and user are needed; without assistant the reply is empty;
    /// without at (RFC 3339) the turn is dated by the clock. Other fields are ignored, and so are empty lines.
    ///
    /// A new session value ends the session before it, at the time of its last turn; what a later file says in it goes on
    /// in its next part. A turn's id makes it known: replaying a file again changes nothing, so a replay that was
    /// interrupted is simply run again. A bad line stops the replay; nothing of it is written, and the lines before it stay
    /// recorded. Sessions that have ended are compressed by jobs run. A turn that is dated more than a day ahead of the
    /// clock is such a bad line, unless --future is given: it would count as the newest for years.
    ///
    /// With --format openai: an export of ChatGPT (conversations.json), of which the branches are replayed that it shows;
    /// or messages as the chat API takes them: [{"role":"user","content":"..."}, ...], {"messages":[...]}, lists or lines
    /// of these. A session is a conversation, a turn a message of the user with the replies to it, its id that of the
    /// conversation and of its last message: a reply that a later export has anew, or has for the first time, is a turn
    /// more. Instructions, calls of tools and what they gave, hidden messages and other branches are left out, and counted.
    /// All of the file is read before the first turn is recorded, the oldest conversation first.
    ///
    /// An SQLite database with the tables that the tiering paper prints (conversation_turns, conversation_sessions) is
    /// read instead of a transcript, and never written: its ids become the ids and the session keys.
    #[command(after_help = "Examples:\n  thermocline replay chat.jsonl --user alex --end\n  \
                            thermocline replay conversations.json --user alex --format openai --end\n  \
                            zcat chat.jsonl.gz | thermocline --db alex.db replay - --user alex\n  \
                            thermocline --db memory.db replay old.db --user alex")]
    Replay(ReplayArgs),

    /// Print the context that an LLM is to be handed with a message.
    ///
    /// Recent turns come first; of the earlier ones, what the message refers back to ("you mentioned", "earlier"),
    /// then the newest; then who the user is, and what is recalled of all that was ever said. The text never exceeds
    /// the budget. On stdout is exactly the context; stderr says what it cost, what found no room and what was
    /// recalled. Leaves a receipt, which why explains; nothing else is written.
    ///
    /// With --plan an LLM reads the message and the last turns first, and says what to search for. It adds to what is found
    /// by the message itself; if it is late or says nothing usable, the context is the one without it.
    #[command(after_help = "Examples:\n  \
        thermocline context --user alex \"You mentioned a knot earlier, what was it?\"\n  \
        thermocline context --user alex --session s1 --budget-tokens 800 --now 2026-06-01 \"And then?\"\n  \
        thermocline context --user alex --messages \"And then?\"\n  \
        thermocline context --user alex --query \"the berth of the boat\" \"Is it still ours?\"\n  \
        thermocline context --user alex --plan --llm-url http://localhost:11434/v1 --llm-model qwen3:8b \"Is it still ours?\"\n  \
        thermocline context --user alex --without recent-turns --since 2026-01-01 \"And then?\"")]
    Context(ContextArgs),

    /// Print what fits a query among all that a user ever said, and why.
    ///
    /// Searches every session and tier, by words and by meaning; a time in the query ("last week", "in March") lifts what
    /// was said then, and a time alone asks for what was said then. Each result shows its score, the day, its place
    /// (SESSION/NUMBER, as turn show takes it), its tier, the parts of its score, and how it begins.
    ///
    /// With a reranker (a cross-encoder) the best 50 come in the order that it gives them, each with what it gave beside
    /// its own score, and anchors keep their places. Where it does not answer, the order of recall stands.
    ///
    /// Leaves a receipt, which why explains; nothing else is written, and what ranks does not change.
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
    /// How the question was understood, how it was ranked and by which weights, what was missing; then everything that
    /// was considered, in order, each with its day, its place, what became of it and what it was found by. Last, the
    /// scores are worked out again from their parts. Without a receipt, lists the newest of them. The file keeps the
    /// newest 1,000 of each user. With --json, the receipt itself. Nothing is written.
    #[command(after_help = "Examples:\n  \
        thermocline why --user alex\n  \
        thermocline why --user alex last\n  \
        thermocline why --user alex 019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e")]
    Why(WhyArgs),

    /// Talk in the terminal, and see what is recalled.
    ///
    /// Each line is a message. Shows what its context recalled (the day, the score, how much of it is there, its place,
    /// its first words), then the reply of an LLM#2, if one is given, and records the turn as the answer to that
    /// context. Without an LLM#2 it shows the context that one would have been sent, and records the turn with an
    /// empty reply. What is typed may also come from a pipe: then the first failure ends it.
    ///
    /// Commands: /why explains what was recalled last; /context shows the last context; /end ends the session and
    /// leaves; /quit leaves, and the session stays open. A message that begins with / is sent with a blank before it.
    /// With --json a line for each message.
    #[command(after_help = "Examples:\n  \
        thermocline chat --user alex\n  \
        thermocline chat --user alex --session boat --budget-tokens 2000\n  \
        echo \"Where did I moor the boat?\" | thermocline chat --user alex")]
    Chat(ChatArgs),

    /// Measure how well recall finds what answers, on a user's own history.
    ///
    /// Reads questions whose evidence is known: the turns that answer them, by the ids that they were recorded with.
    /// Each is asked of every profile, 100 deep.
    ///
    /// recall@k: the share of a question's evidence among the first k turns. hit@10: whether any of it is. NDCG@10: the
    /// same, higher places counting more (1 / log2(place + 1), over the best possible). Session recall@5: the share of
    /// the evidence's sessions among the first 5, ranked by their best turn. All evidence in a cold part: the share of
    /// questions of which a context with a cold part of 900 tokens shows every evidence turn whole, its user's half or an
    /// extract to the letter; a summary does not count, and is reported beside it. All are means over the questions;
    /// times are of recall alone, once the user's index is in memory. main leaves out the categories adversarial and
    /// abstention, whose evidence is a trap. A question with evidence that the memory does not know is left out and
    /// counted. Nothing is written.
    #[command(after_help = "Examples:\n  \
        thermocline eval --user alex questions.jsonl\n  \
        thermocline eval --user alex questions.jsonl --categories --profile default\n  \
        thermocline eval --user alex questions.jsonl --weight neighbours=0 --json")]
    Eval(EvalArgs),

    /// See how far turns are embedded, or make all vectors anew.
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

    /// List, show, set or retract anchors: what is known of who the user is.
    ///
    /// Anchors are found in what users say, when their sessions are compressed. user.name, say: a subject (user,
    /// assistant, or a name) and an attribute. One value at a time have name, pronouns, birthday, age, home, hometown,
    /// employer, job, field, school and relationship: a new one supersedes the old, which is kept with its dates. Many
    /// have family, pets, likes, dislikes, hobbies, languages, health, diet, goals and note.
    #[command(
        subcommand,
        after_help = "Examples:\n  thermocline anchor list --user alex\n  \
                                        thermocline anchor set --user alex user.home Lisbon"
    )]
    Anchor(AnchorVerb),

    /// Save, show, list, change, relate, forget or erase memories: what is known beside what was said.
    ///
    /// A memory has a title, a text and a kind, and says whose words it has: those of the user are trusted more than the
    /// assistant's, and those more than what a tool or a document says. What is typed at a terminal counts as the user's;
    /// what a script or an agent saves is the assistant's, unless --origin says otherwise. Memories are named by their
    /// ids (mem_...), by the first or last digits of that, or by the caller's own id.
    #[command(
        subcommand,
        after_help = "Examples:\n  thermocline memory save --user alex \"Redis timeouts\" \"Keepalive fixes them.\" --kind fix\n  \
                                        thermocline memory list --user alex\n  \
                                        thermocline memory undo --user alex redis-fix"
    )]
    Memory(MemoryVerb),

    /// Keep a user's memories as a folder of markdown files: to read, to edit, for Obsidian and git.
    ///
    /// The file of Thermocline stays the truth; sync takes in what people changed in the folder, and writes what is known.
    /// Being used changes no file that git keeps.
    #[command(
        subcommand,
        after_help = "Examples:\n  thermocline vault init notes --user alex\n  thermocline vault sync notes --user alex"
    )]
    Vault(VaultVerb),

    /// List, run or retry the jobs that wait in the file.
    ///
    /// A session that ends leaves a job: to compress it. Programs that use the library run jobs by themselves;
    /// where none is running, jobs run does.
    #[command(subcommand, after_help = "Examples:\n  thermocline jobs list\n  thermocline jobs run")]
    Jobs(JobsVerb),

    /// Erase a turn, a session, or all of a user: out of the rows and out of the bytes of the file.
    ///
    /// Turns wherever they are, their words, summaries, moves and jobs go; of a user also the anchors and the name.
    /// Anchors that an erased turn or session shares with others are made anew from those; with a turn goes what it had
    /// replaced. It cannot be undone. Asks first,
    /// unless --yes is given; where nobody sits at a terminal, it only says what would go, and exits with 3.
    ///
    /// Cut short by a crash, it is finished by jobs run. Exits with 6 if the log of the file still holds old bytes,
    /// since another program reads the file: end that, and jobs run empties the log.
    ///
    /// What it cannot reach: backups and exports that were made before, what other processes hold in memory until
    /// their next look at the file, and copies that the disk or its file system keeps below the file. A vault's folder
    /// follows at its next sync; where the whole user is erased, remove it yourself.
    #[command(after_help = "Examples:\n  thermocline erase --user alex --session s1\n  \
                            thermocline erase --user alex --turn s1/3\n  \
                            thermocline erase --user alex --yes")]
    Erase(EraseArgs),

    /// Count what is in the file.
    ///
    /// Users, sessions, moves between tiers, and the turns, tokens and text of each tier: of all users together, and
    /// nothing of what anybody said. Sizes are in B, KiB (1,024 B), MiB ..., with --json in bytes.
    ///
    /// Of contexts that answered a turn: what was of use; how the rules fare that keep turns verbatim, of which one with
    /// 200 chances and no use keeps no more for its user; and by month which tiers were reached: hot by contexts that
    /// showed hot turns, warm and cold by those that showed something from there for what it says.
    #[command(after_help = "Examples:\n  thermocline stats\n  thermocline --json stats")]
    Stats,

    /// Check whether the whole file is sound.
    ///
    /// Its pages, the counts that must agree, and every text against its hash; then its settings. Reads all of it,
    /// which takes minutes for gigabytes; others may go on meanwhile. Exits with 7 if something does not hold: then
    /// keep the file, and restore a backup.
    #[command(after_help = "Example:\n  thermocline doctor && echo sound")]
    Doctor,

    /// Write a whole copy of the file as of this moment.
    ///
    /// Others may read and write meanwhile (cp would then copy a broken file). The copy appears under its name only
    /// once it is on the disk, and never replaces a file.
    #[command(after_help = "Example:\n  thermocline backup thermocline-2026-06-01.db")]
    Backup(BackupArgs),

    /// Write all of a user's memory into a file: JSON Lines, to move it or to keep it.
    ///
    /// Sessions, turns (also those in the archive), summaries, anchors with their evidence, moves between tiers, and
    /// memories with their history, edges and episodes, as of one moment; others may read and write meanwhile. Its last line says that it is whole. What was deleted is not
    /// in it, nor are jobs. Whoever has the export has all that the user said: only its owner may read it, and erase
    /// does not reach it. To stdout, the counts are told on stderr.
    #[command(after_help = "Examples:\n  thermocline export --user alex alex.jsonl\n  \
                            thermocline export --user alex - | gzip > alex.jsonl.gz")]
    Export(UserExportArgs),

    /// Read what export wrote, as the memory of a user who has none yet.
    ///
    /// All of it or nothing: an export with a wrong line, cut short, or with ids that the file has already, changes
    /// nothing. Sessions that have ended but were not compressed wait for jobs run.
    #[command(after_help = "Examples:\n  thermocline --db other.db import --user alex alex.jsonl\n  \
                            zcat alex.jsonl.gz | thermocline import --user alex -")]
    Import(ImportArgs),

    /// Answer HTTP and MCP, for programs that do not link the library.
    ///
    /// Listens on this machine's own address and needs no key there: what is asked may read, write and inspect, and may not
    /// erase, export or back up. /openapi.json says what can be asked. Ctrl-C ends it, when what runs is done.
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

    /// Who may ask a server: make, list and revoke keys.
    #[cfg(feature = "service")]
    #[command(
        subcommand,
        after_help = "Examples:\n  thermocline key add laptop --scope read,write --user alex\n  thermocline key list"
    )]
    Key(crate::service::key::KeyVerb),

    /// Speak MCP on standard input and output, for one user: what desktop clients start.
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
    /// Always plain text, also with --json.
    #[command(after_help = "Examples:\n  \
        thermocline completions bash > ~/.local/share/bash-completion/completions/thermocline\n  \
        thermocline completions zsh > ~/.zfunc/_thermocline\n  \
        thermocline completions fish > ~/.config/fish/completions/thermocline.fish")]
    Completions(CompletionsArgs),

    /// Print the help of a verb, as its --help does.
    #[command(after_help = "Examples:\n  thermocline help replay\n  thermocline help session show")]
    Help(HelpArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum SessionVerb {
    /// List a user's sessions, newest first.
    ///
    /// Times are UTC, tokens those of the texts as they were said. Page by page: --limit 50, then --after with the last
    /// one.
    #[command(after_help = "Examples:\n  thermocline session list --user alex\n  \
                            thermocline --json session list --user alex --limit 50 --after s1")]
    List(SessionListArgs),

    /// Show a session: its turns by tier, oldest first, and why they moved.
    ///
    /// Each turn with its place in the session, the time it was said (UTC), its tokens, the reason of its last move
    /// between tiers, and how it begins. A cold turn says how it is kept: verbatim, since it is critical (by which
    /// rule) or short; in the archive; or only as a summary, if its original was deleted. With --json the turns are
    /// whole, and every move has its time.
    #[command(after_help = "Examples:\n  thermocline session show --user alex s1\n  \
                            thermocline session show --user alex --last 20 s1")]
    Show(SessionShowArgs),

    /// Read what was said in a session, oldest first, wherever its turns live.
    ///
    /// 50 turns from the beginning, unless --limit, --after, --before or --last say otherwise. A turn whose original was
    /// deleted is its summary; one that is damaged is named. With --json, kind is turn, summary or damaged.
    #[command(after_help = "Examples:\n  thermocline session turns --user alex s1 --after 50\n  \
                            thermocline session turns --user alex s1 --last --limit 10")]
    Turns(SessionTurnsArgs),

    /// Show or set what a session keeps for as long as it lasts: an agent's plan, its variables.
    ///
    /// Without NAME all of it, with NAME that, with TEXT it is written over. An empty text, "", clears it, and so does the
    /// end of the session. It is neither searched nor shown to an LLM, and has no history.
    #[command(
        after_help = "Examples:\n  thermocline session state --user alex s1 plan \"1. look 2. leap\"\n  \
                            thermocline session state --user alex s1"
    )]
    State(SessionStateArgs),

    /// End a session now: its hot turns become warm, and it never reopens; by its key its talk goes on in a next part.
    ///
    /// Ending it again changes nothing. A session ends by itself after 24 hours of silence.
    #[command(after_help = "Example:\n  thermocline session end --user alex s1")]
    End(SessionArgs),

    /// Show the summaries that stand for the turns of a compressed session.
    ///
    /// Each with the place of its turn, when that was said (UTC), who wrote the summary ("extractive": the built-in means;
    /// "extractive-fallback": the same, since the LLM failed), and its topics. turn show has the original, if it was not
    /// deleted.
    #[command(after_help = "Example:\n  thermocline session summaries --user alex s1")]
    Summaries(SessionArgs),

    /// Undo the compression of an ended session: its turns come back out of the archive, its summaries go.
    ///
    /// The turns become warm, and no job compresses them again until session compress asks for it. Turns whose
    /// originals were deleted stay summaries. Anchors stay.
    #[command(after_help = "Example:\n  thermocline session restore --user alex s1")]
    Restore(SessionArgs),

    /// Queue the compression of an ended session that was restored; jobs run does it.
    ///
    /// Other sessions need no such call: theirs is queued when they end.
    #[command(after_help = "Example:\n  thermocline session compress --user alex s1 && thermocline jobs run")]
    Compress(SessionArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum UserVerb {
    /// List all users, in the order in which they were added: id, how much there is of each, name.
    ///
    /// turns: all that were ever recorded; tokens: theirs, as they were said. A name is shown as - if only the id is
    /// known. Nothing of what anybody said.
    #[command(after_help = "Examples:\n  thermocline user list\n  \
                            thermocline --json user list --limit 100 --after alex")]
    List(UserListArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum AnchorVerb {
    /// List a user's anchors that hold, by subject, attribute and value.
    ///
    /// strength is 1 - 0.5^n for n turns that say so; since: when it was first said, and not ended since.
    #[command(after_help = "Examples:\n  thermocline anchor list --user alex\n  \
                            thermocline anchor list --user alex --all --subject \"sister anna\"")]
    List(AnchorListArgs),

    /// Show anchors with their evidence: the turns that say so, when, in which words, and who found it.
    #[command(after_help = "Example:\n  thermocline anchor show --user alex user.home")]
    Show(AnchorShowArgs),

    /// Set an anchor by hand.
    ///
    /// Under an attribute with one value it supersedes what held. What was retracted counts again.
    #[command(after_help = "Examples:\n  thermocline anchor set --user alex user.home Lisbon\n  \
                            thermocline anchor set --user alex \"sister anna.birthday\" \"4 May\"")]
    Set(AnchorSetArgs),

    /// Take an anchor back: nothing that was said up to now counts for it.
    ///
    /// What it had superseded holds again; what is said later counts. A key stands for what holds under it: if that is
    /// several values, add =VALUE, or name one by its id.
    #[command(after_help = "Examples:\n  thermocline anchor retract --user alex user.home\n  \
                            thermocline anchor retract --user alex user.likes=tea")]
    Retract(AnchorRetractArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobsVerb {
    /// List the jobs of all users, in the order in which they were queued.
    ///
    /// A job that is done is gone from the list. compress: a session has ended. erase: an erase was cut short. scrub: the
    /// file or its log still holds bytes of what was erased. index, embed: words and vectors of new turns are to go where
    /// recall reads them. mend: a damaged index or damaged vectors are to be made anew. derive: what older rules derived of
    /// turns is to be derived anew. prune: what older versions kept for ever is to go. validate: memories
    /// that are stale were shown, and sensors are to look whether they hold. tend: a
    /// new day has begun for the user's memories. extract: an ended session is to be looked
    /// through for memories (jobs run --extract). Each with the turns it has done, its
    /// tries, when it runs next (UTC), and why its last try failed. Users are shown by their ids, which --user takes too.
    #[command(
        after_help = "Examples:\n  thermocline jobs list\n  thermocline --json jobs list --limit 100 --after 17"
    )]
    List(JobsListArgs),

    /// Run the jobs that are due, until none is.
    ///
    /// Ends the sessions that silence has ended, then compresses what has ended: critical and short turns stay
    /// verbatim, the others are summarized and their originals go into the archive; and makes the index of words and the
    /// vectors that are missing, also those of an embedder that is named here. A job that does not succeed is put
    /// off and tried again later, at last given up; the report counts both, and the exit code is 0. It may be
    /// interrupted at any time: what is done is done, the rest waits. Other programs may use the file meanwhile: of a job
    /// that one of them works on it says until when that one has it, and with --wait it waits.
    #[command(
        after_help = "Examples:\n  thermocline jobs run\n  thermocline jobs run --wait\n  thermocline jobs run --max 100\n  \
                            thermocline jobs run --originals delete --llm-url http://localhost:11434/v1 --llm-model qwen3:8b"
    )]
    Run(Box<JobsRunArgs>),

    /// Have an LLM do again what the built-in summarizer did, because the LLM was down or none was named.
    ///
    /// Restores the sessions in which the built-in summarizer wrote a summary, a session of the user or all, and has the
    /// LLM that is named compress what waits of the user; other users' sessions are left alone. It may be interrupted at
    /// any time: nothing is lost, and the same command goes on.
    #[command(after_help = "Examples:\n  \
        thermocline jobs compress-again --user alex --llm-url http://localhost:11434/v1 --llm-model qwen3:8b\n  \
        thermocline jobs compress-again --user alex --session s1")]
    CompressAgain(CompressAgainArgs),

    /// Make jobs due that were given up or put off.
    #[command(after_help = "Examples:\n  thermocline jobs retry\n  thermocline jobs retry 17")]
    Retry(JobsRetryArgs),
}

#[derive(Debug, Subcommand)]
pub(crate) enum EmbedVerb {
    /// Make the vectors of the embedder that is named anew, or those of the built-in one.
    ///
    /// After a change of the model it is not needed: jobs run sees to that. It is, where a model changed behind its name.
    /// Vectors of other models stay, unless --drop-others is given. Meanwhile recall goes on by words and by the built-in
    /// embedder. It may be interrupted at any time: jobs run does the rest.
    #[command(
        after_help = "Examples:\n  thermocline embed rebuild\n  thermocline embed rebuild --drop-others"
    )]
    Rebuild(EmbedArgs),

    /// Show how far each user's turns are embedded, by each model.
    ///
    /// Users are shown by their ids, which --user takes too. refused: turns that the model would not take; they are found
    /// by words, and tried again. What the newest turns lack of the built-in model's vectors, recall makes itself.
    #[command(after_help = "Example:\n  thermocline embed status")]
    Status,
}

#[derive(Debug, Subcommand)]
pub(crate) enum TurnVerb {
    /// Show a turn whole: what was said, when, its tokens, and where it lives.
    ///
    /// Of a summarized turn also its summary; if its original was deleted, only that. With --json, original is kept
    /// (verbatim among the turns), archived or deleted.
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
