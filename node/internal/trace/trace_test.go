package trace

import (
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func taken(t *testing.T, r *Recorder) []span {
	t.Helper()
	out, err := r.Take("v1")
	if err != nil {
		t.Fatal(err)
	}
	var all exported
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all.ResourceSpans[0].ScopeSpans[0].Spans
}

func TestOnlyWhatHappensWhileSomebodyAsksIsRecorded(t *testing.T) {
	var r Recorder
	if _, err := r.Take("v1"); !errors.Is(err, ErrNone) {
		t.Errorf("before anything was asked: %v", err)
	}
	quiet, early := r.Begin(t.Context(), "early")
	_, below := Within(quiet, "below early")
	below(nil)
	early(nil)
	r.Start(time.Minute)
	ctx, scan := r.Begin(quiet, "scan acme/shop")
	_, git := Within(ctx, "git fetch")
	git(errors.New("exit 1: no such host"))
	scan(nil)
	_, open := r.Begin(t.Context(), "ends too late")
	spans := taken(t, &r)
	open(nil)
	if len(spans) != 2 || spans[0].Name != "git fetch" || spans[1].Name != "scan acme/shop" {
		t.Fatalf("recorded %+v", spans)
	}
	child, root := spans[0], spans[1]
	if child.Parent != root.ID || child.Trace != root.Trace || root.Parent != "" || len(root.Trace) != 32 || len(root.ID) != 16 {
		t.Errorf("they do not belong together: %+v", spans)
	}
	if child.Status != (status{statusError, "exit 1: no such host"}) || root.Status != (status{}) {
		t.Errorf("what they came to: %+v", spans)
	}
	if child.Start > child.End || root.Start > child.Start || len(root.Start) != 19 {
		t.Errorf("when they were: %+v", spans)
	}
	if _, err := r.Take("v1"); !errors.Is(err, ErrNone) {
		t.Errorf("taken twice: %v", err)
	}
}

func TestASecondAskerBeginsAnew(t *testing.T) {
	var r Recorder
	r.Start(time.Minute)
	_, end := r.Begin(t.Context(), "first")
	end(nil)
	r.Start(time.Minute)
	_, end = r.Begin(t.Context(), "second")
	end(nil)
	if spans := taken(t, &r); len(spans) != 1 || spans[0].Name != "second" {
		t.Errorf("recorded %+v", spans)
	}
}

func TestARecordingIsBounded(t *testing.T) {
	var r Recorder
	r.Start(time.Minute)
	for range spansMax + 3 {
		_, end := r.Begin(t.Context(), "again")
		end(nil)
	}
	out, err := r.Take("v1")
	var all exported
	if err := errors.Join(err, json.Unmarshal(out, &all)); err != nil {
		t.Fatal(err)
	}
	said := all.ResourceSpans[0].Resource.Attributes
	if n := len(all.ResourceSpans[0].ScopeSpans[0].Spans); n != spansMax || said[2] != (keyValue{"parley.spans_lost", value{"3"}}) {
		t.Errorf("%d spans, %+v", n, said)
	}
}

func BenchmarkASpanThatNobodyAsksFor(b *testing.B) {
	var r Recorder
	for b.Loop() {
		_, end := r.Begin(b.Context(), "scan")
		end(nil)
	}
}

func TestARecordingThatIsForgottenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r Recorder
		r.Start(time.Minute)
		<-time.After(time.Minute + time.Second)
		synctest.Wait()
		_, end := r.Begin(t.Context(), "too late")
		end(nil)
		if spans := taken(t, &r); len(spans) != 0 {
			t.Errorf("recorded %+v", spans)
		}
	})
}
