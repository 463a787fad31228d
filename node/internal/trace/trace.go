// Package trace records what a node does and how long each part takes, while somebody asks for it, and writes it in
// the JSON of the OpenTelemetry protocol. While nobody asks, a span costs one atomic load.
package trace

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// spansMax bounds one recording.
const spansMax = 50_000

// scope is what the spans are of.
const scope = "github.com/parley-mesh/parley"

// ErrNone says that nothing was recorded.
var ErrNone = errors.New("no trace is being recorded")

// Recorder makes the spans of one node. The zero Recorder is ready.
type Recorder struct {
	now atomic.Pointer[sdk.TracerProvider] // nil: nobody asks

	mu   sync.Mutex
	box  *box
	over *time.Timer // ends a recording that its asker forgot
}

// Begin begins a span that has no parent; end takes what it came to. What is given to [Within] with the context that it
// returns are its children.
func (r *Recorder) Begin(ctx context.Context, name string) (within context.Context, end func(error)) {
	p := r.now.Load()
	if p == nil {
		return ctx, func(error) {}
	}
	return begin(ctx, p, name, trace.WithNewRoot())
}

// Within begins a span below the one that ctx belongs to, and none where it belongs to none.
func Within(ctx context.Context, name string) (within context.Context, end func(error)) {
	s := trace.SpanFromContext(ctx)
	if !s.IsRecording() {
		return ctx, func(error) {}
	}
	return begin(ctx, s.TracerProvider(), name)
}

func begin(ctx context.Context, p trace.TracerProvider, name string, how ...trace.SpanStartOption) (within context.Context, end func(error)) {
	ctx, s := p.Tracer(scope).Start(ctx, name, how...)
	return ctx, func(err error) {
		if err != nil {
			s.SetStatus(codes.Error, err.Error())
		}
		s.End()
	}
}

// Start begins to record, for at most so long. A recording that nobody has taken is given up.
func (r *Recorder) Start(longest time.Duration) {
	b := &box{}
	p := sdk.NewTracerProvider(sdk.WithSpanProcessor(b), sdk.WithSampler(sdk.AlwaysSample()), sdk.WithResource(resource.Empty()))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over != nil {
		r.over.Stop()
	}
	r.box = b
	r.now.Store(p)
	r.over = time.AfterFunc(longest, func() { r.now.CompareAndSwap(p, nil) })
}

// Take ends the recording and returns the spans that ended since [Recorder.Start], as one JSON object of the protocol
// (ExportTraceServiceRequest). version is the program's. Errors: [ErrNone].
func (r *Recorder) Take(version string) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.box == nil {
		return nil, ErrNone
	}
	r.over.Stop()
	r.now.Store(nil)
	spans, lost := r.box.end()
	r.box = nil
	return encode(spans, lost, version)
}

// box keeps the spans of one recording.
type box struct {
	mu    sync.Mutex
	spans []sdk.ReadOnlySpan
	lost  int // beyond [spansMax]
	shut  bool
}

func (b *box) OnStart(context.Context, sdk.ReadWriteSpan) {}

func (b *box) OnEnd(s sdk.ReadOnlySpan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.shut:
	case len(b.spans) >= spansMax:
		b.lost++
	default:
		b.spans = append(b.spans, s)
	}
}

func (b *box) Shutdown(context.Context) error   { return nil }
func (b *box) ForceFlush(context.Context) error { return nil }

// end lets nothing more in.
func (b *box) end() (spans []sdk.ReadOnlySpan, lost int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.shut = true
	return b.spans, b.lost
}
