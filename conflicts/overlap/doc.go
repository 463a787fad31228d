// Package overlap is what live work comes to: which sides there are, which conflicts they have, who has to wait and
// what each has to be told. It folds the records of live work of one repository, or of several that know each other's
// contracts. The fold is pure and order-free: the same records lead to the same conflicts, under the same names, on
// every computer. The detectors of package detect do the finding.
package overlap
