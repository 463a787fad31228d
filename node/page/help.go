package page

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"

	"github.com/parley-mesh/parley/node/api"
	"github.com/parley-mesh/parley/node/help"
)

// help shows one of the pages that parley help has.
func (s *Server) help(_ context.Context, q url.Values) (shown, error) {
	name := cmp.Or(q.Get("page"), help.Topics[0].Name)
	at := slices.IndexFunc(help.Topics, func(t help.Topic) bool { return t.Name == name })
	if at < 0 {
		return shown{}, fmt.Errorf("help: %w: there is no page %q", api.ErrUsage, name)
	}
	return shown{"Help", helpView(help.Topics[at]), help.Topics[at].Short}, nil
}
