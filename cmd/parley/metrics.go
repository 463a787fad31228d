package main

import (
	"github.com/spf13/cobra"

	"github.com/parley-mesh/parley/node/api"
)

func (a *app) metricsCommand() *cobra.Command {
	return &cobra.Command{
		Use: "metrics", Short: "print numbers about the running node, for Prometheus", Args: arguments(),
		Long: "Prints the text format of Prometheus; a textfile collector takes it from a timer. A running node serves the same\n" +
			"at http://127.0.0.1:9467/metrics, once listen = \"127.0.0.1:9467\" stands below [metrics] in its config.toml. No name\n" +
			"of a repository, a computer or a person is in it.",
		RunE: func(*cobra.Command, []string) error {
			_, client, err := a.running()
			if err != nil {
				return err
			}
			defer client.Close()
			s, err := client.Status()
			if err != nil {
				return err
			}
			threads, err := client.Threads()
			if err != nil {
				return err
			}
			return api.WriteMetrics(a.out, s, threads)
		},
	}
}
