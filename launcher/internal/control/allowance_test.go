package control

import "testing"

func TestAllowance(t *testing.T) {
	var a Allowance
	got := make(chan int)
	go func() { got <- a.Wait() }()
	a.Add(-1)
	a.Add(4)
	if n := <-got; n != 3 {
		t.Errorf("3 bytes may be sent, and Wait says %d", n)
	}
	a.Add(-3)
	go func() { got <- a.Wait() }()
	a.Close()
	if n := <-got; n != 0 {
		t.Errorf("nothing may be sent, and Wait says %d", n)
	}
}
