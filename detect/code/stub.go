package code

func (s *scan) scriptContracts() {}
func (s *scan) pythonContracts() {}
func (s *scan) prints() []uint64 { return nil }
