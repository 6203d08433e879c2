package record

func (g *generator) serviceOrNone(share int) (name, namespace string, service m) {
	services := g.of("Service")
	if len(services) == 0 || g.chance(share) {
		return g.name("gone"), g.namespace(), nil
	}
	service = pick(g, services)
	return metadataOf(service)["name"].(string), metadataOf(service)["namespace"].(string), service
}

// endpoints are somebody else's, or left over, or a former version of what the controller would write.
func (g *generator) endpoints() m {
	name, namespace, _ := g.serviceOrNone(40)
	for _, other := range g.of("Endpoints") {
		if metadataOf(other)["name"] == name && metadataOf(other)["namespace"] == namespace {
			name = g.name("gone")
		}
	}
	endpoints := m{"apiVersion": "v1", "kind": "Endpoints", "metadata": g.meta(name, namespace)}
	labels, annotations := m{}, m{}
	if g.chance(50) {
		labels["endpoints.kubernetes.io/managed-by"] = "endpoint-controller"
	}
	if g.chance(30) {
		labels[pick(g, []string{"old", "team", "service.kubernetes.io/headless"})] = pick(g, []string{"label", "", "red"})
	}
	if g.chance(15) {
		annotations["control-plane.alpha.kubernetes.io/leader"] = "{}"
	}
	for _, k := range []string{"endpoints.kubernetes.io/last-change-trigger-time", "endpoints.kubernetes.io/over-capacity", "keep"} {
		if g.chance(15) {
			annotations[k] = pick(g, []string{"truncated", "warning", "2020-01-01T00:00:00Z"})
		}
	}
	metadataOf(endpoints)["labels"], metadataOf(endpoints)["annotations"] = labels, annotations
	if g.chance(60) {
		endpoints["subsets"] = []m{{
			pick(g, []string{"addresses", "notReadyAddresses"}): []m{{"ip": "1.2.3.4"}},
			"ports": []m{{"port": 80, "protocol": "TCP"}},
		}}
	}
	return endpoints
}

func (g *generator) slice() m {
	service, namespace, object := g.serviceOrNone(15)
	slice := m{"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": g.meta(g.name(service), namespace)}
	metadata := metadataOf(slice)
	metadata["generateName"], metadata["generation"] = service+"-", 1
	if object != nil && g.chance(80) {
		metadata["ownerReferences"] = []m{{"apiVersion": "v1", "kind": "Service", "name": service, "uid": metadataOf(object)["uid"], "controller": true, "blockOwnerDeletion": true}}
	}
	slice["addressType"] = pick(g, []string{"IPv4", "IPv4", "IPv4", "IPv6", "FQDN"})
	g.shapeSlice(slice, service)
	if g.chance(6) {
		metadata["deletionTimestamp"], metadata["finalizers"] = g.now(), []string{"x/y"}
	}
	return slice
}

// shapeSlice puts some of the pods in, as somebody may have left them.
func (g *generator) shapeSlice(slice m, service string) {
	metadata := metadataOf(slice)
	labels := m{"endpointslice.kubernetes.io/managed-by": pick(g, []string{
		"endpointslice-controller.k8s.io", "endpointslice-controller.k8s.io", "endpointslice-controller.k8s.io", "endpointslice-controller.k8s.io", "someone.else",
		"endpointslicemirroring-controller.k8s.io",
	})}
	if !g.chance(4) {
		labels["kubernetes.io/service-name"] = service
	}
	if g.chance(15) {
		labels["team"] = "red"
	}
	metadata["labels"], metadata["annotations"] = labels, m{}
	if g.chance(10) {
		metadata["annotations"] = m{pick(g, []string{"note", "endpoints.kubernetes.io/last-change-trigger-time"}): "2020-01-01T00:00:00Z"}
	}
	slice["ports"] = []m{{"name": "", "port": pick(g, []int{8080, 8080, 1}), "protocol": "TCP"}}
	var endpoints []m
	for _, pod := range g.of("Pod") {
		status := pod["status"].(m)
		ip, _ := status["podIP"].(string)
		if ip == "" || slice["addressType"] == "FQDN" || !g.chance(30) || (slice["addressType"] == "IPv6") != (ip[:2] == "fd") || metadataOf(pod)["namespace"] != metadata["namespace"] {
			continue
		}
		endpoint := m{
			"addresses":  []string{ip},
			"conditions": m{"ready": g.chance(60), "serving": true, "terminating": false},
			"targetRef":  m{"kind": "Pod", "name": metadataOf(pod)["name"], "namespace": metadataOf(pod)["namespace"], "uid": metadataOf(pod)["uid"]},
		}
		if node := specOf(pod)["nodeName"]; node != nil {
			endpoint["nodeName"] = node
		}
		if g.chance(20) {
			endpoint["zone"] = "zone-a"
		}
		if g.chance(10) {
			endpoint["hints"] = m{"forZones": []m{{"name": "zone-a"}}}
		}
		endpoints = append(endpoints, endpoint)
	}
	if endpoints != nil {
		slice["endpoints"] = endpoints
	}
}
