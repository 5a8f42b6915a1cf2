//! An embedder that uses an endpoint with `OpenAI`'s embeddings API: `OpenAI` itself, Ollama, vLLM, LM Studio and others.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    embed::{
        Embedder, Embedding, EmbeddingPurpose, EmbeddingSpace, MAX_DIMS, REQUEST_TIMEOUT, prefixes::Prefixes,
    },
    endpoint::Endpoint,
    error::{Error, Result},
    own_thread::on_own_thread,
};

/// Texts per request. Providers accept at least as many.
const BATCH_TEXTS: usize = 64;
/// How much of a text is sent: a token has at least a byte, and the common limit is 8,191 tokens.
const MAX_TEXT_BYTES: usize = 8_000;
/// The maximum size of one number of a vector in an answer, with its comma; most take 12 bytes.
const MAX_NUMBER_BYTES: u64 = 32;
/// The maximum size of an answer without its numbers.
const MAX_FRAME_BYTES: u64 = 64 << 10;

/// An [`Embedder`] that uses an endpoint with `OpenAI`'s embeddings API. Feature `llm`.
///
/// ```no_run
/// use thermocline::OpenAiEmbedder;
///
/// # async fn run() -> thermocline::Result<()> {
/// // A local model. Hosted ones: "https://api.openai.com/v1" and `.api_key(..)`.
/// let embedder = OpenAiEmbedder::new("http://localhost:11434/v1", "nomic-embed-text", 768)?;
/// // Or, where the length of its vectors is not known:
/// let embedder = OpenAiEmbedder::discover("http://localhost:11434/v1", "nomic-embed-text", None).await?;
/// # Ok(())
/// # }
/// ```
///
/// The texts of turns, memories and queries are sent to this address, and to no other: redirects are refused. Proxies are
/// taken from the environment (`HTTPS_PROXY`, `NO_PROXY`), except for this machine itself. At most the first 8,000 bytes of
/// each text, with its prefix, are sent.
#[derive(Clone, Debug)]
pub struct OpenAiEmbedder {
    endpoint: Endpoint,
    model: String,
    revision: String,
    dims: u32,
    is_shortened: bool,
    prefixes: Prefixes,
}

impl OpenAiEmbedder {
    /// Uses the model of this name at this base address, given without `/embeddings`: `http://localhost:11434/v1`. Its
    /// vectors have `dims` numbers, from 1 to 16,384.
    ///
    /// Errors: [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) for other `dims`, and if the address is not
    /// `http` or `https`, or contains a user, password, query or fragment: keys do not belong there.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>, dims: u32) -> Result<Self> {
        if !(1..=MAX_DIMS).contains(&dims) {
            return Err(Error::invalid(format!("a vector has from 1 to {MAX_DIMS} numbers, not {dims}")));
        }
        Ok(Self {
            endpoint: Endpoint::new("the embedder", base_url, REQUEST_TIMEOUT)?,
            model: model.into(),
            revision: String::new(),
            dims,
            is_shortened: false,
            prefixes: Prefixes::default(),
        })
    }

    /// Like [`new`](Self::new), with an optional key, for a model whose vector length is not known: requests one vector from
    /// the endpoint.
    ///
    /// Errors: those of [`new`](Self::new), and those of the request:
    /// [`ErrorKind::ProviderMisconfigured`](crate::ErrorKind::ProviderMisconfigured) if the key, the model or the address is
    /// wrong, or the vector has no number or too many; [`ErrorKind::ProviderRefused`](crate::ErrorKind::ProviderRefused) if
    /// the endpoint refuses the text; [`ErrorKind::Provider`](crate::ErrorKind::Provider) if it fails otherwise.
    pub async fn discover(
        base_url: impl Into<String>,
        model: impl Into<String>,
        api_key: Option<String>,
    ) -> Result<Self> {
        let mut found = Self::new(base_url, model, MAX_DIMS)?;
        if let Some(key) = api_key {
            found = found.api_key(key);
        }
        let own = found.clone();
        let vectors = on_own_thread("thermocline-embed", move || own.ask(&["Hello.".to_owned()])).await?;
        let dims = vectors.first().map_or(0, Vec::len);
        found.dims = u32::try_from(dims).unwrap_or(0);
        match found.dims {
            1..=MAX_DIMS => Ok(found),
            dims => Err(Error::provider_misconfigured(format!("the embedder's vectors have {dims} numbers"))),
        }
    }

    /// Sets the key, which is sent as a bearer token, only over `https` or to this machine. Default: none, as local servers
    /// expect. It appears in no error and no `Debug` output.
    #[must_use]
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.endpoint.set_api_key(key.into());
        self
    }

    /// Sets how long one request of at most 64 texts may take in total. Default 1 minute; at least 1 ms (less counts as 1
    /// ms).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.endpoint.set_timeout(timeout);
        self
    }

    /// Sets the model's revision, if the model's name does not contain it. Default: empty. With another revision all vectors
    /// are recomputed.
    #[must_use]
    pub fn revision(mut self, revision: impl Into<String>) -> Self {
        self.revision = revision.into();
        self
    }

    /// Asks the model to shorten its vectors to `dims` numbers, as `OpenAI`'s third generation can. By default, its vectors
    /// must have that length already.
    #[must_use]
    pub fn shortened(mut self) -> Self {
        self.is_shortened = true;
        self
    }

    /// Sets the prefix for each query, such as `"search_query: "` for nomic-embed-text. Default: none.
    #[must_use]
    pub fn query_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefixes.query = prefix.into();
        self
    }

    /// Sets the prefix for each document, such as `"search_document: "` for nomic-embed-text. Default: none. With another
    /// prefix all vectors are recomputed.
    #[must_use]
    pub fn document_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefixes.document = prefix.into();
        self
    }

    /// Returns a vector for each text, embedded with this prefix. Blocks.
    fn vectors(&self, prefix: &str, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let mut vectors = vec![vec![0.0; self.dims as usize]; texts.len()];
        // Providers refuse empty texts, which contain nothing to embed.
        let wanted: Vec<usize> = (0..texts.len()).filter(|&at| !texts[at].trim().is_empty()).collect();
        for batch in wanted.chunks(BATCH_TEXTS) {
            let texts: Vec<String> =
                batch.iter().map(|&at| start(format!("{prefix}{}", texts[at]))).collect();
            for (&at, vector) in batch.iter().zip(self.ask(&texts)?) {
                if vector.len() != self.dims as usize {
                    let found = vector.len();
                    return Err(Error::provider_misconfigured(format!(
                        "the embedder's vectors have {found} numbers, not {}",
                        self.dims
                    )));
                }
                vectors[at] = vector;
            }
        }
        Ok(vectors)
    }

    /// Sends one request. Returns as many vectors as texts, of any length.
    fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let max_bytes = MAX_FRAME_BYTES + texts.len() as u64 * u64::from(self.dims) * MAX_NUMBER_BYTES;
        let body = self.endpoint.post("/embeddings", &self.body(texts), max_bytes);
        vectors_in(&body.map_err(|refused| refused.error)?, texts.len())
    }

    fn body(&self, texts: &[String]) -> Value {
        let mut body = json!({ "model": self.model, "input": texts, "encoding_format": "float" });
        if self.is_shortened {
            body["dimensions"] = self.dims.into();
        }
        body
    }
}

impl Embedder for OpenAiEmbedder {
    fn space(&self) -> EmbeddingSpace {
        let revision = self.prefixes.revision(&self.revision);
        EmbeddingSpace { model: self.model.clone(), revision, dims: self.dims }
    }

    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> Embedding<'a> {
        let (own, texts) = (self.clone(), texts.to_vec());
        Box::pin(on_own_thread("thermocline-embed", move || own.vectors(own.prefixes.of(purpose), &texts)))
    }
}

/// Cuts a text to the beginning that is sent.
fn start(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_TEXT_BYTES));
    text
}

/// Reads the vectors of an answer, in the order of the texts. Ignores anything else in the answer.
fn vectors_in(body: &[u8], count: usize) -> Result<Vec<Vec<f32>>> {
    #[derive(Deserialize)]
    struct EmbeddingsBody {
        data: Vec<EmbeddingItem>,
    }
    #[derive(Deserialize)]
    struct EmbeddingItem {
        index: Option<usize>,
        embedding: Vec<f32>,
    }
    let body: EmbeddingsBody = serde_json::from_slice(body)
        .map_err(|_| Error::provider("the endpoint of the embedder sent no embeddings"))?;
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for (at, item) in body.data.into_iter().enumerate() {
        let is_sound = item.embedding.iter().all(|number| number.is_finite());
        let place = vectors.get_mut(item.index.unwrap_or(at)).filter(|place| place.is_none() && is_sound);
        *place.ok_or_else(|| Error::provider("the endpoint of the embedder mixed up its embeddings"))? =
            Some(item.embedding);
    }
    vectors.into_iter().collect::<Option<_>>().ok_or_else(|| {
        Error::provider("the endpoint of the embedder sent fewer embeddings than it was asked for")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        endpoint::scripted::{Scripted, ScriptedStep, status},
        error::ErrorKind,
    };

    /// Long enough for a loaded machine; tests do not wait for it.
    const PATIENT: Duration = Duration::from_secs(30);

    fn ok(data: &Value) -> ScriptedStep {
        ScriptedStep::Answer(200, json!({ "data": data }).to_string())
    }

    fn embedder(endpoint: &Scripted) -> OpenAiEmbedder {
        OpenAiEmbedder::new(&endpoint.url, "m", 2).unwrap().api_key("sk-secret").timeout(PATIENT)
    }

    /// Embeds these texts and checks the result, and that every step was taken; returns the bodies of the requests.
    #[track_caller]
    fn check(
        texts: &[&str],
        steps: Vec<ScriptedStep>,
        expected: std::result::Result<&[[f32; 2]], ErrorKind>,
    ) -> Vec<Value> {
        let endpoint = Scripted::new(steps);
        let embedder = embedder(&endpoint);
        let texts: Vec<String> = texts.iter().map(|&text| text.to_owned()).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let result = runtime.block_on(embedder.embed(&texts, EmbeddingPurpose::Document));
        if let Err(error) = &result {
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("secret") && !shown.contains("pottery"), "{shown}");
        }
        let expected: std::result::Result<Vec<Vec<f32>>, _> =
            expected.map(|vectors| vectors.iter().map(|vector| vector.to_vec()).collect());
        assert_eq!(result.map_err(|error| error.kind()), expected);
        let requests = endpoint.thread.join().unwrap();
        requests
            .iter()
            .map(|text| serde_json::from_str(text.split_once("\r\n\r\n").unwrap().1).unwrap())
            .collect()
    }

    #[test]
    fn texts_are_asked_for_and_vectors_read() {
        let data = json!([{ "index": 0, "embedding": [1, 0.5] }, { "index": 1, "embedding": [-2e0, 0] }]);
        let bodies = check(&["pottery", "b"], vec![ok(&data)], Ok(&[[1.0, 0.5], [-2.0, 0.0]]));
        assert_eq!(bodies, [json!({ "model": "m", "input": ["pottery", "b"], "encoding_format": "float" })]);
    }

    #[test]
    fn the_order_is_that_of_the_texts() {
        let data = json!([{ "index": 1, "embedding": [1, 1] }, { "index": 0, "embedding": [0, 0] }]);
        check(&["a", "b"], vec![ok(&data)], Ok(&[[0.0, 0.0], [1.0, 1.0]]));
        let data = json!([{ "embedding": [0, 0] }, { "embedding": [1, 1] }]);
        check(&["a", "b"], vec![ok(&data)], Ok(&[[0.0, 0.0], [1.0, 1.0]]));
    }

    #[test]
    fn empty_texts_are_not_sent() {
        check(&["", " \n"], vec![], Ok(&[[0.0; 2]; 2]));
        let bodies = check(
            &["", "a"],
            vec![ok(&json!([{ "index": 0, "embedding": [1, 1] }]))],
            Ok(&[[0.0; 2], [1.0; 2]]),
        );
        assert_eq!(bodies[0]["input"], json!(["a"]));
        check(&[], vec![], Ok(&[]));
    }

    #[test]
    fn many_texts_are_asked_for_in_batches_and_long_ones_cut() {
        let data = |count: usize| ok(&vec![json!({ "embedding": [1, 1] }); count].into());
        let long = "é".repeat(MAX_TEXT_BYTES);
        let mut texts = vec!["a"; BATCH_TEXTS];
        texts.push(&long);
        let bodies = check(&texts, vec![data(BATCH_TEXTS), data(1)], Ok(&[[1.0; 2]; BATCH_TEXTS + 1]));
        assert_eq!(bodies[1]["input"], json!(["é".repeat(MAX_TEXT_BYTES / 2)]));
    }

    #[test]
    fn answers_that_do_not_hold_are_failures() {
        for data in [
            json!([]),
            json!([{ "index": 0, "embedding": [1, 1] }]),
            json!([{ "index": 0, "embedding": [1, 1] }, { "index": 0, "embedding": [1, 1] }]),
            json!([{ "index": 0, "embedding": [1, 1] }, { "index": 9, "embedding": [1, 1] }]),
            json!([{ "embedding": [1, 1] }, { "embedding": [1, 1] }, { "embedding": [1, 1] }]),
            json!([{ "embedding": [1, 1] }, { "embedding": [1, 1e300] }]),
            json!([{ "embedding": "base64" }, { "embedding": [1, 1] }]),
            json!("pottery"),
        ] {
            check(&["a", "b"], vec![ok(&data)], Err(ErrorKind::Provider));
        }
        let wrong_length = json!([{ "embedding": [1, 1, 1] }]);
        check(&["a"], vec![ok(&wrong_length)], Err(ErrorKind::ProviderMisconfigured));
    }

    #[test]
    fn a_failure_that_may_pass_is_told_from_one_that_will_not() {
        check(&["pottery"], vec![status(503)], Err(ErrorKind::Provider));
        check(&["pottery"], vec![status(413)], Err(ErrorKind::ProviderRefused));
        check(&["pottery"], vec![status(401)], Err(ErrorKind::ProviderMisconfigured));
        check(&["pottery"], vec![status(301)], Err(ErrorKind::ProviderMisconfigured));
        check(&["pottery"], vec![ScriptedStep::Close], Err(ErrorKind::Provider));
        // Fails because of its size, not the timeout.
        check(
            &["a"],
            vec![ScriptedStep::Endless("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n")],
            Err(ErrorKind::Provider),
        );
    }

    #[tokio::test]
    async fn the_length_of_vectors_can_be_discovered() {
        let endpoint = Scripted::new(vec![
            ok(&json!([{ "index": 0, "embedding": [1, 2, 3] }])),
            ok(&json!([{ "embedding": [] }])),
        ]);
        let embedder = OpenAiEmbedder::discover(&endpoint.url, "m", Some("sk-secret".into())).await.unwrap();
        assert_eq!(
            embedder.revision("7").space(),
            EmbeddingSpace { model: "m".into(), revision: "7".into(), dims: 3 }
        );
        let error = OpenAiEmbedder::discover(&endpoint.url, "m", None).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ProviderMisconfigured);
        let requests = endpoint.thread.join().unwrap();
        assert!(requests[0].to_lowercase().contains("\r\nauthorization: bearer sk-secret"));
    }

    #[test]
    fn vectors_are_shortened_on_demand() {
        let embedder = OpenAiEmbedder::new("https://host/v1", "m", 256).unwrap();
        assert_eq!(embedder.body(&[]).get("dimensions"), None);
        assert_eq!(embedder.shortened().body(&[])["dimensions"], 256);
    }

    #[test]
    fn a_prefix_stands_before_each_text_of_its_purpose() {
        let data = || ok(&json!([{ "index": 0, "embedding": [1, 1] }]));
        let endpoint = Scripted::new(vec![data(), data()]);
        let embedder = embedder(&endpoint).query_prefix("q: ").document_prefix("d: ");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for purpose in [EmbeddingPurpose::Query, EmbeddingPurpose::Document] {
            let vectors = runtime.block_on(embedder.embed(&["a".into(), " ".into()], purpose)).unwrap();
            assert_eq!(vectors, [[1.0, 1.0], [0.0, 0.0]]);
        }
        let requests = endpoint.thread.join().unwrap();
        assert!(requests[0].contains(r#"["q: a"]"#) && requests[1].contains(r#"["d: a"]"#), "{requests:?}");
    }

    #[test]
    fn another_prefix_of_documents_is_another_space() {
        let embedder = || OpenAiEmbedder::new("https://host", "m", 2).unwrap().revision("7");
        assert_eq!(embedder().query_prefix("q: ").space(), embedder().space());
        assert_ne!(embedder().document_prefix("d: ").space(), embedder().space());
    }

    #[test]
    fn impossible_configurations_are_refused() {
        for (url, dims) in [("https://host", 0), ("https://host", MAX_DIMS + 1), ("host", 2)] {
            assert_eq!(OpenAiEmbedder::new(url, "m", dims).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
    }

    #[test]
    fn a_key_is_not_shown() {
        let embedder = OpenAiEmbedder::new("https://host", "m", 2).unwrap().api_key("sk-secret");
        assert!(!format!("{embedder:?}").contains("secret"));
    }
}
