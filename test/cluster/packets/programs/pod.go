package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

type pod struct {
	kubelets  *kubelets
	node      *node
	object    *core.Pod
	addresses []string
	// Receives the grace period; a shorter one may follow.
	ending  chan time.Duration
	network *podNetwork
	servers *servers
	ready   bool
}

func newPod(k *kubelets, n *node, object *core.Pod) *pod {
	return &pod{kubelets: k, node: n, object: object, addresses: n.nextAddresses(), ending: make(chan time.Duration, 16)}
}

func (p *pod) terminate(grace time.Duration) {
	select {
	case p.ending <- grace:
	default:
	}
}

func (p *pod) run(ctx context.Context) {
	defer p.kubelets.forget(p)
	defer p.remove()
	if err := p.start(); err != nil {
		fmt.Fprintf(os.Stderr, "kubelet: %s/%s: %v\n", p.object.Namespace, p.object.Name, err)
		return
	}
	p.ready = p.container().ReadinessProbe == nil
	p.writeStatus(ctx, core.PodRunning)
	p.kubelets.report(p, "started")

	probe := p.probe(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case ready := <-probe:
			if ready != p.ready {
				p.ready = ready
				p.writeStatus(ctx, core.PodRunning)
			}
		case grace := <-p.ending:
			p.end(ctx, grace, probe)
			return
		}
	}
}

func (p *pod) container() core.Container { return p.object.Spec.Containers[0] }

func (p *pod) start() (err error) {
	name := fmt.Sprintf("%s-%s-%s", p.kubelets.cluster, p.object.Namespace, p.object.Name)
	if p.network, err = newPodNetwork(name, p.node, p.addresses); err != nil {
		return err
	}
	if p.container().Image != "server" {
		return nil
	}
	p.servers, err = serve(p.network, p.container().Ports, p.kubelets.cluster+" "+p.object.Name+" "+p.addresses[0])
	return err
}

// end goes as a kubelet does it: preStop, then the servers finish what they have begun, then the object is deleted. Probes go on until the servers end.
func (p *pod) end(ctx context.Context, grace time.Duration, probe <-chan bool) {
	p.kubelets.report(p, "terminating")
	preStop := grace
	if lifecycle := p.container().Lifecycle; lifecycle != nil && lifecycle.PreStop != nil && lifecycle.PreStop.Sleep != nil {
		preStop = min(grace, time.Duration(lifecycle.PreStop.Sleep.Seconds)*time.Second)
	} else {
		preStop = 0
	}
	slept := time.NewTimer(preStop)
	defer slept.Stop()
	for waiting := preStop > 0; waiting; {
		select {
		case <-slept.C:
			waiting = false
		case grace = <-p.ending:
			waiting = grace > 0
		case ready := <-probe:
			if ready != p.ready {
				p.ready = ready
				p.writeStatus(ctx, core.PodRunning)
			}
		case <-ctx.Done():
			return
		}
	}
	p.servers.stop(grace)
	p.servers = nil
	p.ready = false
	if grace > 0 {
		p.writeStatus(ctx, core.PodSucceeded)
	}
	now := int64(0)
	options := meta.DeleteOptions{GracePeriodSeconds: &now, Preconditions: &meta.Preconditions{UID: &p.object.UID}}
	_ = p.kubelets.client.CoreV1().Pods(p.object.Namespace).Delete(ctx, p.object.Name, options)
	p.kubelets.report(p, "ended")
}

func (p *pod) remove() {
	p.servers.stop(0)
	p.network.remove()
}

// probe sends the result of each try of the readinessProbe. The first is at once.
func (p *pod) probe(ctx context.Context) <-chan bool {
	results := make(chan bool)
	spec := p.container().ReadinessProbe
	if spec == nil {
		return results
	}
	url := fmt.Sprintf("http://%s%s", net.JoinHostPort(p.addresses[0], strconv.Itoa(spec.HTTPGet.Port.IntValue())), spec.HTTPGet.Path)
	client := &http.Client{Timeout: time.Duration(spec.TimeoutSeconds) * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	period := time.NewTicker(time.Duration(spec.PeriodSeconds) * time.Second)
	failures := 0
	go func() {
		defer period.Stop()
		for {
			ready := false
			if answer, err := client.Get(url); err == nil {
				answer.Body.Close()
				ready = answer.StatusCode < 400
			}
			failures++
			if ready {
				failures = 0
			}
			if ready || failures >= int(spec.FailureThreshold) {
				select {
				case results <- ready:
				case <-time.After(time.Second):
				case <-ctx.Done():
					return
				}
			}
			select {
			case <-period.C:
			case <-ctx.Done():
				return
			}
			if p.isOver() {
				return
			}
		}
	}()
	return results
}

func (p *pod) isOver() bool {
	p.kubelets.mu.Lock()
	defer p.kubelets.mu.Unlock()
	return p.kubelets.pods[p.object.UID] != p
}

// writeStatus repeats until the API server has it, as a kubelet does.
func (p *pod) writeStatus(ctx context.Context, phase core.PodPhase) {
	text := map[bool]core.ConditionStatus{true: core.ConditionTrue, false: core.ConditionFalse}
	now := meta.Now()
	condition := func(kind core.PodConditionType, is bool) core.PodCondition {
		return core.PodCondition{Type: kind, Status: text[is], LastTransitionTime: now}
	}
	status := core.PodStatus{
		Phase: phase, PodIP: p.addresses[0], HostIP: p.node.address,
		Conditions: []core.PodCondition{
			condition(core.PodScheduled, true), condition(core.PodInitialized, true),
			condition(core.ContainersReady, p.ready), condition(core.PodReady, p.ready),
		},
	}
	for _, address := range p.addresses {
		status.PodIPs = append(status.PodIPs, core.PodIP{IP: address})
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": p.object.UID}, "status": status})
	if err != nil {
		panic(err)
	}
	for range 100 {
		_, err = p.kubelets.client.CoreV1().Pods(p.object.Namespace).Patch(ctx, p.object.Name, types.StrategicMergePatchType, patch, meta.PatchOptions{}, "status")
		if err == nil {
			p.kubelets.report(p, map[bool]string{true: "ready", false: "not ready"}[p.ready])
			return
		}
		if isGone(err) || ctx.Err() != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}
