//! Endpoints with `/rerank` in the style of Cohere (Jina, vLLM and others), and Hugging Face's text-embeddings-inference.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    endpoint::Endpoint,
    error::{Error, Result},
    own_thread::on_own_thread,
    rerank::{Reranker, Reranking},
};

/// The default time limit of one request. A recall gives up earlier, and its abandoned request may continue for this
/// long.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of texts in a request. Cohere accepts 1,000.
const BATCH_TEXTS: usize = 500;
/// The maximum number of texts in a request that text-embeddings-inference accepts by default.
const TEI_BATCH_TEXTS: usize = 32;
/// The maximum bytes of JSON for each byte of a text that the answer repeats, as Jina's answers do.
const MAX_BYTE_BYTES: usize = 6;
/// The maximum bytes of an answer for each text, besides the text itself.
const MAX_RESULT_BYTES: usize = 1 << 10;
/// The maximum bytes of an answer besides its results.
const MAX_FRAME_BYTES: usize = 64 << 10;

/// A [`Reranker`] that uses a `/rerank` endpoint. Feature `llm`.
///
/// ```no_run
/// use thermocline::HttpReranker;
///
/// # fn run() -> thermocline::Result<()> {
/// // vLLM on this machine. Hosted: "https://api.cohere.com/v2" or "https://api.jina.ai/v1", and `.api_key(..)`.
/// let reranker = HttpReranker::new("http://localhost:8000/v1", "BAAI/bge-reranker-v2-m3")?;
/// // Hugging Face's text-embeddings-inference, which serves one model and asks for no name.
/// let reranker = HttpReranker::tei("http://localhost:8080")?;
/// # Ok(())
/// # }
/// ```
///
/// The query and the texts of what recall found (turns or parts of them, summaries, memories) are sent to this address,
/// and to no other: redirects are refused. Proxies are taken from the environment (`HTTPS_PROXY`, `NO_PROXY`), except
/// for this machine itself.
#[derive(Clone, Debug)]
pub struct HttpReranker {
    endpoint: Endpoint,
    /// `None` for text-embeddings-inference, which serves only one model.
    model: Option<String>,
}

impl HttpReranker {
    /// Creates a reranker for the model of this name at this address: `http://localhost:8000/v1`, to which `/rerank` is
    /// added. For Cohere, Jina, vLLM and compatible servers.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) if the address is not an `http` or `https`
    /// address, or contains a user, password, query or fragment: keys do not belong in an address.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Result<Self> {
        let endpoint = Endpoint::new("the reranker", base_url, REQUEST_TIMEOUT)?;
        Ok(Self { endpoint, model: Some(model.into()) })
    }

    /// Creates a reranker for the model that Hugging Face's text-embeddings-inference serves at this address:
    /// `http://localhost:8080`, to which `/rerank` is added. The server truncates texts that are too long for the model.
    /// Scores are the model's own (`raw_scores`). A request has at most 32 texts.
    ///
    /// Errors: those of [`new`](Self::new).
    pub fn tei(base_url: impl Into<String>) -> Result<Self> {
        let endpoint = Endpoint::new("the reranker", base_url, REQUEST_TIMEOUT)?;
        Ok(Self { endpoint, model: None })
    }

    /// Sets the API key, which is sent as a bearer token, and only over `https` or to this machine. Default: none, as
    /// local servers expect. The key appears in no error and no `Debug` output.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.endpoint.set_api_key(key.into());
        self
    }

    /// Sets how long one request may take in total. Default 10 seconds, at least 1 ms (less counts as 1 ms). A recall
    /// waits only for [`Config::rerank_timeout`](crate::Config::rerank_timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.endpoint.set_timeout(timeout);
        self
    }

    /// Returns a score for each text. Blocks.
    fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f32>> {
        let batch_texts = if self.model.is_some() { BATCH_TEXTS } else { TEI_BATCH_TEXTS };
        let mut scores = Vec::with_capacity(texts.len());
        for batch in texts.chunks(batch_texts) {
            let text_bytes: usize = batch.iter().map(String::len).sum();
            let max_bytes = MAX_FRAME_BYTES + batch.len() * MAX_RESULT_BYTES + text_bytes * MAX_BYTE_BYTES;
            let body = self.endpoint.post("/rerank", &self.body(query, batch), max_bytes as u64);
            scores.extend(scores_in(&body.map_err(|refused| refused.error)?, batch.len())?);
        }
        Ok(scores)
    }

    fn body(&self, query: &str, texts: &[String]) -> Value {
        match &self.model {
            Some(model) => {
                json!({ "model": model, "query": query, "documents": texts, "top_n": texts.len() })
            }
            None => json!({ "query": query, "texts": texts, "truncate": true, "raw_scores": true }),
        }
    }
}

impl Reranker for HttpReranker {
    /// Returns the model's name, or `text-embeddings-inference` if the model has no known name.
    fn name(&self) -> &str {
        self.model.as_deref().unwrap_or("text-embeddings-inference")
    }

    fn rerank<'a>(&'a self, query: &'a str, texts: &'a [String]) -> Reranking<'a> {
        let (own, query, texts) = (self.clone(), query.to_owned(), texts.to_vec());
        Box::pin(on_own_thread("thermocline-rerank", move || own.scores(&query, &texts)))
    }
}

/// Reads the scores from an answer, in the order of the texts. Ignores the other fields.
fn scores_in(body: &[u8], count: usize) -> Result<Vec<f32>> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum RerankBody {
        /// Cohere and compatible servers.
        Results { results: Vec<RerankItem> },
        /// text-embeddings-inference.
        Ranks(Vec<RerankItem>),
    }
    #[derive(Deserialize)]
    struct RerankItem {
        index: usize,
        #[serde(alias = "relevance_score")]
        score: f32,
    }
    let body: RerankBody = serde_json::from_slice(body)
        .map_err(|_| Error::provider("the endpoint of the reranker sent no scores"))?;
    let (RerankBody::Results { results: items } | RerankBody::Ranks(items)) = body;
    let mut scores: Vec<Option<f32>> = vec![None; count];
    for RerankItem { index, score } in items {
        let place = scores.get_mut(index).filter(|place| place.is_none() && score.is_finite());
        *place.ok_or_else(|| Error::provider("the endpoint of the reranker mixed up its scores"))? =
            Some(score);
    }
    scores.into_iter().collect::<Option<_>>().ok_or_else(|| {
        Error::provider("the endpoint of the reranker sent fewer scores than it was asked for")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        endpoint::scripted::{Scripted, ScriptedStep, status},
        error::ErrorKind,
    };

    /// A timeout long enough for a loaded machine; no test waits for it to expire.
    const PATIENT: Duration = Duration::from_secs(30);

    fn ok(body: &Value) -> ScriptedStep {
        ScriptedStep::Answer(200, body.to_string())
    }

    fn cohere(endpoint: &Scripted) -> HttpReranker {
        HttpReranker::new(&endpoint.url, "m").unwrap().api_key("sk-secret").timeout(PATIENT)
    }

    fn tei(endpoint: &Scripted) -> HttpReranker {
        HttpReranker::tei(&endpoint.url).unwrap().timeout(PATIENT)
    }

    /// Reranks these texts for `who made it?` and compares the result; every scripted step must be taken. Returns the
    /// requests.
    #[track_caller]
    fn check(
        reranker: fn(&Scripted) -> HttpReranker,
        texts: &[&str],
        steps: Vec<ScriptedStep>,
        expected: std::result::Result<&[f32], ErrorKind>,
    ) -> Vec<String> {
        let endpoint = Scripted::new(steps);
        let reranker = reranker(&endpoint);
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(reranker.rerank("who made it?", &texts));
        if let Err(error) = &result {
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("secret") && !shown.contains("pottery"), "{shown}");
        }
        assert_eq!(result.map_err(|error| error.kind()), expected.map(<[f32]>::to_vec));
        endpoint.thread.join().unwrap()
    }

    fn body(request: &str) -> Value {
        serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
    }

    #[test]
    fn cohere_jina_and_vllm_are_asked_for_documents_and_answer_with_results() {
        // Cohere, then Jina, which sends the documents back, then vLLM.
        for answer in [
            json!({ "id": "a", "results": [{ "index": 1, "relevance_score": 0.9 }, { "index": 0, "relevance_score": 1e-6 }],
                "meta": { "api_version": { "version": "2" }, "billed_units": { "search_units": 1 } } }),
            json!({ "model": "m", "usage": { "total_tokens": 9 }, "results": [
                { "index": 1, "document": { "text": "b" }, "relevance_score": 0.9 },
                { "index": 0, "document": { "text": "pottery" }, "relevance_score": 1e-6 }] }),
            json!({ "id": "rerank-1", "model": "m", "usage": { "total_tokens": 9 }, "results": [
                { "index": 0, "document": { "text": "pottery", "multi_modal": null }, "relevance_score": 1e-6 },
                { "index": 1, "document": { "text": "b", "multi_modal": null }, "relevance_score": 0.9 }] }),
        ] {
            let requests = check(cohere, &["pottery", "b"], vec![ok(&answer)], Ok(&[1e-6, 0.9]));
            let asked =
                json!({ "model": "m", "query": "who made it?", "documents": ["pottery", "b"], "top_n": 2 });
            assert_eq!(body(&requests[0]), asked);
            assert!(requests[0].starts_with("POST /v1/rerank HTTP"), "{}", requests[0]);
            assert!(requests[0].to_lowercase().contains("\r\nauthorization: bearer sk-secret"));
        }
    }

    #[test]
    fn text_embeddings_inference_is_asked_for_texts_and_answers_with_ranks() {
        let ranks = json!([{ "index": 1, "score": 4.5 }, { "index": 0, "score": -11.25 }]);
        let requests = check(tei, &["pottery", "b"], vec![ok(&ranks)], Ok(&[-11.25, 4.5]));
        let asked = json!({ "query": "who made it?", "texts": ["pottery", "b"], "truncate": true, "raw_scores": true });
        assert_eq!(body(&requests[0]), asked);
        assert!(!requests[0].to_lowercase().contains("authorization"));
    }

    #[test]
    fn it_is_asked_for_no_more_texts_at_once_than_it_takes() {
        let ranks = |count: usize| {
            let rank = |index| json!({ "index": index, "score": index });
            ok(&(0..count).rev().map(rank).collect())
        };
        let expected: Vec<f32> = (0..32).chain(0..18).map(|score: u8| score.into()).collect();
        let requests = check(tei, &["a"; 50], vec![ranks(32), ranks(18)], Ok(&expected));
        assert_eq!(body(&requests[1])["texts"].as_array().unwrap().len(), 18);
        check(tei, &[], vec![], Ok(&[]));
    }

    #[test]
    fn answers_that_do_not_hold_are_failures() {
        for answer in [
            json!([]),
            json!([{ "index": 0, "score": 1 }]),
            json!([{ "index": 0, "score": 1 }, { "index": 0, "score": 1 }]),
            json!([{ "index": 0, "score": 1 }, { "index": 2, "score": 1 }]),
            json!([{ "index": 0, "score": 1 }, { "index": 1, "score": 1e300 }]),
            json!([{ "index": 0, "score": 1 }, { "index": 1, "score": null }]),
            json!([{ "index": 0, "score": 1 }, { "index": -1, "score": 1 }]),
            json!({ "results": [{ "index": 0, "relevance_score": 1 }] }),
            json!({ "results": "pottery" }),
            json!({ "error": "pottery" }),
            json!("pottery"),
        ] {
            check(cohere, &["a", "pottery"], vec![ok(&answer)], Err(ErrorKind::Provider));
        }
        // Fails because of its size, not the timeout.
        let endless = ScriptedStep::Endless("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        check(cohere, &["a"], vec![endless], Err(ErrorKind::Provider));
        check(cohere, &["a"], vec![ScriptedStep::Close], Err(ErrorKind::Provider));
    }

    #[test]
    fn a_failure_that_may_pass_is_told_from_one_that_will_not() {
        for (code, expected) in [
            (503, ErrorKind::Provider),
            (429, ErrorKind::Provider),
            (424, ErrorKind::Provider),
            (413, ErrorKind::ProviderRefused),
            (422, ErrorKind::ProviderRefused),
            (401, ErrorKind::ProviderMisconfigured),
            (404, ErrorKind::ProviderMisconfigured),
            (301, ErrorKind::ProviderMisconfigured),
        ] {
            check(cohere, &["pottery"], vec![status(code)], Err(expected));
        }
        let embedder = json!({ "error": "model is not a re-ranker model", "error_type": "Backend" });
        let answer = ScriptedStep::Answer(424, embedder.to_string());
        check(tei, &["pottery"], vec![answer], Err(ErrorKind::ProviderMisconfigured));
        let unknown = json!({ "message": "model 'm' not found, make sure the correct model ID was used" });
        let answer = ScriptedStep::Answer(404, unknown.to_string());
        check(cohere, &["pottery"], vec![answer], Err(ErrorKind::ProviderMisconfigured));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for url in ["localhost:8080", "https://user:pass@host/v1", "ftp://host"] {
            assert_eq!(HttpReranker::tei(url).unwrap_err().kind(), ErrorKind::InvalidInput, "{url}");
        }
        assert_eq!(HttpReranker::tei("http://host").unwrap().name(), "text-embeddings-inference");
    }
}
