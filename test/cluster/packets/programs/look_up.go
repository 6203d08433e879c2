package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/miekg/dns"
)

type dnsAnswer struct {
	// NOERROR, NXDOMAIN and the like.
	Code string `json:"code"`
	// Of records of the asked type: the address, or PORT TARGET of a SRV record.
	Records []string `json:"records"`
}

// lookUp asks a DNS server once, and prints its answer as a line of JSON.
func lookUp() {
	var server, kind string
	flags := flag.NewFlagSet("look-up", flag.ExitOnError)
	flags.StringVar(&server, "dns", "", "address of the DNS server")
	flags.StringVar(&kind, "type", "A", "type of the records: A, AAAA or SRV")
	_ = flags.Parse(os.Args[1:])
	question := new(dns.Msg).SetQuestion(dns.Fqdn(flags.Arg(0)), dns.StringToType[kind])
	answer, _, err := (&dns.Client{Timeout: 2 * time.Second}).Exchange(question, net.JoinHostPort(server, "53"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "look-up:", err)
		os.Exit(1)
	}
	result := dnsAnswer{Code: dns.RcodeToString[answer.Rcode], Records: []string{}}
	for _, record := range answer.Answer {
		switch r := record.(type) {
		case *dns.A:
			result.Records = append(result.Records, r.A.String())
		case *dns.AAAA:
			result.Records = append(result.Records, r.AAAA.String())
		case *dns.SRV:
			result.Records = append(result.Records, fmt.Sprintf("%d %s", r.Port, r.Target))
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(result)
}
