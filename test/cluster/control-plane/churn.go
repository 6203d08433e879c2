package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

type churnOptions struct {
	kubeconfig, namespace string
	services, pods        int
	rate                  float64
	duration, settle      time.Duration
	clean, slicesOnly     bool
}

// churn fills a cluster with services and ready pods, flips the pods' readiness at a fixed rate and measures how long each
// flip takes to show in Endpoints and in EndpointSlices, whoever writes those. It prints one JSON object.
func churn() {
	var o churnOptions
	flags := flag.NewFlagSet("churn", flag.ExitOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "how to reach the cluster")
	flags.StringVar(&o.namespace, "namespace", "churn", "where to work")
	flags.IntVar(&o.services, "services", 20, "number of services")
	flags.IntVar(&o.pods, "pods", 10, "pods of each service")
	flags.Float64Var(&o.rate, "rate", 20, "readiness flips a second; 0 to leave the pods as they are")
	flags.DurationVar(&o.duration, "for", 20*time.Second, "how long to flip")
	flags.DurationVar(&o.settle, "settle", 30*time.Second, "how long to wait for the last flips to show")
	flags.BoolVar(&o.clean, "clean", true, "delete the services and pods at the end")
	flags.BoolVar(&o.slicesOnly, "slices-only", false, "do not wait for Endpoints")
	_ = flags.Parse(os.Args[1:])
	if err := runChurn(context.Background(), o); err != nil {
		fmt.Fprintln(os.Stderr, "churn:", err)
		os.Exit(1)
	}
}

func runChurn(ctx context.Context, o churnOptions) error {
	config, err := clientcmd.BuildConfigFromFlags("", o.kubeconfig)
	if err != nil {
		return err
	}
	// The load must not be held back by the client's own limits.
	config.QPS, config.Burst = 2000, 4000
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	load := &workload{client: client, namespace: o.namespace, services: o.services, podsEach: o.pods}
	if err := load.prepare(ctx); err != nil {
		return err
	}

	endpoints, slices := newView(), newView()
	var counting atomic.Bool
	watchViews(ctx, client, o.namespace, endpoints, slices, &counting)

	start := time.Now()
	if err := load.create(ctx); err != nil {
		return err
	}
	created := time.Since(start)
	total := o.services * o.pods
	// Endpoints hold at most 1,000 addresses each.
	inEndpoints := o.services * min(o.pods, 1000)
	waitUntil(10*time.Minute, func() bool {
		return slices.readyPods() >= total && (o.slicesOnly || endpoints.readyPods() >= inEndpoints)
	})
	filled := time.Since(start)
	// Writes that were caused by the filling must not count as answers to flips.
	time.Sleep(2 * time.Second)
	counting.Store(true)

	flips, err := flipReadiness(ctx, load, o, endpoints, slices)
	if err != nil {
		return err
	}
	waitUntil(o.settle, func() bool {
		return slices.pending() == 0 && (o.slicesOnly || endpoints.pending() == 0)
	})
	report, err := json.Marshal(map[string]any{
		"services": o.services, "pods": total, "flips": flips,
		"created_s": created.Seconds(), "filled_s": filled.Seconds(),
		"endpoints": endpoints.summary(), "slices": slices.summary(),
	})
	if err != nil {
		return err
	}
	fmt.Println(string(report))
	if o.clean {
		return load.remove(ctx)
	}
	return nil
}

func watchViews(ctx context.Context, client kubernetes.Interface, namespace string, endpoints, slices *view, counting *atomic.Bool) {
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	handle := func(informer cache.SharedIndexInformer, seen func(object any)) {
		_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: seen, UpdateFunc: func(_, object any) { seen(object) }})
	}
	handle(factory.Core().V1().Endpoints().Informer(), func(object any) {
		e := object.(*core.Endpoints)
		ready := map[string]bool{}
		for _, subset := range e.Subsets {
			addPods(ready, subset.Addresses, true)
			addPods(ready, subset.NotReadyAddresses, false)
		}
		endpoints.observe(e.Name, ready, counting.Load())
	})
	handle(factory.Discovery().V1().EndpointSlices().Informer(), func(object any) {
		s := object.(*discovery.EndpointSlice)
		if s.Labels[discovery.LabelManagedBy] == "endpointslicemirroring-controller.k8s.io" {
			return
		}
		ready := map[string]bool{}
		for _, e := range s.Endpoints {
			if e.TargetRef != nil {
				ready[e.TargetRef.Name] = e.Conditions.Ready == nil || *e.Conditions.Ready
			}
		}
		slices.observe(s.Name, ready, counting.Load())
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
}

func addPods(ready map[string]bool, addresses []core.EndpointAddress, value bool) {
	for _, address := range addresses {
		if address.TargetRef != nil {
			ready[address.TargetRef.Name] = value
		}
	}
}

// flipReadiness turns random pods ready and not ready. A pod whose last flip has not shown yet is left alone, since a second
// flip would hide the first: a slow writer therefore meets fewer flips, never easier ones.
func flipReadiness(ctx context.Context, load *workload, o churnOptions, endpoints, slices *view) (flips int, err error) {
	if o.rate <= 0 {
		return 0, nil
	}
	random := rand.New(rand.NewSource(7))
	busy := make([]atomic.Bool, len(load.pods))
	places := make(chan struct{}, 32)
	var running sync.WaitGroup
	var failure atomic.Pointer[error]
	ticker := time.NewTicker(time.Duration(float64(time.Second) / o.rate))
	defer ticker.Stop()
	for end := time.Now().Add(o.duration); time.Now().Before(end) && failure.Load() == nil; <-ticker.C {
		i := random.Intn(len(load.pods))
		if !busy[i].CompareAndSwap(false, true) {
			continue
		}
		name := load.pods[i].Name
		if endpoints.awaits(name) || slices.awaits(name) {
			busy[i].Store(false)
			continue
		}
		flips++
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places; busy[i].Store(false) }()
			ready := !load.isReady(i)
			endpoints.expect(name, ready)
			slices.expect(name, ready)
			if err := load.setReady(ctx, i, ready); err != nil {
				failure.Store(&err)
			}
		})
	}
	running.Wait()
	if f := failure.Load(); f != nil {
		return flips, *f
	}
	return flips, nil
}

func waitUntil(limit time.Duration, reached func() bool) {
	for end := time.Now().Add(limit); time.Now().Before(end) && !reached(); {
		time.Sleep(20 * time.Millisecond)
	}
}
