package code

import (
	"slices"
	"strings"
	"testing"

	"github.com/parley-mesh/parley/detect"
)

func TestRoutesOfSpring(t *testing.T) { // C5
	got := ids(map[string]string{
		"src/main/java/acme/Refunds.java": `package acme;
import org.springframework.web.bind.annotation.*;

@RestController
@RequestMapping(Refunds.BASE + "/refunds")
public class Refunds {
  static final String BASE = "/v1";
  private static final String ONE = "/{id:[a-z]{3}\\d+}";

  @GetMapping
  public List<Refund> all(@RequestParam(required = false) String q) { return repo.find(q); }

  @GetMapping(ONE)
  public Refund one(@PathVariable String id) { return repo.get(id); }

  @PostMapping(path = {"", "/new"}, consumes = "application/json")
  public Refund create(@RequestBody NewRefund body, @RequestParam String reason) { return repo.add(body); }

  @RequestMapping(value = "/{id}/notes/{note}", method = {RequestMethod.PUT, RequestMethod.PATCH})
  public void note(@PathVariable String id, @PathVariable String note) {}

  @RequestMapping("/any/**")
  public void any() {}

  @org.springframework.web.bind.annotation.DeleteMapping("/{id}")
  public void remove() {}

  public void helper() {}
}`,
		"src/main/java/acme/Users.java": `package acme;
@Controller
class Users {
  @GetMapping("${api.base}/users/{name}")
  String show() { return "show"; }
}`,
	})
	want := []string{
		"* /v1/refunds/any/{}", "DELETE /v1/refunds/{}", "GET /users/{}", "GET /v1/refunds", "GET /v1/refunds/{}",
		"PATCH /v1/refunds/{}/notes/{}", "POST /v1/refunds", "POST /v1/refunds/new", "PUT /v1/refunds/{}/notes/{}",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

func TestARouteOfSpringHasItsMethodAndWhatItTakes(t *testing.T) { // C4, C5
	old := `@RestController class A {
  @PostMapping("${api}/a/{id}") B make(@RequestBody B b, @RequestParam(defaultValue = "1") int n) { return b; }
}`
	u := New(Project{}).Read("A.java", []byte(old))
	if len(u.Contracts) != 1 {
		t.Fatalf("%+v", u.Contracts)
	}
	c := u.Contracts[0]
	if !c.Tail || c.Handler != "sym:java:A.java#A.make" || c.Inputs != "body: B; params: {n?: int}" || c.Outputs != "response: B" || !slices.Equal(c.Params, []string{"id"}) {
		t.Errorf("%+v", c)
	}
	for now, want := range map[string]detect.Verdict{
		`@RestController class A {
  @PostMapping("${api}/a/{id}") B make(@RequestBody B b, @RequestParam int n) { return b; }
}`: breaks,
		`@RestController class A {
  @PostMapping("${api}/a/{id}") B make(@RequestBody B b, @RequestParam(defaultValue = "1") int n) { return null; }
}`: fine,
	} {
		d := compare(t, Project{}, map[string]string{"A.java": old}, map[string]string{"A.java": now})
		if len(d.Contracts) != 1 || d.Contracts[0].Verdict != want {
			t.Errorf("%+v, want %v", d.Contracts, want)
		}
	}
}

func TestAFeignClientOfSpringAsks(t *testing.T) { // C5
	u := New(Project{}).Read("C.java", []byte(`@FeignClient(name = "refunds", path = "/v1")
interface C {
  @GetMapping("/refunds/{id}") Refund one(@PathVariable String id);
}`))
	if len(u.Contracts) != 0 || !slices.ContainsFunc(u.References, func(r detect.Reference) bool { return r.Target == "http:GET /v1/refunds/{}" && r.Sure }) {
		t.Errorf("%+v %+v", u.Contracts, u.References)
	}
}

func TestConstantsOfOtherClassesInRoutesOfSpring(t *testing.T) { // C4, C5
	files := map[string]string{
		"src/main/java/acme/Paths.java":     "package acme;\npublic interface Paths { String V1 = \"/v1\"; String USERS = V1 + \"/users\"; int N = 3; class In { public static final String DEEP = \"/deep\"; } }\n",
		"src/main/java/acme/web/Own.java":   "package acme.web;\nclass Own { static final String OWN = \"/own\"; private static final String HIDDEN = \"/hidden\"; static String loose = \"/loose\"; }\n",
		"src/main/java/acme/web/Users.java": "",
	}
	for mapping, want := range map[string]string{
		"Paths.USERS":               "GET /v1/users",
		"acme.Paths.USERS + \"/x\"": "GET /v1/users/x",
		"Paths.In.DEEP":             "GET /deep",
		"USERS + \"/{id}\"":         "GET /v1/users/{}",
		"Own.OWN":                   "GET /own",
		"Own.HIDDEN + \"/x\"":       "GET /x tail",
		"Own.loose + \"/x\"":        "GET /x tail",
		"Paths.N + \"/x\"":          "GET /x tail",
		"Paths.NONE + \"/x\"":       "GET /x tail",
		"Far.USERS + \"/x\"":        "GET /x tail",
		"Users.USERS + \"/x\"":      "GET /x tail",
		"Own.OWN.concat(\"/x\")":    "",
		"{Own.OWN, \"/two\"}":       "GET /own, GET /two",
	} {
		files["src/main/java/acme/web/Users.java"] = "package acme.web;\nimport acme.Paths;\nimport org.far.Far;\nimport static acme.Paths.USERS;\n@RestController class Users { @GetMapping(" + mapping + ") void m() {} }\n"
		if got := strings.Join(endings(files), ", "); got != want {
			t.Errorf("%s\n got %q\nwant %q", mapping, got, want)
		}
	}
	r := New(Project{Has: func(file string) bool { return hasText(files, file) }})
	units := readAll(r, map[string]string{"src/main/java/acme/web/Users.java": strings.Replace(files["src/main/java/acme/web/Users.java"], "void m", "@PutMapping(Paths.USERS + Own.OWN) void n() {}\n void m", 1)})
	if got := r.Outside(units); !slices.Equal(got, []string{"src/main/java/acme/Paths.java", "src/main/java/acme/web/Own.java"}) {
		t.Errorf("asks for %q", got)
	}
}

func hasText(files map[string]string, name string) bool { _, ok := files[name]; return ok }
