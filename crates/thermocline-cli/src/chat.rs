//! `thermocline chat`: a conversation in the terminal that shows what each message recalls.

use std::io::{self, BufRead, IsTerminal};

use serde::Serialize;
use thermocline::{
    ChatModel, ChatPrompt, Context, ContextOptions, NewTurn, OpenAiCompatible, Recorded,
    blocking::{Session, User},
};

use crate::{
    context,
    counts::counted,
    exit::{Exit, Failure},
    find::{self, Db},
    output::Output,
    places::Places,
    plain,
    provider_args::TalkerArgs,
    providers,
    recall_args::ChatArgs,
    session, why,
};

/// The beginning of LLM#2's instructions; the memory follows.
const INSTRUCTIONS: &str = "You talk with a user. What you remember of them and of this talk stands below; what the user \
    says now is not part of it. Use it where it helps, and do not speak of it as data.\n\n";
/// The commands that can be typed instead of a message.
const COMMANDS: &str = "/why explains the last recall, /context shows the last context, /end ends the \
     session and leaves, /quit leaves";

pub(crate) fn run(db: &Db, args: &ChatArgs, out: &Output) -> Result<(), Failure> {
    let talker = Talker::of(args)?;
    let memory = find::made(db, args.sensors.add_to(args.reranker.add_to(args.embedder.config()?)?)?)?;
    let user = find::user_or_new(&memory, &args.user)?;
    let session = match &args.session {
        Some(key) => user.session_named(key)?,
        None => user.session()?,
    };
    let is_typed = io::stdin().is_terminal();
    if is_typed {
        out.talk(&format!("session {}; {COMMANDS}", session::name(&session.info()?)));
    }
    let mut chat =
        Chat { user, session, talker, budget_tokens: args.budget_tokens, last: None, recorded: 0, out };
    let mut input = io::stdin().lock();
    let mut line = String::new();
    loop {
        if is_typed {
            out.prompt("> ");
        }
        line.clear();
        let read = input
            .read_line(&mut line)
            .map_err(|error| Failure::caused(Exit::FileUnusable, "the input cannot be read", error))?;
        if read == 0 {
            break;
        }
        match chat.take(line.trim_end_matches(['\n', '\r'])) {
            Ok(true) => {}
            Ok(false) => break,
            // At a terminal, the failure is shown and the chat continues; a script gets the exit code.
            Err(failure) if is_typed => out.talk(&format!("failed: {failure}; the turn was not recorded")),
            Err(failure) => return Err(failure),
        }
    }
    chat.leave();
    Ok(())
}

struct Chat<'a> {
    user: User,
    session: Session,
    talker: Talker,
    budget_tokens: Option<u32>,
    last: Option<Context>,
    recorded: usize,
    out: &'a Output,
}

/// One message and what followed from it, as JSON.
#[derive(Debug, Serialize)]
struct Exchange<'a> {
    message: &'a str,
    /// `None` without an LLM#2.
    reply: Option<&'a str>,
    context: &'a Context,
    recorded: &'a Recorded,
}

impl Chat<'_> {
    /// Handles a typed line. Returns false if it was the last.
    fn take(&mut self, line: &str) -> Result<bool, Failure> {
        match line.trim() {
            "" => {}
            "/quit" => return Ok(false),
            "/end" => {
                let info = self.session.end()?;
                self.say(&info, session::about)?;
                return Ok(false);
            }
            "/why" => match &self.last {
                Some(context) => {
                    let receipt = self.user.receipt(context.receipt)?;
                    let text = why::explained(&self.user, context.receipt)?;
                    self.say(&receipt, |_| text)?;
                }
                None => self.out.talk("nothing has been recalled yet"),
            },
            "/context" => match &self.last {
                Some(context) => self.say(context, |context| plain::block(&context.text))?,
                None => self.out.talk("no context has been built yet"),
            },
            command if line.starts_with('/') => {
                let command = plain::line(command, 20);
                let space = "to send a message that begins with /, put a space before it";
                self.out.talk(&format!("there is no {command}: {COMMANDS}; {space}"));
            }
            message => self.answer(message)?,
        }
        Ok(true)
    }

    /// Recalls for a message, gets a reply, and records both.
    fn answer(&mut self, message: &str) -> Result<(), Failure> {
        let mut options = ContextOptions::default();
        options.budget_tokens = self.budget_tokens;
        let context = self.session.context(message, options)?;
        if !self.out.is_json() {
            for line in Places::of(&self.user)?.recalled(&context)? {
                self.out.print(&format!("  {line}\n"))?;
            }
            self.out.print(&format!("  {}\n", plain::line(&context::about(&context), usize::MAX)))?;
        }
        let context = self.last.insert(context);
        let reply = self.talker.reply(context, message)?;
        let turn = NewTurn::new(message, reply.as_deref().unwrap_or_default()).answering(context.receipt);
        let recorded = self.session.record(turn)?;
        self.recorded += 1;
        if self.out.is_json() {
            return self.out.line(&Exchange {
                message,
                reply: reply.as_deref(),
                context,
                recorded: &recorded,
            });
        }
        self.out.print(&match &reply {
            Some(reply) => format!("{}\n\n", plain::block(reply.trim_end())),
            None => format!("{}\n", plain::block(&context.text)),
        })
    }

    fn leave(&self) {
        self.out.talk(&format!("{} recorded", counted(self.recorded, "turn")));
    }

    /// Prints text for a person, or a line of JSON.
    fn say<T: Serialize>(&self, said: &T, text: impl FnOnce(&T) -> String) -> Result<(), Failure> {
        if self.out.is_json() { self.out.line(said) } else { self.out.print(&text(said)) }
    }
}

/// The LLM that replies.
struct Talker {
    llm: Option<OpenAiCompatible>,
}

impl Talker {
    fn of(args: &ChatArgs) -> Result<Self, Failure> {
        let TalkerArgs { llm_url, llm_model, llm_key_var } = &args.llm;
        let llm = providers::llm("LLM#2", llm_url.as_deref(), llm_model.as_deref(), llm_key_var)?;
        Ok(Self { llm })
    }

    /// Asks LLM#2 for a reply; `None` if there is no LLM#2.
    fn reply(&self, context: &Context, message: &str) -> Result<Option<String>, Failure> {
        let Some(llm) = &self.llm else { return Ok(None) };
        let prompt = ChatPrompt::text([INSTRUCTIONS, &context.text].concat(), message);
        Ok(Some(providers::wait_for(llm.complete(&prompt))??))
    }
}
