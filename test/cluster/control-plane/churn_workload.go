package main

import (
	"context"
	"fmt"
	"sync"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
)

const nodes = 3

// workload is a namespace with headless services and their pods. There is no kubelet: it plays that part too.
type workload struct {
	client             kubernetes.Interface
	namespace          string
	services, podsEach int
	pods               []*core.Pod
}

func (w *workload) prepare(ctx context.Context) error {
	namespace := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: w.namespace}}
	if _, err := w.client.CoreV1().Namespaces().Create(ctx, namespace, meta.CreateOptions{}); err != nil && !errors.IsAlreadyExists(err) {
		return err
	}
	for i := range nodes {
		node := &core.Node{ObjectMeta: meta.ObjectMeta{Name: nodeName(i), Labels: map[string]string{core.LabelTopologyZone: fmt.Sprintf("zone-%d", i)}}}
		if _, err := w.client.CoreV1().Nodes().Create(ctx, node, meta.CreateOptions{}); err != nil && !errors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

func (w *workload) create(ctx context.Context) error {
	if err := inParallel(w.services, func(i int) error {
		_, err := w.client.CoreV1().Services(w.namespace).Create(ctx, newService(i), meta.CreateOptions{})
		if errors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}); err != nil {
		return err
	}
	w.pods = make([]*core.Pod, w.services*w.podsEach)
	return inParallel(len(w.pods), func(i int) error {
		pods := w.client.CoreV1().Pods(w.namespace)
		pod, err := pods.Create(ctx, newPod(i, i/w.podsEach), meta.CreateOptions{})
		if errors.IsAlreadyExists(err) {
			pod, err = pods.Get(ctx, podName(i), meta.GetOptions{})
		}
		if err != nil {
			return err
		}
		w.pods[i] = pod
		return w.setReady(ctx, i, true)
	})
}

func (w *workload) isReady(i int) bool {
	return w.pods[i].Status.Conditions[0].Status == core.ConditionTrue
}

func (w *workload) setReady(ctx context.Context, i int, ready bool) error {
	status := core.ConditionFalse
	if ready {
		status = core.ConditionTrue
	}
	ip := fmt.Sprintf("10.%d.%d.%d", 100+i/62500, (i/250)%250, 1+i%250)
	w.pods[i].Status = core.PodStatus{
		Phase: core.PodRunning, PodIP: ip, PodIPs: []core.PodIP{{IP: ip}},
		Conditions: []core.PodCondition{{Type: core.PodReady, Status: status, LastTransitionTime: meta.Now()}},
	}
	pod, err := w.client.CoreV1().Pods(w.namespace).UpdateStatus(ctx, w.pods[i], meta.UpdateOptions{})
	if err != nil {
		return err
	}
	w.pods[i] = pod
	return nil
}

func (w *workload) remove(ctx context.Context) error {
	now := int64(0)
	if err := w.client.CoreV1().Pods(w.namespace).DeleteCollection(ctx, meta.DeleteOptions{GracePeriodSeconds: &now}, meta.ListOptions{}); err != nil {
		return err
	}
	return inParallel(w.services, func(i int) error {
		return w.client.CoreV1().Services(w.namespace).Delete(ctx, serviceName(i), meta.DeleteOptions{})
	})
}

func newService(i int) *core.Service {
	return &core.Service{ObjectMeta: meta.ObjectMeta{Name: serviceName(i)}, Spec: core.ServiceSpec{
		ClusterIP: core.ClusterIPNone,
		Selector:  map[string]string{"app": serviceName(i)},
		Ports:     []core.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromInt32(8080)}},
	}}
}

func newPod(i, service int) *core.Pod {
	return &core.Pod{ObjectMeta: meta.ObjectMeta{Name: podName(i), Labels: map[string]string{"app": serviceName(service)}}, Spec: core.PodSpec{
		NodeName:                     nodeName(i % nodes),
		AutomountServiceAccountToken: new(bool),
		Containers:                   []core.Container{{Name: "c", Image: "i", Ports: []core.ContainerPort{{ContainerPort: 8080}}}},
	}}
}

func nodeName(i int) string    { return fmt.Sprintf("churn-node-%d", i) }
func serviceName(i int) string { return fmt.Sprintf("svc-%d", i) }
func podName(i int) string     { return fmt.Sprintf("pod-%d", i) }

// inParallel calls do for 0..n-1, eight at a time, and returns one of the errors.
func inParallel(n int, do func(i int) error) (failure error) {
	var workers sync.WaitGroup
	var mu sync.Mutex
	todo := make(chan int)
	for range 8 {
		workers.Go(func() {
			for i := range todo {
				if err := do(i); err != nil {
					mu.Lock()
					failure = err
					mu.Unlock()
				}
			}
		})
	}
	for i := range n {
		todo <- i
	}
	close(todo)
	workers.Wait()
	return failure
}
