// Package selectors records what apimachinery's parser of label selectors makes of random texts, and which labels the selector matches. Without
// -write the test compares the recorded vectors with apimachinery.
package selectors

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

const file = "vectors.jsonl"

var write = flag.Bool("write", false, "record the vectors again")

// The first line of the file has the sets of labels, each other one a vector.
type labelSets struct {
	Labels []labels.Set `json:"labels"`
}

type vector struct {
	Selector string `json:"selector"`
	Error    string `json:"error,omitempty"`
	// The selector as apimachinery prints it.
	Text string `json:"text,omitempty"`
	// Indexes of the sets of labels that it matches.
	Matches []int `json:"matches,omitempty"`
}

func TestSelectors(t *testing.T) {
	r := rand.New(rand.NewPCG(48528, 62795))
	sets := labelSets{}
	for range 24 {
		sets.Labels = append(sets.Labels, randomLabels(r))
	}
	lines := [][]byte{line(t, sets)}
	seen := map[string]bool{}
	for len(lines) <= 1000 {
		text := randomSelector(r)
		// A vector in four has an error of the syntax.
		if r.IntN(4) == 0 {
			text = damaged(r, text)
		}
		if seen[text] || len(text) > 1024 {
			continue
		}
		seen[text] = true
		lines = append(lines, line(t, parsed(text, sets.Labels)))
	}
	now := append(bytes.Join(lines, []byte("\n")), '\n')
	if *write {
		if err := os.WriteFile(file, now, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, now) {
		t.Errorf("apimachinery parses or matches otherwise than in %s: go test ./selectors -args -write records it again", file)
	}
}

func parsed(text string, sets []labels.Set) vector {
	selector, err := labels.Parse(text)
	if err != nil {
		return vector{Selector: text, Error: err.Error()}
	}
	v := vector{Selector: text, Text: selector.String()}
	for i, set := range sets {
		if selector.Matches(set) {
			v.Matches = append(v.Matches, i)
		}
	}
	return v
}

func line(t *testing.T, value any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

var (
	keys   = []string{"app", "tier", "team", "canary", "example.com/zone", "in", "notin", "weight"}
	values = []string{"", "web", "db", "front", "in", "notin", "a.b_c-d", "5", "05", "12", "9223372036854775807", "9223372036854775808"}
	// Texts that no label has as its key or value.
	odd    = []string{"-app", "app-", "Example.com/app", "/app", "app/", "a/b/c", "we b", "ü", strings.Repeat("x", 64), strings.Repeat("y", 254) + "/a", "+5", "-5", "a\"b", "a'b"}
	spaces = []string{"", "", "", "", "", " ", " ", "  ", "\t", "\n"}
)

func pick[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func randomLabels(r *rand.Rand) labels.Set {
	set := labels.Set{}
	for _, key := range keys {
		if r.IntN(3) > 0 {
			set[key] = value(r)
		}
	}
	return set
}

// Mostly one of a few, so that they meet.
func value(r *rand.Rand) string {
	if r.IntN(2) == 0 {
		return pick(r, values[1:3])
	}
	return pick(r, values)
}

func randomSelector(r *rand.Rand) string {
	requirements := make([]string, 1+r.IntN(3))
	for i := range requirements {
		requirements[i] = pick(r, spaces) + requirement(r) + pick(r, spaces)
	}
	return strings.Join(requirements, ",")
}

func requirement(r *rand.Rand) string {
	key := oddly(r, pick(r, keys))
	switch r.IntN(8) {
	case 0:
		return key
	case 1:
		return "!" + pick(r, spaces) + key
	case 2, 3, 4:
		list := make([]string, r.IntN(4))
		for i := range list {
			list[i] = pick(r, spaces) + oddly(r, value(r))
		}
		return fmt.Sprintf("%s %s%s(%s%s)", key, pick(r, []string{"in", "notin"}), pick(r, spaces), strings.Join(list, ","), pick(r, spaces))
	default:
		operator := pick(r, []string{"=", "=", "==", "!=", ">", "<"})
		return key + pick(r, spaces) + operator + pick(r, spaces) + oddly(r, value(r))
	}
}

// The text, or an odd one.
func oddly(r *rand.Rand, text string) string {
	if r.IntN(60) == 0 {
		return pick(r, odd)
	}
	return text
}

// One character less or more.
func damaged(r *rand.Rand, text string) string {
	i := r.IntN(len(text))
	if r.IntN(2) == 0 {
		return text[:i] + text[i+1:]
	}
	return text[:i] + pick(r, []string{"=", "!", "(", ")", ",", "<", ">", " ", "-", "in"}) + text[i:]
}
