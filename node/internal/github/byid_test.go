package github

import "testing"

func TestRepositoryIsFoundByItsIDAfterARename(t *testing.T) { // case 28
	w := newWorld(t)
	named := must(w.c.Repository(t.Context(), "alice", "app"))(t)
	if r := must(w.c.RepositoryByID(t.Context(), named.ID))(t); r != named {
		t.Errorf("repository %+v, want %+v", r, named)
	}
	must(w.s.Rename(w.repo, "shop"))(t)
	_, err := w.c.Repository(t.Context(), "alice", "app")
	wantErr(t, "by the old name", err, ErrRenamed)
	r := must(w.c.RepositoryByID(t.Context(), named.ID))(t)
	if r.ID != named.ID || r.FullName != "alice/shop" || r.Name != "shop" || r.CloneURL != "http://github.localhost/alice/shop.git" {
		t.Errorf("repository %+v", r)
	}
}

func TestIDOfNoRepositoryIsRefused(t *testing.T) {
	w := newWorld(t)
	_, err := w.c.RepositoryByID(t.Context(), 999999)
	wantErr(t, "missing", err, ErrNotFound)
	asked := len(w.s.Log())
	for _, id := range []int64{0, -1} {
		if _, err := w.c.RepositoryByID(t.Context(), id); err == nil {
			t.Errorf("%d passed", id)
		}
	}
	if len(w.s.Log()) != asked {
		t.Error("GitHub was asked")
	}
	_, err = answering(t, `{"id":8,"full_name":"alice/app"}`).RepositoryByID(t.Context(), 7)
	wantErr(t, "another repository", err, ErrTemporary)
}
