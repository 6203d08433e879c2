package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// A change of everything at once is more events than a fake watcher holds, and then it panics.
func init() { watch.DefaultChanSize = 100_000 }

// A kind that the controllers read or write.
type kind struct {
	resource string
	object   func() runtime.Object
	list     func() runtime.Object
}

var kinds = map[string]kind{
	"Service":       {"services", func() runtime.Object { return &v1.Service{} }, func() runtime.Object { return &v1.ServiceList{} }},
	"Pod":           {"pods", func() runtime.Object { return &v1.Pod{} }, func() runtime.Object { return &v1.PodList{} }},
	"Node":          {"nodes", func() runtime.Object { return &v1.Node{} }, func() runtime.Object { return &v1.NodeList{} }},
	"Endpoints":     {"endpoints", func() runtime.Object { return &v1.Endpoints{} }, func() runtime.Object { return &v1.EndpointsList{} }},
	"EndpointSlice": {"endpointslices", func() runtime.Object { return &discovery.EndpointSlice{} }, func() runtime.Object { return &discovery.EndpointSliceList{} }},
}

func kindOf(resource string) kind {
	for _, k := range kinds {
		if k.resource == resource {
			return k
		}
	}
	panic("no kind has the resource " + resource)
}

// api is what an API server does with objects (reference/parity.md API-1 to API-11), in memory: uid, resourceVersion, generation,
// preconditions, updates that change nothing. No admission, no validation, no garbage collection.
type api struct {
	mu      sync.Mutex
	version int
	made    int
	// What was there at the start, as it was.
	given   []runtime.Object
	shelves map[string]*shelf
	writes  map[string]map[string]int
	events  map[eventView]bool
	faults  []fault
	start   time.Time
	perStep time.Duration
	// Of watch events; nil for none.
	lag *rand.Rand
}

type shelf struct {
	objects  map[string]runtime.Object
	history  []change
	watchers []*watcher
}

type change struct {
	version int
	event   watch.Event
}

func newAPI(given []json.RawMessage) *api {
	a := &api{shelves: map[string]*shelf{}, writes: map[string]map[string]int{}, events: map[eventView]bool{}}
	for _, k := range kinds {
		a.shelves[k.resource] = &shelf{objects: map[string]runtime.Object{}}
	}
	for _, raw := range given {
		resource, object := decode(raw)
		m := accessor(object)
		version, _ := strconv.Atoi(m.GetResourceVersion())
		a.version = max(a.version, version)
		a.shelves[resource].objects[key(m)] = object
		a.given = append(a.given, object)
	}
	return a
}

func decode(raw json.RawMessage) (resource string, object runtime.Object) {
	var t metav1.TypeMeta
	if err := json.Unmarshal(raw, &t); err != nil {
		panic(err)
	}
	k, known := kinds[t.Kind]
	if !known {
		panic("unknown kind " + t.Kind)
	}
	object = k.object()
	if err := json.Unmarshal(raw, object); err != nil {
		panic(fmt.Errorf("%w: %s", err, raw))
	}
	// As typed clients have it.
	object.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return k.resource, object
}

func accessor(object runtime.Object) metav1.Object {
	m, err := meta.Accessor(object)
	if err != nil {
		panic(err)
	}
	return m
}

func key(m metav1.Object) string { return m.GetNamespace() + "/" + m.GetName() }

func (a *api) commit(resource string, event watch.EventType, object runtime.Object) {
	a.version++
	m := accessor(object)
	m.SetResourceVersion(strconv.Itoa(a.version))
	s := a.shelves[resource]
	if event == watch.Deleted {
		delete(s.objects, key(m))
	} else {
		s.objects[key(m)] = object
	}
	s.history = append(s.history, change{a.version, watch.Event{Type: event, Object: object}})
	for _, w := range s.watchers {
		w.tell(event, object.DeepCopyObject(), a.lag)
	}
}

// A watcher, whose events may come a little later, but in their order.
type watcher struct {
	*watch.RaceFreeFakeWatcher
	last time.Time
}

func (w *watcher) tell(event watch.EventType, object runtime.Object, lag *rand.Rand) {
	if lag == nil {
		w.Action(event, object)
		return
	}
	at := time.Now().Add(time.Duration(lag.IntN(3_000)) * time.Microsecond)
	if !at.After(w.last) {
		at = w.last.Add(time.Microsecond)
	}
	w.last = at
	time.AfterFunc(time.Until(at), func() { w.Action(event, object) })
}

// apply creates or replaces an object as it stands, but with a new resourceVersion.
func (a *api) apply(raw json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	resource, object := decode(raw)
	event := watch.Added
	if _, exists := a.shelves[resource].objects[key(accessor(object))]; exists {
		event = watch.Modified
	}
	a.commit(resource, event, object)
}

func (a *api) remove(kindName, namespace, name string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	resource := kinds[kindName].resource
	if object, exists := a.shelves[resource].objects[namespace+"/"+name]; exists {
		a.commit(resource, watch.Deleted, object.DeepCopyObject())
	}
}

func (a *api) list(resource string) []runtime.Object {
	s := a.shelves[resource]
	all := make([]runtime.Object, 0, len(s.objects))
	for _, k := range slices.Sorted(maps.Keys(s.objects)) {
		all = append(all, s.objects[k].DeepCopyObject())
	}
	return all
}
