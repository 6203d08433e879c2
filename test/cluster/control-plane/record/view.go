package record

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// view tells what the cluster's outputs are, and the writes and events so far, in the form in which vectors expect them.
func (a *api) view(hintsByCount bool) *expectation {
	e := &expectation{
		Endpoints: []endpointsView{}, EndpointSlices: sliceGroups(a.list("endpointslices"), hintsByCount), KeptSlices: []string{}, Writes: a.writes,
		Events: []eventView{},
	}
	for _, object := range a.list("endpoints") {
		ep := object.(*v1.Endpoints)
		e.Endpoints = append(e.Endpoints, endpointsView{ep.Namespace, ep.Name, ep.Labels, ep.Annotations, sortedJSON(ep.Subsets, func(s v1.EndpointSubset) any { return s })})
	}
	for _, object := range a.given {
		if slice, isSlice := object.(*discovery.EndpointSlice); isSlice && a.shelves["endpointslices"].objects[key(slice)] != nil {
			e.KeptSlices = append(e.KeptSlices, key(slice))
		}
	}
	for event := range a.events {
		e.Events = append(e.Events, event)
	}
	slices.SortFunc(e.Events, func(x, y eventView) int { return bytes.Compare(marshal(x), marshal(y)) })
	return e
}

// outputs are the Endpoints and EndpointSlices as they are.
func (a *api) outputs() []json.RawMessage {
	all := []json.RawMessage{}
	for name, k := range map[string]schema.GroupVersionKind{"endpoints": v1.SchemeGroupVersion.WithKind("Endpoints"), "endpointslices": discovery.SchemeGroupVersion.WithKind("EndpointSlice")} {
		for _, object := range a.list(name) {
			object.GetObjectKind().SetGroupVersionKind(k)
			all = append(all, marshal(object))
		}
	}
	return all
}

func sliceGroups(objects []runtime.Object, hintsByCount bool) []sliceGroup {
	groups := map[string]*sliceGroup{}
	for _, object := range objects {
		slice := object.(*discovery.EndpointSlice)
		annotations := maps.Clone(slice.Annotations)
		delete(annotations, v1.EndpointsLastChangeTriggerTime)
		identity := sliceGroup{
			Namespace: slice.Namespace, Service: slice.Labels[discovery.LabelServiceName], AddressType: string(slice.AddressType),
			Ports:  sortedJSON(slice.Ports, func(p discovery.EndpointPort) any { return p }),
			Labels: slice.Labels, Annotations: annotations, OwnerReferences: marshal(slice.OwnerReferences),
		}
		id := string(marshal(identity))
		if groups[id] == nil {
			identity.TriggerTimes, identity.Endpoints = []string{}, []json.RawMessage{}
			groups[id] = &identity
		}
		group := groups[id]
		if at, marked := slice.Annotations[v1.EndpointsLastChangeTriggerTime]; marked && !slices.Contains(group.TriggerTimes, at) {
			group.TriggerTimes = append(group.TriggerTimes, at)
		}
		group.Sizes = append(group.Sizes, len(slice.Endpoints))
		for _, endpoint := range slice.Endpoints {
			if hintsByCount && endpoint.Hints != nil {
				if group.HintsByZone == nil {
					group.HintsByZone = map[string]int{}
				}
				for _, zone := range endpoint.Hints.ForZones {
					group.HintsByZone[zone.Name]++
				}
				endpoint.Hints = nil
			}
			group.Endpoints = append(group.Endpoints, marshal(endpoint))
		}
	}
	all := []sliceGroup{}
	for _, id := range slices.Sorted(maps.Keys(groups)) {
		group := groups[id]
		slices.Sort(group.TriggerTimes)
		slices.SortFunc(group.Sizes, func(x, y int) int { return y - x })
		slices.SortFunc(group.Endpoints, func(x, y json.RawMessage) int { return bytes.Compare(x, y) })
		all = append(all, *group)
	}
	return all
}

func sortedJSON[T any](all []T, of func(T) any) []json.RawMessage {
	out := make([]json.RawMessage, len(all))
	for i, x := range all {
		out[i] = marshal(of(x))
	}
	slices.SortFunc(out, func(x, y json.RawMessage) int { return bytes.Compare(x, y) })
	return out
}

func marshal(x any) json.RawMessage {
	out, err := json.Marshal(x)
	if err != nil {
		panic(err)
	}
	return out
}
