package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node"
	"github.com/parley-mesh/parley/node/api"
)

// importBytesMax is how large an export may be that is read in.
const importBytesMax = 256 << 20

func (a *app) importCommand() *cobra.Command {
	return &cobra.Command{
		Use: "import FILE", Short: "read conversations from an export in JSON", Args: arguments("FILE"),
		Long: "Reads what parley export has written, in JSON, on another computer of the same conversations; - is the standard\n" +
			"input. Of each record only the signed bytes (wire) count: it is taken if its signature holds and its author is a\n" +
			"computer of yours or of a developer with a lane, and refused with the reason otherwise. What is here already stays\n" +
			"as it is. Run it while no node runs here. Markdown is for people and cannot be read in; a whole computer is moved\n" +
			"by parley backup --with-key and parley restore. The exit status is 1 when a record was refused.",
		RunE: func(c *cobra.Command, args []string) error { return a.importThreads(c, args[0]) },
	}
}

func (a *app) importThreads(c *cobra.Command, file string) error {
	home := a.openHome()
	if err := home.Check(); err != nil {
		return err
	}
	threads, err := a.readExport(file)
	if err != nil {
		return err
	}
	if pid, running := home.Holder(); running {
		return api.WithHint(fmt.Errorf("import %s: %w (process %d)", file, api.ErrHomeInUse, pid), fmt.Sprintf("stop process %d, then run parley import again", pid))
	}
	out, err := node.ImportThreads(c.Context(), home, node.Wires(threads))
	if err != nil {
		return err
	}
	for _, r := range out.Refused {
		a.note("record %s is refused: %s", fmt.Sprint(r.Number), r.Why)
	}
	fmt.Fprintf(a.out, "%s new, %d here already, %d refused.\n", many(out.New, "record"), out.Known, len(out.Refused))
	if out.Waiting > 0 {
		a.note("%s waits for one before it, which another computer may bring", many(out.Waiting, "record"))
	}
	if len(out.Refused) > 0 {
		return exitStatus(api.ExitError)
	}
	return nil
}

// readExport reads the conversations of a file.
func (a *app) readExport(file string) (out []api.Thread, err error) {
	in := a.in
	if file != "-" {
		if in, err = os.Open(file); err != nil {
			return nil, fmt.Errorf("import: %w", err)
		}
		defer in.Close()
	}
	b, err := io.ReadAll(io.LimitReader(in, importBytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("import %s: %w", file, err)
	}
	if len(b) > importBytesMax {
		return nil, usageError{fmt.Sprintf("import %s: larger than %d MB; export fewer conversations at once", file, importBytesMax>>20)}
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, api.WithHint(usageError{fmt.Sprintf("import %s: this is no export in JSON: %v", file, err)}, "make one with parley export, without --format markdown")
	}
	return out, nil
}
