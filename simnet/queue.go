package simnet

import "time"

// event is something that will happen at a time, at a computer or outside all of them. It is dropped when
// that computer's process has ended before.
type event struct {
	at   time.Duration // since the world began
	seq  uint64
	who  *computer
	life uint32
	do   func()
}

func (e event) before(o event) bool { return e.at < o.at || e.at == o.at && e.seq < o.seq }

// queue is the events to come, earliest first; a heap, so that nothing depends on how they were put in.
type queue struct{ heap []event }

func (q *queue) push(e event) {
	q.heap = append(q.heap, e)
	i := len(q.heap) - 1
	for i > 0 {
		up := (i - 1) / 2
		if !q.heap[i].before(q.heap[up]) {
			break
		}
		q.heap[i], q.heap[up] = q.heap[up], q.heap[i]
		i = up
	}
}

func (q *queue) pop() (event, bool) {
	if len(q.heap) == 0 {
		return event{}, false
	}
	top := q.heap[0]
	last := len(q.heap) - 1
	q.heap[0] = q.heap[last]
	q.heap[last] = event{}
	q.heap = q.heap[:last]
	for i := 0; ; {
		least := i
		for _, k := range [2]int{2*i + 1, 2*i + 2} {
			if k < last && q.heap[k].before(q.heap[least]) {
				least = k
			}
		}
		if least == i {
			return top, true
		}
		q.heap[i], q.heap[least] = q.heap[least], q.heap[i]
		i = least
	}
}
