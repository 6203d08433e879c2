package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// kubelets are the stand-ins of all kubelets of one cluster, and of its scheduler. They run pods as servers in network namespaces, probe and end them, and
// report their status. Of a container they know its image (`server` answers on all of its ports, any other image runs nothing), its ports, its
// readinessProbe by httpGet, and preStop.sleep.
type kubelets struct {
	cluster string
	client  kubernetes.Interface
	nodes   []*node

	mu   sync.Mutex
	pods map[types.UID]*pod
	out  *json.Encoder
	// Pods whose network namespaces are still there.
	running sync.WaitGroup
}

func kubelet() {
	var cluster, kubeconfig, nodes string
	flags := flag.NewFlagSet("kubelet", flag.ExitOnError)
	flags.StringVar(&cluster, "cluster", "", "id of the cluster, which its servers answer with")
	flags.StringVar(&kubeconfig, "kubeconfig", "", "way to the cluster")
	flags.StringVar(&nodes, "nodes", "", "comma-separated NAME=NETWORK-NAMESPACE=ADDRESS=IPV4-RANGE=IPV6-RANGE")
	_ = flags.Parse(os.Args[1:])
	if err := runKubelets(cluster, kubeconfig, nodes); err != nil {
		fmt.Fprintln(os.Stderr, "kubelet:", err)
		os.Exit(1)
	}
}

func runKubelets(cluster, kubeconfig, nodes string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// Fifty pods may start at once.
	config.QPS, config.Burst = 500, 1000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	k := &kubelets{cluster: cluster, client: client, pods: map[types.UID]*pod{}, out: json.NewEncoder(os.Stdout)}
	for text := range strings.SplitSeq(nodes, ",") {
		n, err := newNode(text)
		if err != nil {
			return err
		}
		k.nodes = append(k.nodes, n)
	}

	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { k.seen(ctx, object.(*core.Pod)) },
		UpdateFunc: func(_, object any) { k.seen(ctx, object.(*core.Pod)) },
		DeleteFunc: k.removed,
	}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	factory.Shutdown()
	k.running.Wait()
	return nil
}

// seen runs in the informer's one goroutine.
func (k *kubelets) seen(ctx context.Context, object *core.Pod) {
	if object.Spec.NodeName == "" {
		if object.DeletionTimestamp == nil {
			k.bind(ctx, object)
		}
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	running, known := k.pods[object.UID]
	if !known {
		for _, n := range k.nodes {
			if n.name == object.Spec.NodeName {
				running = newPod(k, n, object)
				k.pods[object.UID] = running
				n.pods++
				k.running.Go(func() { running.run(ctx) })
			}
		}
	}
	if running != nil && object.DeletionTimestamp != nil {
		running.terminate(time.Duration(*object.DeletionGracePeriodSeconds) * time.Second)
	}
}

func (k *kubelets) removed(object any) {
	if tombstone, is := object.(cache.DeletedFinalStateUnknown); is {
		object = tombstone.Obj
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if running, known := k.pods[object.(*core.Pod).UID]; known {
		running.terminate(0)
	}
}

func (k *kubelets) forget(p *pod) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.pods, p.object.UID)
	p.node.pods--
}

// bind is the scheduler: a pod goes to the node with the fewest.
func (k *kubelets) bind(ctx context.Context, object *core.Pod) {
	k.mu.Lock()
	chosen := k.nodes[0]
	for _, n := range k.nodes {
		if n.pods+n.bound < chosen.pods+chosen.bound {
			chosen = n
		}
	}
	chosen.bound++
	k.mu.Unlock()
	go func() {
		binding := &core.Binding{
			ObjectMeta: meta.ObjectMeta{Namespace: object.Namespace, Name: object.Name, UID: object.UID},
			Target:     core.ObjectReference{Kind: "Node", Name: chosen.name},
		}
		// A refused pod is gone, or bound already.
		_ = k.client.CoreV1().Pods(object.Namespace).Bind(ctx, binding, meta.CreateOptions{})
		k.mu.Lock()
		chosen.bound--
		k.mu.Unlock()
	}()
}

type podEvent struct {
	// Unix time in milliseconds, as the API server has accepted the change.
	AtMs      float64  `json:"atMs"`
	Pod       string   `json:"pod"`
	Event     string   `json:"event"`
	Addresses []string `json:"addresses,omitempty"`
}

func (k *kubelets) report(p *pod, event string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = k.out.Encode(podEvent{float64(time.Now().UnixMicro()) / 1000, p.object.Namespace + "/" + p.object.Name, event, p.addresses})
}
