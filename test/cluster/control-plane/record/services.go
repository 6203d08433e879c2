package record

import "fmt"

func (g *generator) service() m {
	service := m{"apiVersion": "v1", "kind": "Service", "metadata": g.meta(g.name("svc"), g.namespace()), "spec": m{}, "status": m{"loadBalancer": m{}}}
	for _, shape := range []func(m){g.shapeType, g.shapeSelector, g.shapePorts, g.shapeServiceLabels, g.shapeServiceAnnotations, g.shapeTraffic, g.shapePublish} {
		shape(service)
	}
	return service
}

func (g *generator) shapeType(service m) {
	s := specOf(service)
	for _, field := range []string{"externalName", "clusterIP", "clusterIPs", "ipFamilies"} {
		delete(s, field)
	}
	s["type"] = "ClusterIP"
	if g.chance(5) {
		s["type"], s["externalName"] = "ExternalName", "example.org"
		return
	}
	families := []string{"IPv4"}
	if g.dualStack {
		families = pick(g, [][]string{{"IPv4"}, {"IPv6"}, {"IPv4", "IPv6"}, {"IPv6", "IPv4"}})
	}
	s["clusterIP"] = map[string]string{"IPv4": "10.0.0.40", "IPv6": "fd00:10::5"}[families[0]]
	if g.chance(25) {
		s["clusterIP"] = "None"
	}
	if !g.chance(6) {
		s["ipFamilies"] = families
	}
	if g.chance(5) {
		s["type"] = "LoadBalancer"
	}
}

func (g *generator) shapeSelector(service m) {
	s := specOf(service)
	delete(s, "selector")
	if g.chance(5) {
		return
	}
	selector := m{"app": pick(g, []string{"a", "a", "b"})}
	if g.chance(20) {
		selector["tier"] = pick(g, []string{"front", "back"})
	}
	s["selector"] = selector
}

func (g *generator) shapePorts(service m) {
	s := specOf(service)
	delete(s, "ports")
	n := pick(g, []int{0, 1, 1, 1, 2, 2, 3})
	var ports []m
	for i := range n {
		port := m{"port": 80 + i, "protocol": pick(g, []string{"TCP", "TCP", "UDP", "SCTP"})}
		port["targetPort"] = pick(g, []any{8080 + i, 8080 + i, 8080, "http", "dns", "missing", 8080 + i})
		if n > 1 || g.chance(25) {
			port["name"] = fmt.Sprintf("p%d", i)
		}
		if g.chance(25) {
			port["appProtocol"] = pick(g, []string{"http", "kubernetes.io/h2c"})
		}
		ports = append(ports, port)
	}
	if n > 0 {
		s["ports"] = ports
	}
}

func (g *generator) shapeServiceLabels(service m) {
	labels := m{}
	if g.chance(35) {
		labels["team"] = pick(g, []string{"red", "blue"})
	}
	if g.chance(10) {
		labels["rev"] = fmt.Sprint(g.IntN(30))
	}
	for _, reserved := range []string{
		"endpoints.kubernetes.io/managed-by", "endpointslice.kubernetes.io/managed-by", "kubernetes.io/service-name", "service.kubernetes.io/headless",
		"service.kubernetes.io/service-proxy-name", "endpointslice.kubernetes.io/skip-mirror",
	} {
		if g.chance(3) {
			labels[reserved] = pick(g, []string{"mine", "", "true"})
		}
	}
	metadataOf(service)["labels"] = labels
}

func (g *generator) shapeServiceAnnotations(service m) {
	annotations := m{}
	if g.chance(15) {
		annotations["note"] = pick(g, []string{"x", "y"})
	}
	if g.chance(5) {
		annotations["service.alpha.kubernetes.io/tolerate-unready-endpoints"] = pick(g, []string{"true", "false"})
	}
	if g.topology && g.chance(60) {
		annotations["service.kubernetes.io/topology-mode"] = pick(g, []string{"Auto", "Auto", "auto", "Disabled"})
	}
	if g.topology && g.chance(20) {
		annotations["service.kubernetes.io/topology-aware-hints"] = pick(g, []string{"Auto", "auto", "Disabled"})
	}
	if g.chance(4) {
		annotations["endpoints.kubernetes.io/last-change-trigger-time"] = "2020-01-01T00:00:00Z"
	}
	metadataOf(service)["annotations"] = annotations
}

func (g *generator) shapeTraffic(service m) {
	delete(specOf(service), "trafficDistribution")
	if g.topology && g.chance(30) || g.chance(5) {
		specOf(service)["trafficDistribution"] = pick(g, []string{"PreferClose", "PreferSameZone", "PreferSameNode"})
	}
}

func (g *generator) shapePublish(service m) {
	delete(specOf(service), "publishNotReadyAddresses")
	if g.chance(15) {
		specOf(service)["publishNotReadyAddresses"] = true
	}
}
