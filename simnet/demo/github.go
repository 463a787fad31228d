package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/parley-mesh/parley/simnet/github"
)

// ServeGitHub runs the stand-in over a directory until ctx ends. It goes on where a killed one was.
func ServeGitHub(ctx context.Context, dir, addr string) error {
	s, err := github.New(filepath.Join(dir, "github"))
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 30 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	err = server.Close()
	if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// open makes the repository on a stand-in that no process serves yet, and says where its bare copy is.
func (s *stage) openGitHub(origin string) (*github.Server, *github.Repo, *github.User, error) {
	server, err := github.New(s.path("github"))
	if err != nil {
		return nil, nil, nil, err
	}
	owner := server.AddUser("kim", token)
	if r := server.Repo("kim", s.repoName()); r != nil {
		return server, r, owner, nil
	}
	r, err := server.AddRepo(owner, s.repoName(), gitDir(origin), s.Base)
	return server, r, owner, err
}

func (s *stage) repoName() string { return filepath.Base(s.Slug) }

func gitDir(dir string) string {
	if filepath.Base(dir) == "origin" && isDir(filepath.Join(dir, ".git")) {
		return filepath.Join(dir, ".git")
	}
	return dir
}

// writes is what was written to GitHub since the scene was set: pushes and merges.
func (s *stage) writes() ([]github.Write, error) {
	server, err := github.New(s.path("github"))
	if err != nil {
		return nil, fmt.Errorf("read the stand-in's log: %w", err)
	}
	all := server.Writes()
	return all[min(s.Baseline, len(all)):], nil
}
