// Package drift is pure: it sets what a broker must have beside what it was
// seen to have, and says what differs, how bad that is, what a person has to
// do about it ([Difference]), and what Warren may do itself ([Plan]).
//
// Nothing here does I/O. Whoever executes a plan need not think; whoever
// changes what is right to do changes it here, and tests it with a table.
package drift
