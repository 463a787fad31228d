package code

import (
	"testing"

	"github.com/parley-mesh/parley/detect"
)

func TestARouteGivesTheFieldsOfItsModel(t *testing.T) { // C4
	const route = "from fastapi import FastAPI\nfrom .models import Item, Other\napp = FastAPI()\n@app.get('/x'"
	const byModel = route + ", response_model=Item)\ndef f(): return 1\n"
	const byResult = route + ")\ndef f() -> list[Item]: return []\n"
	model := func(fields string) string {
		return "from pydantic import BaseModel, Field\nclass Base(BaseModel):\n  id: int\nclass Other(BaseModel):\n  z: int\nclass Item(Base):\n" + fields
	}
	cases := []struct {
		route, old, now string
		want            detect.Verdict // 99 for no change
	}{
		{byModel, "  a: int\n  b: str", "  a: int", breaks},
		{byModel, "  a: int", "  a: str", breaks},
		{byModel, "  a: int", "  a: int | None", breaks},
		{byModel, "  a: int | None", "  a: int", fine},
		{byModel, "  a: int", "  a: int\n  b: str", fine},
		{byModel, "  a: int", "  a: int = 1", nothing},
		{byModel, "  a: int\n  K: ClassVar[int] = 1", "  a: int", nothing},
		{byModel, "  a: list[Other]\n  b: Other", "  a: list[Other]", breaks},
		{byModel, "  a: int\n  b: str", "  a: int\n  c: str = Field(alias='b')", open},
		{byModel, "  a: Unknown", "  a: Unseen", open},
		{byModel, "  next: Item | None", "  next: Item | None\n  a: int", fine},
		{byResult, "  a: int\n  b: str", "  a: int", breaks},
		{byResult, "  a: int", "  a: int\n  b: str", fine},
		{route + ", response_model=Other)\ndef f(): return 1\n", "  a: int", "  a: str", nothing},
		{route + ", response_model=Item, response_model_exclude={'b'})\ndef f(): return 1\n", "  a: int\n  b: str", "  a: int", nothing},
		{route + ")\ndef f() -> Optional[Other]: return None\n", "  a: int\nclass Other(BaseModel):\n  y: int", "  a: str\nclass Other(BaseModel):\n  y: int", nothing},
		{route + ")\ndef f() -> Optional[Item]: return None\n", "  a: int", "  a: str", breaks},
	}
	for _, c := range cases {
		d := compare(t, Project{}, map[string]string{"app.py": c.route, "models.py": model(c.old)}, map[string]string{"app.py": c.route, "models.py": model(c.now)})
		switch {
		case c.want == nothing && len(d.Contracts) == 0:
		case len(d.Contracts) != 1 || d.Contracts[0].Change != detect.SignatureChanged || d.Contracts[0].Verdict != c.want || d.Contracts[0].Contract.Path != "models.py":
			t.Errorf("%s\n%s\n=> %s\n got %+v\nwant %v", c.route, c.old, c.now, d.Contracts, c.want)
		}
	}
}

func TestABaseOfAModelThatIsNotAtHandLeavesItsName(t *testing.T) { // C4
	const app = "from fastapi import FastAPI\nfrom pydantic import BaseModel\nfrom elsewhere import Part\napp = FastAPI()\n"
	const tail = "@app.get('/x')\ndef f() -> Item: return 1\n"
	d := compare(t, Project{}, map[string]string{"app.py": app + "class Item(BaseModel):\n  a: int\n" + tail}, map[string]string{"app.py": app + "class Item(Part):\n  b: int\n" + tail})
	if len(d.Contracts) != 1 || d.Contracts[0].Verdict != open {
		t.Errorf("%+v", d.Contracts)
	}
}
