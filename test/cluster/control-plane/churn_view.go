package main

import (
	"sort"
	"sync"
	"time"
)

// view is what a reader of one kind (Endpoints or EndpointSlices) sees of the pods' readiness, and what it should come to see.
type view struct {
	mu      sync.Mutex
	objects map[string]map[string]bool // object → pod → ready
	wanted  map[string]expectation     // pod → what has not shown yet
	delays  []float64                  // milliseconds
	writes  int
}

type expectation struct {
	ready bool
	since time.Time
}

func newView() *view {
	return &view{objects: map[string]map[string]bool{}, wanted: map[string]expectation{}}
}

// observe takes in a new version of one object. A pod that it no longer holds counts as not ready.
func (v *view) observe(object string, pods map[string]bool, count bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if count {
		v.writes++
	}
	before := v.objects[object]
	v.objects[object] = pods
	for pod, ready := range pods {
		v.meet(pod, ready)
	}
	for pod := range before {
		if _, still := pods[pod]; !still {
			v.meet(pod, false)
		}
	}
}

func (v *view) meet(pod string, ready bool) {
	if e, waiting := v.wanted[pod]; waiting && e.ready == ready {
		v.delays = append(v.delays, float64(time.Since(e.since).Microseconds())/1000)
		delete(v.wanted, pod)
	}
}

func (v *view) expect(pod string, ready bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.wanted[pod] = expectation{ready, time.Now()}
}

func (v *view) awaits(pod string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, waiting := v.wanted[pod]
	return waiting
}

func (v *view) pending() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.wanted)
}

func (v *view) readyPods() (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, pods := range v.objects {
		for _, ready := range pods {
			if ready {
				n++
			}
		}
	}
	return n
}

func (v *view) summary() map[string]any {
	v.mu.Lock()
	defer v.mu.Unlock()
	sort.Float64s(v.delays)
	quantile := func(q float64) float64 {
		if len(v.delays) == 0 {
			return -1
		}
		return float64(int(v.delays[int(q*float64(len(v.delays)-1))]*10)) / 10
	}
	return map[string]any{
		"seen": len(v.delays), "lost": len(v.wanted), "writes": v.writes,
		"p50_ms": quantile(.5), "p90_ms": quantile(.9), "p99_ms": quantile(.99), "max_ms": quantile(1),
	}
}
