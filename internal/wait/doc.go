// Package wait is `warren wait`: it returns when topics are open for
// publishing and subscriptions established, and believes no condition that was
// not read back from the broker just now.
package wait
