// Package kubeproxy asks kube-proxy's own code which endpoints each node of a cluster uses of an import: slices that the hub's runs have written
// (cases.jsonl, which test/clusterset/hub/clusterset-kube-proxy.test.ts holds them to), and the endpoints that are expected.
package kubeproxy

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/kubernetes/pkg/proxy"
)

//go:embed cases.jsonl
var casesText []byte

type proxyCase struct {
	Name    string                    `json:"name"`
	Service v1.Service                `json:"service"`
	Slices  []discovery.EndpointSlice `json:"slices"`
	Nodes   []proxyNode               `json:"nodes"`
}

type proxyNode struct {
	Name string `json:"name"`
	// Empty: the node has no label of its zone.
	Zone string `json:"zone"`
	// By port of the Service: addresses, in order.
	Uses map[string][]string `json:"uses"`
}

func TestNodesUseTheEndpointsThatTheirHintsAreFor(t *testing.T) {
	decoder := json.NewDecoder(bytes.NewReader(casesText))
	decoder.DisallowUnknownFields()
	var cases []proxyCase
	for decoder.More() {
		var c proxyCase
		if err := decoder.Decode(&c); err != nil {
			t.Fatal(err)
		}
		cases = append(cases, c)
	}
	if len(cases) == 0 {
		t.Fatal("cases.jsonl has no case")
	}
	for _, c := range cases {
		for _, node := range c.Nodes {
			t.Run(fmt.Sprintf("%s/%s", c.Name, node.Name), func(t *testing.T) {
				for port, want := range node.Uses {
					got := usedBy(t, c, node, port)
					if !slices.Equal(got, want) {
						t.Errorf("port %s in zone %q: used are %v, and not %v", port, node.Zone, got, want)
					}
				}
				if len(node.Uses) != len(c.Service.Spec.Ports) {
					t.Errorf("%d ports are expected something of, and the Service has %d", len(node.Uses), len(c.Service.Spec.Ports))
				}
			})
		}
	}
}

// As kube-proxy's sync does it, in each family that the Service has.
func usedBy(t *testing.T, c proxyCase, node proxyNode, port string) []string {
	used := []string{}
	for _, family := range c.Service.Spec.IPFamilies {
		services := proxy.NewServiceChangeTracker(family, nil, nil)
		services.Update(nil, &c.Service)
		servicePorts := proxy.ServicePortMap{}
		servicePorts.Update(services)

		endpoints := proxy.NewEndpointsChangeTracker(family, node.Name, nil, nil)
		for i := range c.Slices {
			endpoints.EndpointSliceUpdate(&c.Slices[i], false)
		}
		endpointsByPort := proxy.EndpointsMap{}
		endpointsByPort.Update(endpoints)

		name := proxy.ServicePortName{Protocol: v1.ProtocolTCP, Port: port}
		name.Namespace, name.Name = c.Service.Namespace, c.Service.Name
		servicePort, found := servicePorts[name]
		if !found {
			t.Fatalf("kube-proxy finds no port %s of the Service: %v", port, servicePorts)
		}
		labels := map[string]string{}
		if node.Zone != "" {
			labels[v1.LabelTopologyZone] = node.Zone
		}
		_, _, reachable, _ := proxy.CategorizeEndpoints(endpointsByPort[name], servicePort, node.Name, labels)
		for _, endpoint := range reachable {
			used = append(used, endpoint.IP())
		}
	}
	slices.SortFunc(used, func(a, b string) int { return bytes.Compare(net.ParseIP(a).To16(), net.ParseIP(b).To16()) })
	return used
}
