package trace

import (
	"encoding/json"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// The JSON of opentelemetry-proto's trace/v1, as far as it is used here: ids in hexadecimal, times in nanoseconds since
// 1970 as decimal texts.
type (
	exported struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource   attributes   `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	attributes struct {
		Attributes []keyValue `json:"attributes"`
	}
	keyValue struct {
		Key   string `json:"key"`
		Value value  `json:"value"`
	}
	value struct {
		String string `json:"stringValue"`
	}
	scopeSpans struct {
		Scope named  `json:"scope"`
		Spans []span `json:"spans"`
	}
	named struct {
		Name string `json:"name"`
	}
	span struct {
		Trace  string `json:"traceId"`
		ID     string `json:"spanId"`
		Parent string `json:"parentSpanId,omitempty"`
		Name   string `json:"name"`
		Kind   int    `json:"kind"`
		Start  string `json:"startTimeUnixNano"`
		End    string `json:"endTimeUnixNano"`
		Status status `json:"status"`
	}
	status struct {
		Code    int    `json:"code,omitempty"` // 2: it failed
		Message string `json:"message,omitempty"`
	}
)

const (
	kindInternal = 1
	statusError  = 2
)

func encode(spans []sdk.ReadOnlySpan, lost int, version string) ([]byte, error) {
	all := resourceSpans{ScopeSpans: []scopeSpans{{Scope: named{scope}, Spans: []span{}}}}
	all.Resource.Attributes = []keyValue{{"service.name", value{"parley"}}, {"service.version", value{version}}}
	if lost > 0 {
		all.Resource.Attributes = append(all.Resource.Attributes, keyValue{"parley.spans_lost", value{strconv.Itoa(lost)}})
	}
	for _, s := range spans {
		all.ScopeSpans[0].Spans = append(all.ScopeSpans[0].Spans, spanOf(s))
	}
	return json.Marshal(exported{[]resourceSpans{all}})
}

func spanOf(s sdk.ReadOnlySpan) span {
	out := span{
		Trace: s.SpanContext().TraceID().String(), ID: s.SpanContext().SpanID().String(), Name: s.Name(), Kind: kindInternal,
		Start: nanos(s.StartTime()), End: nanos(s.EndTime()),
	}
	if p := s.Parent().SpanID(); p.IsValid() {
		out.Parent = p.String()
	}
	if st := s.Status(); st.Code == codes.Error {
		out.Status = status{statusError, st.Description}
	}
	return out
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }
