package detect

import "testing"

func TestARouteOfWhichOnlyTheEndIsKnownIsReached(t *testing.T) { // C4
	for _, c := range []struct {
		route, request string
		tail           bool
		want           Confidence
	}{
		{"http:GET /refunds/{}", "http:GET /v1/refunds/{}", true, likelyUse},
		{"http:GET /refunds/{}", "http:GET /v1/refunds/{}", false, 0},
		{"http:GET /{}", "http:GET /v1/refunds", true, 0},
		{"http:GET /refunds", "http:POST /v1/refunds", true, 0},
	} {
		p := promise{id: c.route, route: true, tail: c.tail}
		if got := p.usedBy(&Reference{Kind: Request, Target: c.request, Sure: true}, false); got != c.want {
			t.Errorf("%s by %s: %d, want %d", c.route, c.request, got, c.want)
		}
	}
}
