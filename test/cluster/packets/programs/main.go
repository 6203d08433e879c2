// packets runs one program of a cluster's nodes, chosen by the first argument: kube-proxy and CoreDNS are upstream's own code, kubelet is a stand-in, and
// ask and look-up are the clients of a test. They are one binary because they share the Kubernetes client.
package main

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	proxy "k8s.io/kubernetes/cmd/kube-proxy/app"
)

func main() {
	programs := map[string]func(){
		"kube-proxy": func() { os.Exit(cli.Run(proxy.NewProxyCommand())) },
		"coredns":    coredns,
		"kubelet":    kubelet,
		"ask":        ask,
		"look-up":    lookUp,
	}
	if len(os.Args) > 1 {
		if run, known := programs[os.Args[1]]; known {
			// Each program reads os.Args as its own.
			os.Args = os.Args[1:]
			run()
			return
		}
	}
	fmt.Fprintln(os.Stderr, "usage: packets kube-proxy|coredns|kubelet|ask|look-up [flags]")
	os.Exit(2)
}
