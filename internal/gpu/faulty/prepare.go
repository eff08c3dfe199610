package faulty

import "github.com/lathe-gpu/lathe/gpu"

// prepared is a list of the inner device whose submissions may have to fail.
type prepared struct {
	gpu.Prepared
	d *Device
}

// Prepare prepares the list on the inner device, unless the call has to fail.
func (d *Device) Prepare(list []gpu.Dispatch) (gpu.Prepared, error) {
	if err := d.countCall(Prepare); err != nil {
		return nil, err
	}
	p, err := gpu.Prepare(d.inner, list)
	if err != nil {
		return nil, err
	}
	return &prepared{p, d}, nil
}

// Submit submits the list of the inner device, unless the call has to fail.
func (p *prepared) Submit() error {
	if err := p.d.countCall(Replay); err != nil {
		return err
	}
	return p.Prepared.Submit()
}
