//! Every route with every kind of key: the table decides which keys are accepted.

use thermocline_server::{
    caller::Users,
    keys::New,
    ops::spec::{KeyScope, Method, Spec, Target},
};

use crate::fixture::{Running, Setup, whole_key};

const SCOPES: [KeyScope; 6] = KeyScope::EVERY;

fn method(method: Method) -> &'static str {
    match method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Put => "PUT",
        Method::Patch => "PATCH",
        Method::Delete => "DELETE",
    }
}

fn ask(server: &Running, spec: &Spec, user: &str, key: Option<&str>) -> u16 {
    let path = spec.http.path.replace("{user}", user);
    let path = path
        .split('/')
        .map(|part| if part.starts_with('{') { "1" } else { part })
        .collect::<Vec<_>>()
        .join("/");
    let headers: Vec<_> = key.map(|key| ("x-api-key", key)).into_iter().collect();
    server.client().send(method(spec.http.method), &path, &headers, b"").status
}

#[test]
fn every_route_asks_for_a_key_its_scope_and_its_user() {
    let one = |scopes: Vec<KeyScope>, users: Users| New { scopes, users, ..whole_key() };
    let without = |scope: KeyScope| SCOPES.into_iter().filter(|other| *other != scope).collect::<Vec<_>>();
    let expired = New { expires_at: Some(chrono::DateTime::UNIX_EPOCH), ..whole_key() };
    let keys = [
        expired,
        whole_key(),
        one(SCOPES.to_vec(), Users::one("alex").unwrap()),
        one(SCOPES.to_vec(), Users::one("sam").unwrap()),
        one(SCOPES.to_vec(), Users::prefix("acme/").unwrap()),
        one(without(KeyScope::Read), Users::Any),
        one(without(KeyScope::Write), Users::Any),
        one(without(KeyScope::Erase), Users::Any),
        one(without(KeyScope::Inspect), Users::Any),
        one(without(KeyScope::Admin), Users::Any),
        one(without(KeyScope::Check), Users::Any),
        one(Vec::new(), Users::Any),
    ];
    let about = keys.clone();
    let (setup, texts) = Setup::default().keys(keys);
    let server = setup.start();
    let (mut asked, mut through) = (0, 0);
    for row in server.service.table {
        for user in ["alex", "acme%2Fkim", "id:019e8d20-3f00-7c61-b7a4-8a6b6a3a3c5e"] {
            let name = percent_encoding::percent_decode_str(user).decode_utf8().unwrap();
            for (key, text) in about.iter().zip(&texts) {
                let has_user = match row.spec.target {
                    Target::User => key.users.has(&name),
                    Target::File => key.users == Users::Any,
                };
                let status = ask(&server, row.spec, user, Some(text));
                let name = row.spec.name;
                match (key.expires_at.is_some(), has_user && key.scopes.contains(&row.spec.scope)) {
                    (true, _) => assert_eq!(status, 401, "{name}"),
                    (false, false) => assert_eq!(status, 403, "{name} {user} {:?}", key.users),
                    (false, true) => {
                        assert!(
                            ![401, 403, 405].contains(&status) && status < 500,
                            "{name} {user}: {status}"
                        );
                        through += 1;
                    }
                }
                asked += 1;
            }
            assert_eq!(ask(&server, row.spec, user, None), 401, "{}", row.spec.name);
            assert_eq!(ask(&server, row.spec, user, Some("thc_abcdefgh_wrong")), 401, "{}", row.spec.name);
        }
    }
    assert!(asked > 90 && through > 20, "{asked} {through}");
}

#[test]
fn without_keys_nothing_is_destroyed_and_nothing_leaves() {
    let server = Setup::default().start();
    for row in server.service.table {
        let status = ask(&server, row.spec, "alex", None);
        let may = matches!(row.spec.scope, KeyScope::Read | KeyScope::Write | KeyScope::Inspect);
        assert_eq!(status != 403, may, "{}: {status}", row.spec.name);
    }
}
