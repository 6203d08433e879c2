package record

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

type m = map[string]any

// generate makes a random cluster and random changes to it. Small numbers of everything, so that things meet; but about a thousand pods, which are
// more than Endpoints take, for every fiftieth seed.
func generate(seed uint64) *vector {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 1)), clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), version: 100}
	v := &vector{ID: fmt.Sprintf("random-%d", seed)}
	v.Config = config{MaxEndpointsPerSlice: pick(g, []int32{1, 2, 3, 4, 5, 100, 100}), EndpointUpdatesBatchPeriodSeconds: pick(g, []int{1, 1, 1, 1, 1, 1, 0, 2})}
	g.many = seed%50 == 0
	g.topology = !g.many && g.chance(30)
	g.dualStack = !g.many && g.chance(40)
	for i := range 1 + g.IntN(5) {
		g.add(g.node(i))
	}
	services := 1 + g.IntN(3)
	if !g.topology {
		for range services {
			g.add(g.service())
		}
	}
	pods := g.IntN(10)
	if g.topology || g.chance(20) {
		pods = 4 + g.IntN(24)
	}
	if g.many {
		v.Config.MaxEndpointsPerSlice = pick(g, []int32{100, 1000})
		pods = 1_000 + g.IntN(500)
	}
	for range pods {
		g.add(g.pod())
	}
	if g.chance(40) {
		for range 1 + g.IntN(4) {
			if g.chance(50) {
				g.add(g.endpoints())
			} else {
				g.add(g.slice())
			}
		}
	}
	for _, object := range g.objects {
		v.Given = append(v.Given, marshal(object))
	}
	v.Steps = append(v.Steps, step{Note: "start"})
	if g.topology {
		// When it starts upstream may sync before it knows the nodes, and then gives hints later: so the services come when it does.
		var s step
		for range services {
			service := g.service()
			g.add(service)
			g.applied(&s, service)
		}
		v.Steps = append(v.Steps, s)
	}
	faulty := g.chance(15)
	steps := g.IntN(9)
	if faulty {
		// A step takes 40 minutes then, and within some hours our own periodic run of each service would come.
		steps = g.IntN(3)
	}
	for range steps {
		v.Steps = append(v.Steps, g.step())
	}
	if faulty {
		for range 1 + g.IntN(2) {
			v.Faults = append(v.Faults, g.fault(len(v.Steps)))
		}
	}
	return v
}

type generator struct {
	*rand.Rand
	clock     time.Time
	version   int
	named     int
	topology  bool
	dualStack bool
	many      bool
	objects   []m
	gone      []ref
}

func pick[T any](g *generator, of []T) T { return of[g.IntN(len(of))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

func (g *generator) now() string {
	g.clock = g.clock.Add(time.Duration(1+g.IntN(30)) * time.Second)
	return g.clock.Format(time.RFC3339)
}

func (g *generator) add(object m) { g.objects = append(g.objects, object) }

func (g *generator) meta(name, namespace string) m {
	g.version++
	meta := m{"name": name, "uid": fmt.Sprintf("uid-%d", g.version), "resourceVersion": fmt.Sprint(g.version), "creationTimestamp": g.now(), "labels": m{}, "annotations": m{}}
	if namespace != "" {
		meta["namespace"] = namespace
	}
	return meta
}

func (g *generator) name(prefix string) string {
	g.named++
	return fmt.Sprintf("%s-%02d", prefix, g.named)
}

func (g *generator) namespace() string {
	return pick(g, []string{"default", "default", "default", "prod"})
}

func (g *generator) of(kind string) []m {
	var all []m
	for _, object := range g.objects {
		if object["kind"] == kind {
			all = append(all, object)
		}
	}
	return all
}

func metadataOf(object m) m { return object["metadata"].(m) }
func specOf(object m) m     { return object["spec"].(m) }

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
	g.shapeEndpoints(endpoints)
	return endpoints
}

func (g *generator) shapeEndpoints(endpoints m) {
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
	delete(endpoints, "subsets")
	if g.chance(60) {
		endpoints["subsets"] = []m{{
			pick(g, []string{"addresses", "notReadyAddresses"}): []m{{"ip": "1.2.3.4"}},
			"ports": []m{{"port": 80, "protocol": "TCP"}},
		}}
	}
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
	delete(slice, "endpoints")
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

// step is one change, or a few at once.
func (g *generator) step() step {
	s := step{}
	if g.chance(12) {
		// Alone: we look at a foreign change later than upstream does (docs/parity.md D12), and what else happens would show that.
		g.changeOutputs(&s)
		return s
	}
	for range pick(g, []int{1, 1, 1, 1, 2, 3, 6}) {
		g.change(&s)
	}
	return s
}

// changeOutputs is what others do to Endpoints and slices. Not to what is in Endpoints: upstream looks at that when it has something to do for the service.
func (g *generator) changeOutputs(s *step) {
	existing, services := g.of("EndpointSlice"), g.of("Service")
	switch {
	case g.chance(25) && len(services) > 0:
		service := metadataOf(pick(g, services))
		s.Delete = append(s.Delete, ref{Kind: "Endpoints", Namespace: service["namespace"].(string), Name: service["name"].(string)})
		s.Note = "delete Endpoints"
	case g.chance(40) && len(existing) > 0:
		g.removed(s, pick(g, existing))
	default:
		slice := g.slice()
		g.add(slice)
		g.applied(s, slice)
	}
}

func (g *generator) change(s *step) {
	kind := pick(g, []string{"Pod", "Pod", "Pod", "Pod", "Service", "Service", "Node", "new", "new", "gone"})
	switch kind {
	case "new":
		object := pick(g, []func() m{g.pod, g.pod, g.pod, g.service})()
		if g.chance(50) {
			g.again(s, object)
		}
		g.add(object)
		g.applied(s, object)
	case "gone":
		if len(g.objects) == 0 {
			return
		}
		object := pick(g, g.objects)
		if object["kind"] != "EndpointSlice" && object["kind"] != "Endpoints" && (object["kind"] == "Pod" || g.chance(50)) && !mentioned(s, object) {
			g.removed(s, object)
		}
	default:
		all := g.of(kind)
		if len(all) == 0 {
			return
		}
		object := pick(g, all)
		if mentioned(s, object) {
			return
		}
		switch kind {
		case "Pod":
			pick(g, []func(m){g.shapePodStatus, g.shapePodStatus, g.shapePodStatus, g.shapePodLabels})(object)
		case "Service":
			pick(g, []func(m){g.shapeType, g.shapeSelector, g.shapePorts, g.shapeServiceLabels, g.shapeServiceAnnotations, g.shapeTraffic, g.shapePublish})(object)
		case "Node":
			g.shapeNode(object)
		}
		g.applied(s, object)
	}
}

// again is what comes back under a name that was there before, as the pods of a StatefulSet do: in another step, so that its end is seen.
func (g *generator) again(s *step, object m) {
	for i, gone := range g.gone {
		if gone.Kind == object["kind"] && !slices.Contains(s.Delete, gone) {
			metadataOf(object)["name"] = gone.Name
			if gone.Namespace != "" {
				metadataOf(object)["namespace"] = gone.Namespace
			}
			g.gone = slices.Delete(g.gone, i, i+1)
			return
		}
	}
}

func (g *generator) removed(s *step, object m) {
	g.objects = slices.DeleteFunc(g.objects, func(o m) bool { return metadataOf(o)["uid"] == metadataOf(object)["uid"] })
	namespace, _ := metadataOf(object)["namespace"].(string)
	gone := ref{Kind: object["kind"].(string), Namespace: namespace, Name: metadataOf(object)["name"].(string)}
	s.Delete, g.gone = append(s.Delete, gone), append(g.gone, gone)
	s.Note += "delete " + gone.Kind + " "
}

func (g *generator) applied(s *step, object m) {
	s.Apply = append(s.Apply, marshal(object))
	s.Note += object["kind"].(string) + " "
}

// mentioned tells whether the step has changed the object already: its changes come all at once.
func mentioned(s *step, object m) bool {
	for _, raw := range s.Apply {
		var other m
		if err := json.Unmarshal(raw, &other); err != nil {
			panic(err)
		}
		o := other["metadata"].(m)
		if other["kind"] == object["kind"] && o["name"] == metadataOf(object)["name"] && o["namespace"] == metadataOf(object)["namespace"] {
			return true
		}
	}
	return false
}

func (g *generator) fault(steps int) fault {
	f := fault{Verb: pick(g, []string{"create", "update", "delete"}), Resource: pick(g, []string{"endpoints", "endpointslices"}), Step: g.IntN(steps), ForSeconds: pick(g, []int{20, 33, 60, 600})}
	kinds := []fault{{Code: 500, Reason: "InternalError"}, {Code: 403, Reason: "Forbidden"}}
	switch f.Verb {
	case "create":
		kinds = append(kinds, fault{Code: 403, Reason: "Forbidden", Cause: "NamespaceTerminating"}, fault{Code: 409, Reason: "AlreadyExists"})
	case "update":
		kinds = append(kinds, fault{Code: 409, Reason: "Conflict"}, fault{Code: 404, Reason: "NotFound"})
	}
	kind := pick(g, kinds)
	f.Code, f.Reason, f.Cause = kind.Code, kind.Reason, kind.Cause
	return f
}
