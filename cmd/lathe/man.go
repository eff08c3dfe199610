package main

type manCmd struct{}

// Run does it.
func (manCmd) Run(a *app) error { return nil }
