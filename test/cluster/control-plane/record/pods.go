package record

import "fmt"

func (g *generator) node(i int) m {
	node := m{"apiVersion": "v1", "kind": "Node", "metadata": g.meta(fmt.Sprintf("node-%d", i), ""), "spec": m{}}
	g.shapeNode(node)
	return node
}

func (g *generator) shapeNode(node m) {
	labels := m{"kubernetes.io/hostname": metadataOf(node)["name"]}
	if g.topology || g.chance(60) {
		labels["topology.kubernetes.io/zone"] = pick(g, []string{"zone-a", "zone-a", "zone-b", "zone-c"})
	}
	if g.chance(8) {
		labels["node-role.kubernetes.io/control-plane"] = ""
	}
	if g.chance(4) {
		labels["node-role.kubernetes.io/master"] = ""
	}
	if g.chance(4) {
		delete(labels, "topology.kubernetes.io/zone")
	}
	metadataOf(node)["labels"] = labels
	status := m{"conditions": []m{{"type": "Ready", "status": pick(g, []string{"True", "True", "True", "True", "True", "True", "False", "Unknown"})}}}
	if !g.chance(6) {
		status["allocatable"] = m{"cpu": pick(g, []string{"4", "4", "8", "2", "1500m"})}
	}
	node["status"] = status
}

func (g *generator) pod() m {
	pod := m{"apiVersion": "v1", "kind": "Pod", "metadata": g.meta(g.name("pod"), g.namespace()), "spec": m{}, "status": m{}}
	g.shapePod(pod)
	return pod
}

// shapePod gives a pod what it keeps for life, and then the rest.
func (g *generator) shapePod(pod m) {
	s := specOf(pod)
	if !g.chance(3) {
		s["nodeName"] = pick(g, []string{"node-0", "node-1", "node-2", "node-3", "node-0", "node-1"})
	}
	switch {
	case g.many && s["nodeName"] != nil:
		s["nodeName"] = "node-0"
	case g.chance(2):
		s["nodeName"] = "node-missing"
	}
	s["restartPolicy"] = pick(g, []string{"Always", "Always", "OnFailure", "Never"})
	container := m{"name": "c", "image": "i", "resources": m{}}
	var ports []m
	if g.chance(80) {
		ports = append(ports, m{"name": "http", "containerPort": pick(g, []int{8080, 8080, 9090}), "protocol": pick(g, []string{"TCP", "TCP", "TCP", "UDP"})})
	}
	if g.chance(30) {
		ports = append(ports, m{"name": "dns", "containerPort": 53, "protocol": pick(g, []string{"TCP", "UDP"})})
	}
	if ports != nil {
		container["ports"] = ports
	}
	s["containers"] = []m{container}
	if g.chance(12) {
		side := m{"name": "side", "image": "i", "resources": m{}, "ports": []m{{"name": pick(g, []string{"dns", "http"}), "containerPort": 7070, "protocol": pick(g, []string{"TCP", "UDP"})}}}
		if g.chance(80) {
			side["restartPolicy"] = "Always"
		}
		s["initContainers"] = []m{side}
	}
	if g.chance(20) {
		s["hostname"] = metadataOf(pod)["name"]
		if g.chance(80) {
			s["subdomain"] = pick(g, []string{"svc-01", "svc-02", "svc-03", "svc-04", "other"})
		}
	}
	g.shapePodLabels(pod)
	g.shapePodStatus(pod)
}

func (g *generator) shapePodLabels(pod m) {
	labels := m{"app": pick(g, []string{"a", "a", "a", "a", "b", "b"}), "tier": pick(g, []string{"front", "back", "mid"})}
	if g.topology && g.chance(5) {
		labels["topology.kubernetes.io/zone"] = "zone-x"
	}
	if g.many {
		labels["app"] = "a"
	}
	metadataOf(pod)["labels"] = labels
}

func (g *generator) shapePodStatus(pod m) {
	status := m{"phase": pick(g, []string{"Running", "Running", "Running", "Running", "Running", "Running", "Running", "Running", "Pending", "Failed", "Succeeded"})}
	if g.many {
		status["phase"] = "Running"
	}
	if g.chance(92) {
		var conditions []m
		if g.chance(20) {
			conditions = append(conditions, m{"type": "Initialized", "status": "True", "lastTransitionTime": g.now()})
		}
		if !g.chance(4) {
			conditions = append(conditions, m{"type": "Ready", "status": pick(g, []string{"True", "True", "True", "False"}), "lastTransitionTime": g.now()})
		}
		status["conditions"] = conditions
	}
	old, _ := pod["status"].(m)
	switch {
	case g.chance(3):
		// None: it has none yet, or lost it.
	case old != nil && old["podIP"] != nil && !g.chance(5):
		status["podIP"], status["podIPs"] = old["podIP"], old["podIPs"]
	default:
		// So few that pods share one now and then, as those of the host's network do.
		networks := 2
		if g.many {
			networks = 250
		}
		four, six := fmt.Sprintf("192.168.%d.%d", g.IntN(networks), 1+g.IntN(60)), fmt.Sprintf("fd00::%x", 1+g.IntN(200))
		ips := [][]string{{four}}
		if g.dualStack {
			ips = [][]string{{four}, {six}, {four, six}, {four, six}, {six, four}}
		}
		var all []m
		chosen := pick(g, ips)
		for _, ip := range chosen {
			all = append(all, m{"ip": ip})
		}
		status["podIP"], status["podIPs"] = chosen[0], all
	}
	pod["status"] = status
	delete(metadataOf(pod), "deletionTimestamp")
	delete(metadataOf(pod), "finalizers")
	if g.chance(8) {
		metadataOf(pod)["deletionTimestamp"], metadataOf(pod)["finalizers"] = g.now(), []string{"x/y"}
	}
}
