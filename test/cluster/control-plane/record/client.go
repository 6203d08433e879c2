package record

import (
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// client is a clientset over the api, as the controllers use one.
func (a *api) client() *fake.Clientset {
	client := &fake.Clientset{}
	client.AddReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		object, err := a.call(action)
		return true, object, err
	})
	client.AddWatchReactor("*", func(action clienttesting.Action) (bool, watch.Interface, error) {
		a.mu.Lock()
		defer a.mu.Unlock()
		from, _ := strconv.Atoi(action.(clienttesting.WatchActionImpl).ListOptions.ResourceVersion)
		s := a.shelves[action.GetResource().Resource]
		w := &watcher{RaceFreeFakeWatcher: watch.NewRaceFreeFake()}
		for _, c := range s.history {
			if c.version > from {
				w.Action(c.event.Type, c.event.Object.DeepCopyObject())
			}
		}
		s.watchers = append(s.watchers, w)
		return true, w, nil
	})
	return client
}

func (a *api) call(action clienttesting.Action) (runtime.Object, error) {
	resource, verb := action.GetResource().Resource, action.GetVerb()
	if resource == "events" {
		return a.event(action)
	}
	if err := a.fault(verb, resource); err != nil {
		return nil, err
	}
	s := a.shelves[resource]
	gr := action.GetResource().GroupResource()
	switch verb {
	case "list":
		list := kindOf(resource).list()
		if err := meta.SetList(list, a.list(resource)); err != nil {
			panic(err)
		}
		list.(metav1.ListInterface).SetResourceVersion(strconv.Itoa(a.version))
		return list, nil
	case "get":
		name := action.(clienttesting.GetAction).GetName()
		if object, exists := s.objects[action.GetNamespace()+"/"+name]; exists {
			return object.DeepCopyObject(), nil
		}
		return nil, apierrors.NewNotFound(gr, name)
	case "create":
		object := action.(clienttesting.CreateAction).GetObject().DeepCopyObject()
		m := accessor(object)
		m.SetNamespace(action.GetNamespace())
		a.made++
		if m.GetName() == "" {
			m.SetName(fmt.Sprintf("%sx%04d", m.GetGenerateName(), a.made))
		}
		if _, exists := s.objects[key(m)]; exists {
			return nil, apierrors.NewAlreadyExists(gr, m.GetName())
		}
		m.SetUID(types.UID(fmt.Sprintf("made-%d", a.made)))
		m.SetCreationTimestamp(metav1.Now())
		if resource == "endpointslices" {
			m.SetGeneration(1)
		}
		a.count(resource, verb)
		a.commit(resource, watch.Added, object)
		return object.DeepCopyObject(), nil
	case "update":
		object := action.(clienttesting.UpdateAction).GetObject().DeepCopyObject()
		m := accessor(object)
		old, exists := s.objects[key(m)]
		switch {
		case exists:
		case resource != "endpoints":
			return nil, apierrors.NewNotFound(gr, m.GetName())
		case m.GetUID() != "":
			return nil, apierrors.NewConflict(gr, m.GetName(), fmt.Errorf("precondition failed: uid"))
		default:
			panic("an update that creates is not to be expected of these controllers")
		}
		was := accessor(old)
		if (m.GetUID() != "" && m.GetUID() != was.GetUID()) || (m.GetResourceVersion() != "" && m.GetResourceVersion() != was.GetResourceVersion()) {
			return nil, apierrors.NewConflict(gr, m.GetName(), fmt.Errorf("the object has been modified"))
		}
		m.SetUID(was.GetUID())
		m.SetResourceVersion(was.GetResourceVersion())
		m.SetCreationTimestamp(was.GetCreationTimestamp())
		m.SetGeneration(was.GetGeneration())
		a.count(resource, verb)
		if equality.Semantic.DeepEqual(object, old) {
			return object.DeepCopyObject(), nil
		}
		if resource == "endpointslices" && changedBeyondMeta(object, old) {
			m.SetGeneration(was.GetGeneration() + 1)
		}
		a.commit(resource, watch.Modified, object)
		return object.DeepCopyObject(), nil
	case "delete":
		name := action.(clienttesting.DeleteAction).GetName()
		object, exists := s.objects[action.GetNamespace()+"/"+name]
		if !exists {
			return nil, apierrors.NewNotFound(gr, name)
		}
		a.count(resource, verb)
		m := accessor(object.DeepCopyObject())
		if len(m.GetFinalizers()) > 0 {
			if m.GetDeletionTimestamp() == nil {
				now := metav1.Now()
				m.SetDeletionTimestamp(&now)
				a.commit(resource, watch.Modified, m.(runtime.Object))
			}
			return nil, nil
		}
		a.commit(resource, watch.Deleted, m.(runtime.Object))
		return nil, nil
	}
	panic("unexpected call: " + verb + " " + resource)
}

func changedBeyondMeta(object, old runtime.Object) bool {
	o, w := object.(*discovery.EndpointSlice).DeepCopy(), old.(*discovery.EndpointSlice).DeepCopy()
	labelsChanged := !equality.Semantic.DeepEqual(o.Labels, w.Labels)
	o.ObjectMeta, w.ObjectMeta = metav1.ObjectMeta{}, metav1.ObjectMeta{}
	return labelsChanged || !equality.Semantic.DeepEqual(o, w)
}

func (a *api) count(resource, verb string) {
	if a.writes[resource] == nil {
		a.writes[resource] = map[string]int{"create": 0, "update": 0, "delete": 0}
	}
	a.writes[resource][verb]++
}

func (a *api) fault(verb, resource string) error {
	for _, f := range a.faults {
		from := a.start.Add(time.Duration(f.Step) * a.perStep)
		if f.Verb != verb || f.Resource != resource || time.Now().Before(from) || !time.Now().Before(from.Add(time.Duration(f.ForSeconds)*time.Second)) {
			continue
		}
		status := metav1.Status{Status: metav1.StatusFailure, Code: int32(f.Code), Reason: metav1.StatusReason(f.Reason), Message: "injected " + f.Reason, Details: &metav1.StatusDetails{}}
		if f.Cause != "" {
			status.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseType(f.Cause)}}
		}
		return &apierrors.StatusError{ErrStatus: status}
	}
	return nil
}

func (a *api) event(action clienttesting.Action) (runtime.Object, error) {
	if action.GetVerb() != "create" {
		return &v1.Event{}, nil
	}
	event := action.(clienttesting.CreateAction).GetObject().(*v1.Event).DeepCopy()
	a.events[eventView{event.Type, event.Reason, event.InvolvedObject.Kind, event.InvolvedObject.Namespace, event.InvolvedObject.Name}] = true
	return event, nil
}
