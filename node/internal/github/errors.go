package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/cli/go-gh/v2/pkg/api"
)

// What callers tell apart. Only ErrNotFound says something about a pull request; after any of the others
// nothing is known.
var (
	ErrNoCLI       = errors.New("the GitHub CLI is not installed")
	ErrNotSignedIn = errors.New("not signed in to GitHub")
	ErrNotFound    = errors.New("not found on GitHub")
	ErrRenamed     = errors.New("the repository has another name now")
	ErrTemporary   = errors.New("GitHub cannot tell now")
)

// classify puts an error of go-gh into one of the sentinels. What GitHub did not clearly say is temporary: a
// proxy's page, a cut connection and a limit must never pass for an answer.
func classify(err error) error {
	if err == nil || sorted(err) {
		return err
	}
	if rest, ok := errors.AsType[*api.HTTPError](err); ok {
		return classifyStatus(rest)
	}
	if query, ok := errors.AsType[*api.GraphQLError](err); ok {
		return classifyQuery(query)
	}
	return fmt.Errorf("%w: %w", ErrTemporary, err)
}

// sorted reports whether an error is in a class already, or the caller's own.
func sorted(err error) bool {
	return slices.ContainsFunc([]error{ErrNoCLI, ErrNotSignedIn, ErrNotFound, ErrRenamed, ErrTemporary, context.Canceled},
		func(class error) bool { return errors.Is(err, class) })
}

func classifyStatus(e *api.HTTPError) error {
	words := strings.ReplaceAll(e.Message, "\n", " ")
	switch {
	case !spoken(e), e.StatusCode >= 500, limited(e), e.StatusCode == http.StatusRequestTimeout:
		return fmt.Errorf("%w: status %d: %s", ErrTemporary, e.StatusCode, words)
	case e.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%w: %s", ErrNotSignedIn, words)
	case e.StatusCode == http.StatusNotFound, e.StatusCode == http.StatusGone:
		return ErrNotFound
	case e.StatusCode >= 300 && e.StatusCode < 400:
		return ErrRenamed
	}
	return fmt.Errorf("status %d: %s", e.StatusCode, words)
}

// spoken reports whether the answer is GitHub's: JSON with a message. For what is not JSON go-gh makes the
// status line the message.
func spoken(e *api.HTTPError) bool {
	return strings.Contains(e.Headers.Get("Content-Type"), "json") && e.Message != ""
}

func limited(e *api.HTTPError) bool {
	switch e.StatusCode {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden:
		return e.Headers.Get("Retry-After") != "" || e.Headers.Get("X-RateLimit-Remaining") == "0" ||
			strings.Contains(strings.ToLower(e.Message), "rate limit")
	}
	return false
}

func classifyQuery(e *api.GraphQLError) error {
	for _, item := range e.Errors {
		switch {
		case item.Type == "NOT_FOUND" && len(item.Path) <= 1: // what was asked for, not something inside it
			return fmt.Errorf("%w: %s", ErrNotFound, item.Message)
		case slices.Contains([]string{"RATE_LIMITED", "RATE_LIMIT", "SERVICE_UNAVAILABLE"}, item.Type):
			return fmt.Errorf("%w: %s", ErrTemporary, item.Message)
		}
		if tooSlow(item) {
			return fmt.Errorf("%w: %s", ErrTemporary, item.Message)
		}
	}
	return errors.New(strings.ReplaceAll(e.Error(), "\n", " "))
}

// tooSlow is how GraphQL tells its own time limit, in an answer with status 200.
func tooSlow(item api.GraphQLErrorItem) bool {
	return strings.HasPrefix(item.Message, "Something went wrong") || strings.Contains(item.Message, "timeout")
}
