// Package calls lists the operations of packages ops and imageops. It declares none of them before
// their method Spec is called.
package calls
