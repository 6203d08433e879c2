package record

import (
	"encoding/json"
	"slices"
)

// step is one change, or a few at once.
func (g *generator) step() step {
	s := step{}
	if g.chance(12) {
		// Alone: we look at a foreign change later than upstream does (reference/parity.md D12), and what else happens would show that.
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
	failures := []fault{{Code: 500, Reason: "InternalError"}, {Code: 403, Reason: "Forbidden"}}
	switch f.Verb {
	case "create":
		failures = append(failures, fault{Code: 403, Reason: "Forbidden", Cause: "NamespaceTerminating"}, fault{Code: 409, Reason: "AlreadyExists"})
	case "update":
		failures = append(failures, fault{Code: 409, Reason: "Conflict"}, fault{Code: 404, Reason: "NotFound"})
	}
	failure := pick(g, failures)
	f.Code, f.Reason, f.Cause = failure.Code, failure.Reason, failure.Cause
	return f
}
