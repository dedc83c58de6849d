// Package monitoring tests what config/prometheus has for those on call: the
// alerts with promtool on sample series, and that each has its runbook.
package monitoring
