// Package bench times what upstream computes in one sync of one service, for `npm run bench` to put beside ours.
//
// The reconciler writes through a fake clientset, whose cost (a deep copy of each slice written) is part of "one pod changed".
package bench

import (
	"context"
	"fmt"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/record"
	"k8s.io/endpointslice"
	"k8s.io/endpointslice/topologycache"
	"k8s.io/endpointslice/util"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/api/v1/endpoints"
)

const (
	namespace  = "ns"
	nodeName   = "node-0"
	maxInSlice = 100
)

var sizes = []int{10, 1000, 5000}

// The same service and pods as test/bench/decide-cases.ts.
func service() *v1.Service {
	return &v1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "s", Namespace: namespace, UID: "u"},
		Spec: v1.ServiceSpec{
			Selector:   map[string]string{"app": "a"},
			ClusterIP:  "10.0.0.1",
			IPFamilies: []v1.IPFamily{v1.IPv4Protocol},
			Ports:      []v1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http"), Protocol: v1.ProtocolTCP}},
		},
	}
}

func pod(i int, ready v1.ConditionStatus) *v1.Pod {
	ip := fmt.Sprintf("10.%d.%d.%d", i/62500, i/250%250, 1+i%250)
	port := v1.ContainerPort{Name: "http", ContainerPort: 8080, Protocol: v1.ProtocolTCP}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("pod-%d", i), Namespace: namespace, UID: types.UID(fmt.Sprintf("uid-%d", i)), Labels: map[string]string{"app": "a"},
		},
		Spec: v1.PodSpec{NodeName: nodeName, Containers: []v1.Container{{Name: "c", Ports: []v1.ContainerPort{port}}}},
		Status: v1.PodStatus{
			Phase: v1.PodRunning, PodIP: ip, PodIPs: []v1.PodIP{{IP: ip}},
			Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: ready, LastTransitionTime: metav1.NewTime(time.Unix(1700000000, 0))}},
		},
	}
}

func pods(count int) []*v1.Pod {
	all := make([]*v1.Pod, count)
	for i := range all {
		all[i] = pod(i, v1.ConditionTrue)
	}
	return all
}

// settled is a reconciler and the slices that it has made for the pods.
func settled(b *testing.B, svc *v1.Service, all []*v1.Pod) (*endpointslice.Reconciler, []*discovery.EndpointSlice) {
	client := fake.NewSimpleClientset()
	made := 0
	client.PrependReactor("create", "endpointslices", func(action clienttesting.Action) (bool, runtime.Object, error) {
		made++
		action.(clienttesting.CreateAction).GetObject().(*discovery.EndpointSlice).Name = "s-" + strconv.Itoa(made)
		return false, nil, nil
	})
	nodes := informers.NewSharedInformerFactory(client, 0).Core().V1().Nodes()
	if err := nodes.Informer().GetIndexer().Add(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: nodeName}}); err != nil {
		b.Fatal(err)
	}
	r := endpointslice.NewReconciler(client, nodes.Lister(), maxInSlice, util.NewEndpointSliceTracker(), topologycache.NewTopologyCache(),
		record.NewFakeRecorder(100), "endpointslice-controller.k8s.io")
	reconcile(b, r, svc, all, nil)
	list, err := client.DiscoveryV1().EndpointSlices(namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var slices []*discovery.EndpointSlice
	for i := range list.Items {
		slices = append(slices, &list.Items[i])
	}
	return r, slices
}

func reconcile(b *testing.B, r *endpointslice.Reconciler, svc *v1.Service, all []*v1.Pod, slices []*discovery.EndpointSlice) {
	if err := r.Reconcile(klog.Background(), svc, all, slices, time.Time{}); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkSlices(b *testing.B) {
	for _, change := range []string{"none", "pod"} {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("%s/%d", change, size), func(b *testing.B) {
				svc, all := service(), pods(size)
				r, slices := settled(b, svc, all)
				if change == "pod" {
					all[0] = pod(0, v1.ConditionFalse)
				}
				b.ResetTimer()
				for i := 0; i < b.N; i++ {
					reconcile(b, r, svc, all, slices)
				}
			})
		}
	}
}

func BenchmarkRepack(b *testing.B) {
	for _, size := range sizes {
		b.Run(fmt.Sprintf("none/%d", size), func(b *testing.B) {
			var subsets []v1.EndpointSubset
			for _, p := range pods(size) {
				reference := &v1.ObjectReference{Kind: "Pod", Namespace: namespace, Name: p.Name, UID: p.UID}
				subsets = append(subsets, v1.EndpointSubset{
					Addresses: []v1.EndpointAddress{{IP: p.Status.PodIP, NodeName: &p.Spec.NodeName, TargetRef: reference}},
					Ports:     []v1.EndpointPort{{Name: "http", Port: 8080, Protocol: v1.ProtocolTCP}},
				})
			}
			b.ResetTimer()
			for i := 0; i < b.N; i++ {
				endpoints.RepackSubsets(subsets)
			}
		})
	}
}
