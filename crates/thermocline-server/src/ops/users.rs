//! The operations on users: list, show, erase, export, import.

use std::io::{BufReader, BufWriter};

use schemars::JsonSchema;
use serde::Deserialize;
use thermocline::{Erased, Transferred, UserId, UserInfo};

use crate::ops::{
    Operation, OperationOutcome, Result, Row,
    call::Call,
    page::{Cursor, Limit, Page, PageRequest},
    row,
    sessions::Nothing,
    spec::{Again, Body, Class, Effect, KeyScope, Route, Spec, Tool},
};

/// Returns the user operations.
pub fn rows() -> Vec<Row> {
    vec![row::<UserList>(), row::<UserShow>(), row::<UserErase>(), row::<UserExport>(), row::<UserImport>()]
}

/// Asks for a page of the file's users.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserListRequest {
    /// Maximum number of users, from 1 to 200. Default: 50.
    pub limit: Option<Limit>,
    /// The `next_cursor` of the previous page.
    pub cursor: Option<Cursor>,
}

/// Lists users.
#[derive(Debug)]
pub struct UserList;

impl Operation for UserList {
    const SPEC: Spec = Spec::inspects(
        "user_list",
        "The file's users, in the order in which they were added: names and counts.",
        Route::get("/v1/users"),
    );
    type Request = UserListRequest;
    type Response = Page<UserInfo>;

    fn run(call: Call, request: UserListRequest) -> Result<Page<UserInfo>> {
        let asked: PageRequest<UserId> =
            PageRequest::new("user_list", request.limit, request.cursor.as_ref())?;
        let users = call.memory().users(asked.after, asked.to_read());
        Ok(asked.page(users.map_err(|error| asked.failed(error))?, |user| user.id))
    }
}

/// Shows a user.
#[derive(Debug)]
pub struct UserShow;

impl Operation for UserShow {
    const SPEC: Spec = Spec {
        tool: Some(Tool { name: "memory_stats", title: "How much there is" }),
        ..Spec::reads(
            "user_show",
            "The user's number of sessions, turns and tokens.",
            Route::get("/v1/users/{user}"),
        )
    };
    type Request = Nothing;
    type Response = UserInfo;

    fn run(call: Call, _: Nothing) -> Result<UserInfo> {
        Ok(call.user()?.info()?)
    }
}

/// Erases a user.
#[derive(Debug)]
pub struct UserErase;

impl Operation for UserErase {
    const SPEC: Spec = Spec::erases(
        "user_erase",
        "Erase everything of a user from the file's bytes: sessions, memories, facts, jobs and the name.",
        Route::delete("/v1/users/{user}"),
    );
    type Request = Nothing;
    type Response = Erased;

    fn run(call: Call, _: Nothing) -> Result<Erased> {
        Ok(call.user()?.erase()?)
    }

    fn outcome(erased: &Erased) -> OperationOutcome {
        OperationOutcome::of_erase(erased)
    }
}

/// Exports a user.
#[derive(Debug)]
pub struct UserExport;

impl Operation for UserExport {
    const SPEC: Spec = Spec {
        scope: KeyScope::Admin,
        class: Class::Long,
        body: Body::LinesOut,
        ..Spec::reads(
            "user_export",
            "All of the user's memory as JSON Lines, as of this moment; user_import reads them.",
            Route::get("/v1/users/{user}/export"),
        )
    };
    type Request = Nothing;
    type Response = Transferred;

    fn run(mut call: Call, _: Nothing) -> Result<Transferred> {
        let user = call.user()?;
        Ok(user.export(BufWriter::new(call.take_spool()?))?)
    }
}

/// Imports a user.
#[derive(Debug)]
pub struct UserImport;

impl Operation for UserImport {
    const SPEC: Spec = Spec {
        scope: KeyScope::Admin,
        effect: Effect::Adds,
        class: Class::Long,
        body: Body::LinesIn,
        again: Again::Same,
        ..Spec::reads(
            "user_import",
            "Import the output of user_export as the memory of a user of this name who has none yet; all or nothing.",
            Route::post("/v1/users/{user}/import"),
        )
    };
    type Request = Nothing;
    type Response = Transferred;

    fn run(mut call: Call, _: Nothing) -> Result<Transferred> {
        // The lines say themselves how far each of them is trusted.
        call.check_acts_for_the_user("import what a file says that a user said")?;
        let lines = BufReader::new(call.take_spool()?);
        let imported = call.memory().import(call.new_user_name()?, lines)?;
        // Looks the user up so that the audit file names them. The import is done, whether the look-up succeeds or not.
        drop(call.find_user());
        Ok(imported)
    }
}
