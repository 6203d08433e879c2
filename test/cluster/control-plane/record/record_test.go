// Package record plays random clusters, and changes to them, to the upstream controllers in virtual time, and writes down what they made of
// them: vectors for `npm run conformance`. A Go test because virtual time (testing/synctest) comes with one. `go test ./record -args -out FILE -in
// VECTORS` plays given ones anew: those that were recorded elsewhere must come out the same, which is the test of this package. With `-outputs`
// each step has the objects themselves, as the first play left them.
package record

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/endpoint"
	"k8s.io/kubernetes/pkg/controller/endpointslice"
)

var (
	in    = flag.String("in", "", "vectors to play anew, a JSON object a line, instead of random ones")
	out   = flag.String("out", "", "where the vectors go, a JSON object a line")
	from  = flag.Uint64("from", 1, "first seed")
	seeds = flag.Uint64("seeds", 100, "number of seeds")
	plays = flag.Int("plays", 20, "times that each one is played: what does not come out alike each time is left out")
	whole = flag.Bool("outputs", false, "each step has its Endpoints and EndpointSlices as the first play left them")
)

const (
	stepTime      = 8 * time.Second
	stepTimeFault = 40 * time.Minute
)

func TestRecord(t *testing.T) {
	if *out == "" {
		t.Skip("no -out")
	}
	klog.SetLogger(klog.Logger{})
	// Without the default one that slows errors down by the time of the last one: here each play begins at the same time.
	utilruntime.ErrorHandlers = nil
	// A worker of a controller goes on after a panic, and the vector is left out.
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, why any) { panicked.Store(fmt.Sprint(why)) }}
	file, err := os.Create(*out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	recorded, left := 0, 0
	each(t, func(v *vector) {
		if why := record(t, v); why != "" {
			left++
			fmt.Printf("%s is left out: %s\n", v.ID, why)
			return
		}
		recorded++
		if _, err := file.Write(append(marshal(v), '\n')); err != nil {
			t.Fatal(err)
		}
	})
	fmt.Printf("%d recorded, %d left out\n", recorded, left)
}

func each(t *testing.T, do func(*vector)) {
	if *in == "" {
		for seed := *from; seed < *from+*seeds; seed++ {
			do(generate(seed))
		}
		return
	}
	file, err := os.Open(*in)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			v := &vector{}
			if err := json.Unmarshal(line, v); err != nil {
				t.Fatal(err)
			}
			do(v)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The last panic of a controller's worker.
var panicked atomic.Value

// record fills in what is to be expected, or answers why it does not. Where only the endpoints' hints are not determined, their counts are kept.
func record(t *testing.T, v *vector) (leftOut string) {
	var exact, counted [][]*expectation
	for i := range *plays {
		panicked.Store("")
		e, c := play(t, v, uint64(i))
		if why := panicked.Load(); why != "" {
			return fmt.Sprintf("a controller panics: %s", why)
		}
		exact, counted = append(exact, e), append(counted, c)
	}
	chosen := exact
	if v.HintsByCount = !alike(exact); v.HintsByCount {
		if chosen = counted; !alike(counted) {
			return "not determined by its input"
		}
	}
	for i := range v.Steps {
		v.Steps[i].Expect = chosen[0][i]
	}
	return ""
}

func alike(plays [][]*expectation) bool {
	first := marshal(plays[0])
	for _, other := range plays[1:] {
		if !bytes.Equal(first, marshal(other)) {
			return false
		}
	}
	return true
}

func play(t *testing.T, v *vector, seed uint64) (exact, counted []*expectation) {
	// Controllers before v1.35 leave goroutines behind, which synctest refuses after the play.
	defer func() {
		if why := recover(); why != nil && !strings.Contains(fmt.Sprint(why), "blocked goroutines remain") {
			panic(why)
		}
	}()
	synctest.Test(t, func(t *testing.T) {
		start := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
		time.Sleep(time.Until(start))
		batch := time.Duration(v.Config.EndpointUpdatesBatchPeriodSeconds) * time.Second
		a := newAPI(v.Given)
		a.faults, a.start, a.perStep = v.Faults, start, stepTime
		if len(v.Faults) > 0 {
			a.perStep = stepTimeFault
		}
		// In every second one watch events come at once, in the others after a random moment. Without a batch period that moment would
		// make nearly all of them conflict with themselves.
		if seed%2 == 1 && batch > 0 {
			a.lag = rand.New(rand.NewPCG(seed, 0))
		}
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		client := a.client()
		// Without a resync the reflectors before v1.35 wait for a channel outside of the bubble, and virtual time never advances.
		factory := informers.NewSharedInformerFactory(client, 365*24*time.Hour)
		core, discovery := factory.Core().V1(), factory.Discovery().V1()
		endpoints := endpoint.NewEndpointController(ctx, core.Pods(), core.Services(), core.Endpoints(), client, batch)
		slices := endpointslice.NewController(ctx, core.Pods(), core.Services(), core.Nodes(), discovery.EndpointSlices(), v.Config.MaxEndpointsPerSlice, client, batch)
		factory.Start(ctx.Done())
		go endpoints.Run(ctx, 1)
		go slices.Run(ctx, 1)

		for i, s := range v.Steps {
			for _, object := range s.Apply {
				a.apply(object)
			}
			for _, gone := range s.Delete {
				a.remove(gone.Kind, gone.Namespace, gone.Name)
			}
			time.Sleep(time.Until(start.Add(time.Duration(i+1) * a.perStep)))
			synctest.Wait()
			a.mu.Lock()
			exact, counted = append(exact, a.view(false)), append(counted, a.view(true))
			if *whole && seed == 0 {
				v.Steps[i].Outputs = a.outputs()
			}
			a.writes, a.events = map[string]map[string]int{}, map[eventView]bool{}
			a.mu.Unlock()
		}
		stop()
		factory.Shutdown()
	})
	return exact, counted
}
