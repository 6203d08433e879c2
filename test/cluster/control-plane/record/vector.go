package record

import "encoding/json"

// vector is what test/worlds/conformance/vector.ts describes.
type vector struct {
	ID           string            `json:"id"`
	Config       config            `json:"config"`
	Faults       []fault           `json:"faults,omitempty"`
	HintsByCount bool              `json:"hintsByCount,omitempty"`
	Given        []json.RawMessage `json:"given"`
	Steps        []step            `json:"steps"`
}

type config struct {
	MaxEndpointsPerSlice              int32 `json:"maxEndpointsPerSlice"`
	EndpointUpdatesBatchPeriodSeconds int   `json:"endpointUpdatesBatchPeriodSeconds"`
}

type fault struct {
	Verb       string `json:"verb"`
	Resource   string `json:"resource"`
	Step       int    `json:"step"`
	ForSeconds int    `json:"forSeconds"`
	Code       int    `json:"code"`
	Reason     string `json:"reason"`
	Cause      string `json:"cause,omitempty"`
}

type step struct {
	Note   string            `json:"note,omitempty"`
	Apply  []json.RawMessage `json:"apply,omitempty"`
	Delete []ref             `json:"delete,omitempty"`
	Expect *expectation      `json:"expect,omitempty"`
	// With -outputs only.
	Outputs []json.RawMessage `json:"outputs,omitzero"`
}

type ref struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

type expectation struct {
	Endpoints      []endpointsView           `json:"endpoints"`
	EndpointSlices []sliceGroup              `json:"endpointSlices"`
	KeptSlices     []string                  `json:"keptSlices"`
	Writes         map[string]map[string]int `json:"writes"`
	Events         []eventView               `json:"events"`
}

type endpointsView struct {
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Subsets     []json.RawMessage `json:"subsets"`
}

type sliceGroup struct {
	Namespace       string            `json:"namespace"`
	Service         string            `json:"service"`
	AddressType     string            `json:"addressType"`
	Ports           []json.RawMessage `json:"ports"`
	Labels          map[string]string `json:"labels"`
	Annotations     map[string]string `json:"annotations"`
	OwnerReferences json.RawMessage   `json:"ownerReferences"`
	TriggerTimes    []string          `json:"triggerTimes"`
	Sizes           []int             `json:"sizes"`
	Endpoints       []json.RawMessage `json:"endpoints"`
	HintsByZone     map[string]int    `json:"hintsByZone,omitempty"`
}

type eventView struct {
	Type      string `json:"type"`
	Reason    string `json:"reason"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}
