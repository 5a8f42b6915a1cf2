//! Puts all routes together, and turns a request to a route of the table into a call.

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{RawPathParams, Request, State, rejection::RawPathParamsRejection},
    http::HeaderMap,
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodFilter, on},
};
use serde_json::{Map, Value};

use crate::{
    bodies::AwaitedBody,
    caller::Caller,
    http::{Http, about, answer, body, conditions, layers, mcp, query::QueryFields, spool},
    ops::{
        Result, Row,
        call::Surface,
        problem::{Code, Problem},
        spec::{Body, Method},
    },
    service::{Admitted, Tagged},
};

/// Returns all routes: those of the table, and those about the server itself.
pub(super) fn router(http: Arc<Http>) -> Router {
    let mut keyed = Router::new();
    for row in http.service.table {
        let door = Arc::new(Door { row, fields: QueryFields::of(row) });
        let handler = move |State(http): State<Arc<Http>>,
                            Extension(caller): Extension<Arc<Caller>>,
                            params: std::result::Result<RawPathParams, RawPathParamsRejection>,
                            request: Request| {
            let door = Arc::clone(&door);
            async move { door.answer(&http, caller, params, request).await }
        };
        keyed = keyed.route(row.spec.http.path, on(filter(row.spec.http.method), handler));
    }
    keyed = keyed.merge(mcp::routes(&http)).merge(about::inspected());
    let layer = middleware::from_fn_with_state(Arc::clone(&http), layers::keyed);
    Router::new()
        .merge(keyed.route_layer(layer))
        .merge(about::open(http.service.table))
        .fallback(|request| layers::refused(request, no_such_route()))
        .method_not_allowed_fallback(|request| layers::refused(request, no_such_method()))
        .layer(middleware::from_fn_with_state(Arc::clone(&http), layers::outer))
        .with_state(http)
}

fn no_such_route() -> Problem {
    Problem::new(Code::NoSuchRoute, "there is no such address; /openapi.json lists them")
}

pub(super) fn no_such_method() -> Problem {
    Problem::new(
        Code::NoSuchMethod,
        "this address does not take this method; the header Allow names those it takes",
    )
}

/// An operation's route, and the fields that its path and query may have.
struct Door {
    row: &'static Row,
    fields: QueryFields,
}

/// The parts of a request that are known before its body is read.
struct RequestHead {
    admitted: Admitted,
    fields: Map<String, Value>,
    /// `None` if the request has no body that is read.
    awaited: Option<AwaitedBody>,
}

impl Door {
    async fn answer(
        &self,
        http: &Http,
        caller: Arc<Caller>,
        params: std::result::Result<RawPathParams, RawPathParamsRejection>,
        request: Request,
    ) -> Response {
        let head = match self.head(http, caller, params, &request) {
            Ok(head) => head,
            Err(problem) => return layers::refused(request, problem).await,
        };
        match self.run(http, head, request).await {
            Ok(response) => response,
            Err(problem) => problem.into_response(),
        }
    }

    /// Makes every decision that does not need the body.
    fn head(
        &self,
        http: &Http,
        caller: Arc<Caller>,
        params: std::result::Result<RawPathParams, RawPathParamsRejection>,
        request: &Request,
    ) -> Result<RequestHead> {
        http.service.count(&caller, "http", self.row.spec.name)?;
        let params = params.map_err(|_| Problem::bad_request("the address is not UTF-8"))?;
        let user = params.iter().find(|(name, _)| *name == "user").map(|(_, user)| user.to_owned());
        let admitted = http.service.admit(self.row, caller, user, Surface::Http)?;
        let mut fields = Map::new();
        for (name, value) in params.iter().filter(|(name, _)| *name != "user") {
            fields.insert(name.to_owned(), self.fields.value(name, value.to_owned())?);
        }
        let query = request.uri().query().unwrap_or_default();
        if !self.is_asked_in_body() {
            join(&mut fields, self.fields.query(query)?)?;
        } else if !query.is_empty() {
            return Err(Problem::bad_request("this address takes its fields in the body, not in a query"));
        }
        let has_body = match self.row.spec.body {
            Body::LinesIn => spool::check(request.headers(), http.max_import_bytes).map(|()| true)?,
            _ if self.is_asked_in_body() => {
                body::check(request.headers(), http.max_body_bytes).map(|()| true)?
            }
            _ => false,
        };
        let awaited = has_body.then(|| http.service.await_body(admitted.caller())).transpose()?;
        Ok(RequestHead { admitted, fields, awaited })
    }

    /// Reads the body, runs the operation, and builds the response.
    async fn run(&self, http: &Http, head: RequestHead, request: Request) -> Result<Response> {
        let RequestHead { admitted, mut fields, awaited } = head;
        if conditions::is_tagged(self.row.spec) {
            return tagged(http, admitted, fields, request.headers()).await;
        }
        let headers = request.headers().clone();
        let seen = |problem: Problem| {
            http.service.notice(self.row.spec.name, &problem);
            problem
        };
        let (mut room, mut spool) = (None, None);
        match self.row.spec.body {
            Body::LinesIn => {
                let file = spool::file(http.service.memory.path()).map_err(seen)?;
                let received = spool::receive(request, file, http.max_import_bytes).await.map_err(seen)?;
                http.service.limits.count_bytes(admitted.caller(), received.bytes);
                spool = Some(received.file);
            }
            _ if self.is_asked_in_body() => {
                let limits = &http.service.limits;
                let said = body::fields(request, http.max_body_bytes, limits, admitted.caller()).await?;
                join(&mut fields, said.0)?;
                room = Some(said.1);
            }
            _ => {}
        }
        drop(awaited);
        conditions::add_headers(&self.fields, &headers, &mut fields)?;
        let response = if self.row.spec.body == Body::LinesOut {
            let file = spool::file(http.service.memory.path()).map_err(seen)?;
            let to = file.try_clone().map_err(|error| seen(Problem::unexpected(&error)))?;
            admitted.run(Value::Object(fields), Some(to)).await?;
            spool::send(file).await.map_err(seen)?
        } else {
            answer::reply(admitted.run(Value::Object(fields), spool).await?)
        };
        drop(room);
        Ok(response)
    }

    /// Whether the fields are in the body, as JSON; otherwise they are in the query.
    fn is_asked_in_body(&self) -> bool {
        let spec = self.row.spec;
        !matches!(spec.http.method, Method::Get | Method::Delete) && spec.body != Body::LinesIn
    }
}

/// Returns a response with an `ETag`, or the status 304 if the client already has it.
async fn tagged(
    http: &Http,
    admitted: Admitted,
    fields: Map<String, Value>,
    headers: &HeaderMap,
) -> Result<Response> {
    let (run, known) = (http.run.clone(), conditions::known(headers));
    let is_known = move |revision| conditions::is_known(&known, &conditions::tag(&run, revision));
    let Tagged { reply, revision } = admitted.run_unless(Value::Object(fields), is_known).await?;
    let tag = revision.map(|revision| conditions::tag(&http.run, revision));
    Ok(answer::tagged(reply, tag.as_deref()))
}

/// Adds the fields of the body or the query to those of the path. Errors: a field of the path is given again.
fn join(fields: &mut Map<String, Value>, said: Map<String, Value>) -> Result<()> {
    for (name, value) in said {
        if fields.contains_key(&name) {
            return Err(Problem::bad_request(format!(
                "{name} is part of the address, and cannot be a field too"
            )));
        }
        fields.insert(name, value);
    }
    Ok(())
}

fn filter(method: Method) -> MethodFilter {
    match method {
        Method::Get => MethodFilter::GET,
        Method::Post => MethodFilter::POST,
        Method::Put => MethodFilter::PUT,
        Method::Patch => MethodFilter::PATCH,
        Method::Delete => MethodFilter::DELETE,
    }
}
