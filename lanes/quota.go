package lanes

import "time"

// Limits of what one other developer may bring here (rule L9).
const (
	OpenThreadsMax     = 500
	LaneBytesMax       = 32 << 20 // of all ledgers that the lane brought
	GossipPerMinuteMax = 60       // newly authored records; catch-up is not counted
)

// Excess is why something of a lane is refused. What is refused is not lost: it comes with a later catch-up,
// once there is room.
type Excess uint8

// The limits that can be reached.
const (
	Within Excess = iota
	TooManyThreads
	TooManyBytes
	TooFast
)

// String is what people read after "the lane is refused more: ".
func (e Excess) String() string {
	return [...]string{
		Within:         "nothing",
		TooManyThreads: "it has 500 conversations open",
		TooManyBytes:   "its conversations take 32 MiB",
		TooFast:        "it wrote more than 60 records in a minute",
	}[e]
}

// Quota counts what one lane brought. It is owned by whoever receives, and starts from what is stored.
type Quota struct {
	Threads int // conversations of the lane that are not closed
	Bytes   int // of their stored records
	recent  []time.Time
}

// Arrival is one record that a lane brings.
type Arrival struct {
	Bytes int
	Opens bool // it begins a conversation that is not stored here
	Fresh bool // newly authored gossip, not catch-up
}

// Take counts a record in, or says which limit refuses it and counts nothing.
func (q *Quota) Take(a Arrival, now time.Time) Excess {
	switch {
	case a.Opens && q.Threads >= OpenThreadsMax:
		return TooManyThreads
	case q.Bytes+a.Bytes > LaneBytesMax:
		return TooManyBytes
	case a.Fresh && !q.tick(now):
		return TooFast
	}
	q.Bytes += a.Bytes
	if a.Opens {
		q.Threads++
	}
	return Within
}

// tick counts one record of the last minute.
func (q *Quota) tick(now time.Time) bool {
	if n := len(q.recent); n >= GossipPerMinuteMax {
		if now.Sub(q.recent[n-GossipPerMinuteMax]) < time.Minute {
			return false
		}
		q.recent = append(q.recent[:0], q.recent[n-GossipPerMinuteMax+1:]...)
	}
	q.recent = append(q.recent, now)
	return true
}

// Ended counts a conversation out that has closed.
func (q *Quota) Ended() { q.Threads = max(0, q.Threads-1) }
