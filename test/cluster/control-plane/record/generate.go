package record

import (
	"fmt"
	"math/rand/v2"
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

func specOf(object m) m { return object["spec"].(m) }
