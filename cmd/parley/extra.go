package main

import "github.com/spf13/cobra"

// installCommands are the commands of a person about the program itself.
func installCommands(a *app) []*cobra.Command {
	return []*cobra.Command{a.setupCommand(), a.serviceCommand(), a.uninstallCommand(), a.noticesCommand(), a.exportCommand(), a.importCommand(), a.importCommand(), a.metricsCommand(), a.bugreportCommand(), a.manCommand()}
}
