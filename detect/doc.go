// Package detect finds overlapping and incompatible work before it is merged.
//
// Detectors are pure functions over digests: what a participant changed, as paths, blob ids, hunks, changed
// symbols and contracts, and new references. No code is needed, and the same digests lead to the same
// findings, in the same order, on every computer. Where digests do not suffice a detector says that it
// cannot tell.
package detect
