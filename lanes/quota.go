package lanes

import "time"

// Limits of what one other developer may bring here (rule L9).
const (
	OpenThreadsMax     = 500
	LaneBytesMax       = 32 << 20 // of all ledgers that the lane brought
	GossipPerMinuteMax = 60       // newly authored records; catch-up is not counted
)

// Limits of the live work that one other developer may bring. They are apart from those of conversations, so that
// neither crowds the other out (D-5).
const (
	WorkBytesMax     = 64 << 20 // of all weeks that are kept
	WorkPerMinuteMax = 600      // newly authored records
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
	TooMuchWork
	WorkTooFast
)

// String is what people read after "the lane is refused more: ".
func (e Excess) String() string {
	return [...]string{
		Within:         "nothing",
		TooManyThreads: "it has 500 conversations open",
		TooManyBytes:   "its conversations take 32 MiB",
		TooFast:        "it wrote more than 60 records in a minute",
		TooMuchWork:    "its live work takes 64 MiB",
		WorkTooFast:    "it wrote more than 600 records of live work in a minute",
	}[e]
}

// Quota counts what one lane brought. It is owned by whoever receives, and starts from what is stored.
type Quota struct {
	Threads int // conversations of the lane that are not closed
	Bytes   int // of their stored records
	Work    int // bytes of stored live work

	recent, worked []time.Time
}

// Arrival is one record that a lane brings.
type Arrival struct {
	Bytes int
	Opens bool // it begins a conversation that is not stored here
	Fresh bool // newly authored gossip, not catch-up
	Work  bool // live work; Opens is false
}

// Take counts a record in, or says which limit refuses it and counts nothing.
func (q *Quota) Take(a Arrival, now time.Time) Excess {
	if a.Work {
		return q.takeWork(a, now)
	}
	switch {
	case a.Opens && q.Threads >= OpenThreadsMax:
		return TooManyThreads
	case q.Bytes+a.Bytes > LaneBytesMax:
		return TooManyBytes
	case a.Fresh && !tick(&q.recent, GossipPerMinuteMax, now):
		return TooFast
	}
	q.Bytes += a.Bytes
	if a.Opens {
		q.Threads++
	}
	return Within
}

func (q *Quota) takeWork(a Arrival, now time.Time) Excess {
	switch {
	case q.Work+a.Bytes > WorkBytesMax:
		return TooMuchWork
	case a.Fresh && !tick(&q.worked, WorkPerMinuteMax, now):
		return WorkTooFast
	}
	q.Work += a.Bytes
	return Within
}

// tick counts one record of the last minute.
func tick(recent *[]time.Time, most int, now time.Time) bool {
	if n := len(*recent); n >= most {
		if now.Sub((*recent)[n-most]) < time.Minute {
			return false
		}
		*recent = append((*recent)[:0], (*recent)[n-most+1:]...)
	}
	*recent = append(*recent, now)
	return true
}

// Ended counts a conversation out that has closed.
func (q *Quota) Ended() { q.Threads = max(0, q.Threads-1) }
