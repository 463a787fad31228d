package code

import "github.com/parley-mesh/parley/detect"

func (c *comparison) contracts(before, after []detect.Unit) []detect.ContractChange { return nil }
