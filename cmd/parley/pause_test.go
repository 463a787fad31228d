package main

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-mesh/parley/node/api"
)

func TestTheEndOfALongPauseHasItsDate(t *testing.T) {
	end := time.Date(2027, 1, 10, 15, 4, 0, 0, time.Local)
	if got := pausedWords(api.Pause{Until: end}); !strings.Contains(got, "2027-01-10 15:04") {
		t.Errorf("%q", got)
	}
}

func TestADurationIsReadOrRefusedWithAReason(t *testing.T) {
	for in, want := range map[string]string{
		"90m": "1h30m0s", "3d": "72h0m0s", "90d": "2160h0m0s", "91d": "91d is too long; want at most 90d", "99999999999d": "is no duration",
		"2161h": "2161h is too long", "0d": "is no duration", "-2h": "is no duration", "d": "is no duration", "tomorrow": "is no duration",
	} {
		d, err := parseLength(in)
		if err == nil && d.String() != want || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v, want %s", in, d, err, want)
		}
	}
}
