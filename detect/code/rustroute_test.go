package code

import (
	"slices"
	"strings"
	"testing"
)

func TestRoutesOfAxum(t *testing.T) { // C5
	got := ids(map[string]string{
		"src/main.rs": `use axum::{routing::{get, post, delete}, Router};
mod users;
const V1: &str = "/v1";
async fn root() -> &'static str { "ok" }
fn health() -> Router { Router::new().route("/health", get(root)) }
#[tokio::main]
async fn main() {
    let admin = Router::new().route("/stats/:day/*rest", get(|| async { "x" }));
    let app = Router::new()
        .route("/", get(root).post(root))
        .nest(V1, users::router().layer(L))
        .nest("/admin", admin)
        .merge(health())
        .nest("/in", Router::new().route("/line", axum::routing::put(root)))
        .with_state(S);
    let app = app.route("/late/{id}", delete(root));
    axum::serve(listener, app).await.unwrap();
}`,
		"src/users.rs": `use axum::{routing::get, Router};
use crate::handlers;
pub fn router() -> Router<S> {
    let mut r = Router::new();
    r = r.route("/users", get(list).post(handlers::create));
    r.route("/users/{id}", get(one)).route("/files/{*path}", routing::any(one))
}
async fn list() {}
async fn one() {}`,
		"src/handlers.rs": `pub async fn create() {}`,
	})
	want := []string{
		"* /v1/files/{}", "DELETE /late/{}", "GET /", "GET /admin/stats/{}/{}", "GET /health", "GET /v1/users", "GET /v1/users/{}",
		"POST /", "POST /v1/users", "PUT /in/line",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestRoutesOfActix(t *testing.T) { // C5
	got := ids(map[string]string{
		"src/main.rs": `use actix_web::{get, web, App, HttpServer};
mod refunds;
#[get("/hello/{name}")]
async fn hello(name: web::Path<String>) -> String { String::new() }
#[actix_web::main]
async fn main() -> std::io::Result<()> {
    HttpServer::new(move || {
        App::new()
            .wrap(Logger::default())
            .service(hello)
            .service(web::scope("/api").configure(refunds::config).service(refunds::one).route("/ping", web::get().to(ping)))
            .service(web::resource("/r/{id}").route(web::get().to(hello)).route(web::method(Method::PURGE).guard(g()).to(ping)))
            .service(web::resource("/all").to(ping))
            .route("/w", web::post().to(ping))
    }).bind(a)?.run().await
}
async fn ping() {}`,
		"src/refunds.rs": `use actix_web::{post, web};
pub fn config(cfg: &mut web::ServiceConfig) {
    cfg.service(web::scope("/refunds").service(create)).route("/cfg", web::put().to(create));
}
#[post("")]
async fn create() {}
#[actix_web::route("/one/{id}", method = "GET", method = "HEAD")]
pub async fn one() {}
#[get("/alone")]
async fn alone() {}`,
	})
	want := []string{
		"* /all", "GET /alone", "GET /api/one/{}", "GET /api/ping", "GET /hello/{}", "GET /r/{}", "HEAD /api/one/{}", "POST /api/refunds", "POST /w",
		"PURGE /r/{}", "PUT /api/cfg",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestConstantsOfOtherFilesInRoutesOfRust(t *testing.T) { // C4, C5
	const head = "use axum::{routing::get, Router};\nuse crate::paths;\nuse crate::paths::{Paths, V1 as FIRST};\nuse far::FAR;\nmod own { pub const IN: &str = \"/in\"; }\nstruct L; impl L { const OF: &str = \"/of\"; }\n"
	for chain, want := range map[string]string{
		".route(paths::USERS, get(h))":                                                "GET /users",
		".route(crate::paths::USERS, get(h))":                                         "GET /users",
		".route(FIRST, get(h))":                                                       "GET /v1",
		".route(Paths::ONE, get(h))":                                                  "GET /one",
		".route(own::IN, get(h))":                                                     "GET /in",
		".route(L::OF, get(h))":                                                       "GET /of",
		".nest(paths::V1, Router::new().route(paths::USERS, get(h)))":                 "GET /v1/users",
		".nest(&FIRST, Router::new().route(\"/x\", get(h)))":                          "GET /v1/x",
		".nest(&config.base, Router::new().route(\"/x\", get(h)))":                    "GET /x tail",
		".nest(FAR, Router::new().route(\"/x\", get(h)))":                             "GET /x tail",
		".nest(paths::NONE, Router::new().route(\"/x\", get(h)))":                     "GET /x tail",
		".nest(Paths::two(), Router::new().route(\"/x\", get(h)))":                    "GET /x tail",
		".route(FAR, get(h))":                                                         "",
		".nest(\"/a\", Router::new().nest(FAR, Router::new().route(\"/x\", get(h))))": "GET /x tail",
	} {
		got := strings.Join(endings(map[string]string{
			"src/main.rs":  head + "fn main() { let app = Router::new()" + chain + "; }\n",
			"src/paths.rs": "pub const V1: &str = \"/v1\";\npub const USERS: &str = \"/users\";\npub struct Paths;\nimpl Paths { pub const ONE: &str = \"/one\"; }\n",
		}), ", ")
		if got != want {
			t.Errorf("%s\n got %q\nwant %q", chain, got, want)
		}
	}
}
