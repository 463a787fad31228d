package github

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
	"github.com/vektah/gqlparser/v2/parser"
	"github.com/vektah/gqlparser/v2/validator"
)

// keptTypes are the object, interface and union types of GitHub's schema that the stand-in keeps: all that a client of parley's and
// gh 2.x name when they list, show, merge or update pull requests. A kept type keeps every field whose type is kept, so a field the stand-in
// cannot answer is an error of the stand-in, not of the query.
const keptTypes = `
Query Mutation RateLimit Node Actor User Organization Bot Mannequin RepositoryOwner Team Repository Ref GitObject Commit Tree TreeEntry
Blob Tag GitActor PageInfo Label LabelConnection LabelEdge Milestone UserConnection UserEdge
PullRequest PullRequestConnection PullRequestEdge PullRequestCommit PullRequestCommitConnection PullRequestCommitEdge
PullRequestChangedFile PullRequestChangedFileConnection PullRequestChangedFileEdge PullRequestReview PullRequestReviewConnection
PullRequestReviewEdge ReviewRequest ReviewRequestConnection ReviewRequestEdge RequestedReviewer IssueComment IssueCommentConnection
IssueCommentEdge ReactionGroup ReactingUserConnection ReactingUserEdge CommitConnection CommitEdge GitActorConnection GitActorEdge StatusCheckRollup
StatusCheckRollupContextConnection StatusCheckRollupContextEdge StatusCheckRollupContext CheckRun CheckSuite
WorkflowRun Workflow StatusContext
Issue IssueConnection IssueEdge BranchProtectionRule MergeQueue MergeQueueEntry AutoMergeRequest
ProjectCardConnection ProjectCard ProjectColumn Project ProjectV2ItemConnection ProjectV2Item ProjectV2ItemEdge
ProjectV2 ProjectV2ItemFieldValue ProjectV2ItemFieldSingleSelectValue
MergePullRequestPayload EnqueuePullRequestPayload UpdatePullRequestBranchPayload UpdatePullRequestPayload ClosePullRequestPayload
EnablePullRequestAutoMergePayload CreatePullRequestPayload MarkPullRequestReadyForReviewPayload`

// TestSchemaIsCutFromGitHubs cuts GitHub's published schema and compares it with the one here. With CUT=1 it replaces the one here; see
// schema/README.md.
func TestSchemaIsCutFromGitHubs(t *testing.T) {
	file := os.Getenv("GITHUB_SCHEMA")
	if file == "" {
		t.Skip("GITHUB_SCHEMA does not name the schema.graphql of npm's @octokit/graphql-schema: nothing to compare with")
	}
	got := cutSchema(t, readFile(t, file))
	if os.Getenv("CUT") != "" {
		write(t, "schema", "github.graphql", got)
		return
	}
	if got != schemaText {
		t.Errorf("schema/github.graphql is not what the cut makes of %s: run with CUT=1", file)
	}
}

func cutSchema(t *testing.T, published string) string {
	t.Helper()
	doc := must(parser.ParseSchema(&ast.Source{Name: "github", Input: published}))(t)
	kept := map[string]bool{"String": true, "Int": true, "Float": true, "Boolean": true, "ID": true}
	for name := range strings.FieldsSeq(keptTypes) {
		kept[name] = true
	}
	for _, d := range doc.Definitions {
		if d.Kind == ast.Scalar || d.Kind == ast.Enum {
			kept[d.Name] = true
		}
	}
	for _, d := range doc.Definitions {
		if kept[d.Name] {
			trim(d, kept)
		}
	}
	used := reachable(doc, kept)
	doc.Definitions = slices.DeleteFunc(doc.Definitions, func(d *ast.Definition) bool { return !used[d.Name] })
	slices.SortFunc(doc.Definitions, func(a, b *ast.Definition) int { return strings.Compare(a.Name, b.Name) })
	doc.Directives = slices.DeleteFunc(doc.Directives, func(d *ast.DirectiveDefinition) bool { return d.Name != "deprecated" })
	var out bytes.Buffer
	formatter.NewFormatter(&out, formatter.WithoutDescription(), formatter.WithIndent("\t")).FormatSchemaDocument(doc)
	header := "# Cut from GitHub's published GraphQL schema; see README.md and LICENSE.md beside this file.\n"
	return header + out.String()
}

// trim drops the interfaces, members and fields of a type whose own types are not kept, and fields the published file has twice.
func trim(d *ast.Definition, kept map[string]bool) {
	d.Directives = nil
	lost := func(name string) bool { return !kept[name] }
	d.Interfaces = slices.DeleteFunc(d.Interfaces, lost)
	d.Types = slices.DeleteFunc(d.Types, lost)
	d.TypePositions = nil
	seen := map[string]bool{}
	d.Fields = slices.DeleteFunc(d.Fields, func(f *ast.FieldDefinition) bool {
		twice := seen[f.Name]
		seen[f.Name] = true
		f.Directives = nil
		return twice || lost(f.Type.Name())
	})
	for _, v := range d.EnumValues {
		v.Directives = nil
	}
}

// reachable lists what the roots lead to: kept types through fields, inputs and enums through arguments.
func reachable(doc *ast.SchemaDocument, kept map[string]bool) map[string]bool {
	used := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		d := doc.Definitions.ForName(name)
		if used[name] || d == nil {
			return
		}
		used[name] = true
		for _, f := range d.Fields {
			f.Directives = nil
			visit(f.Type.Name())
			for _, a := range f.Arguments {
				a.Directives = nil
				visit(a.Type.Name())
			}
		}
		for _, other := range slices.Concat(d.Types, d.Interfaces) {
			visit(other)
		}
		for _, other := range doc.Definitions {
			if kept[other.Name] && slices.Contains(other.Interfaces, name) {
				visit(other.Name)
			}
		}
	}
	visit("Query")
	visit("Mutation")
	return used
}

func TestSchemaCutIsValid(t *testing.T) {
	doc, err := parser.ParseSchemas(validator.Prelude, &ast.Source{Name: "github", Input: schemaText})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := validator.ValidateSchemaDocument(doc); err != nil {
		t.Fatal(err)
	}
}
