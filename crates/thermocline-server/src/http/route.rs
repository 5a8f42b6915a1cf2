//! From a request to a call: the routes are the table's.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    extract::{RawPathParams, Request, State},
    middleware,
    response::{IntoResponse, Response},
    routing::{MethodFilter, get, on},
};
use serde_json::Value;

use crate::{
    http::{Http, answer, body, guard, openapi},
    ops::{
        self, Result, Row,
        call::Surface,
        problem::{Code, Problem},
        spec::Method,
    },
    service::Asked,
};

/// Every route: the table's, and those about the server itself.
pub(super) fn router(http: Arc<Http>) -> Router {
    let table = http.service.table;
    let mut router = Router::new()
        .route("/openapi.json", get(move || async move { axum::Json(openapi::document(table)) }))
        .fallback(|| async {
            answer::problem(&Problem::new(
                Code::NoSuchRoute,
                "there is no such address; /openapi.json lists them",
            ))
        })
        .method_not_allowed_fallback(|| async {
            answer::problem(&Problem::new(
                Code::NoSuchMethod,
                "this address has other methods; the header Allow names them",
            ))
        });
    for row in table {
        let handler = move |State(http): State<Arc<Http>>, params: RawPathParams, request: Request| {
            handle(http, row, params, request)
        };
        router = router.route(row.spec.http.path, on(filter(row.spec.http.method), handler));
    }
    router.layer(middleware::from_fn_with_state(Arc::clone(&http), guarded)).with_state(http)
}

/// What comes from foreign addresses and pages goes no further.
async fn guarded(State(http): State<Arc<Http>>, request: Request, next: middleware::Next) -> Response {
    match guard::check(&http, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => answer::problem(&problem),
    }
}

async fn handle(http: Arc<Http>, row: &'static Row, params: RawPathParams, request: Request) -> Response {
    match call(&http, row, &params, request).await {
        Ok(reply) => answer::reply(reply),
        Err(problem) => answer::problem(&problem),
    }
}

async fn call(
    http: &Http,
    row: &'static Row,
    params: &RawPathParams,
    request: Request<Body>,
) -> Result<ops::Reply> {
    let caller = Arc::clone(&http.local);
    let user = params.iter().find(|(name, _)| *name == "user").map(|(_, user)| user.to_owned());
    caller.may(row.spec, user.as_deref())?;
    let mut fields = body::fields(row, request, http.max_body_bytes).await?;
    for (name, value) in params.iter().filter(|(name, _)| *name != "user") {
        if fields.insert(name.to_owned(), value.into()).is_some() {
            return Err(Problem::bad_request(format!(
                "{name} is a part of the address, and no field of the body"
            )));
        }
    }
    let asked = Asked { caller, user, surface: Surface::Http, request: Value::Object(fields), spool: None };
    http.service.run(row, asked).await
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

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        answer::problem(&self)
    }
}
