// kube runs one part of a Kubernetes control plane, or a tool for its tests, chosen by the first argument.
// All of them are one binary because they share nearly all of their code: together they are hardly larger than the API server alone.
package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

// The programs of every Kubernetes version: a control plane of another version is this file alone. tools.go adds the others.
var programs = map[string]func(){
	"kube-apiserver":          command(apiserver.NewAPIServerCommand),
	"kube-controller-manager": command(controllermanager.NewControllerManagerCommand),
}

func command(build func() *cobra.Command) func() {
	return func() { os.Exit(cli.Run(build())) }
}

func main() {
	run := func() {
		names := make([]string, 0, len(programs))
		for name := range programs {
			names = append(names, name)
		}
		slices.Sort(names)
		fmt.Fprintf(os.Stderr, "usage: kube %s [flags]\n", strings.Join(names, "|"))
		os.Exit(2)
	}
	if len(os.Args) > 1 {
		if chosen, known := programs[os.Args[1]]; known {
			run = chosen
			// Each program reads os.Args as its own.
			os.Args = os.Args[1:]
		}
	}
	run()
}
