package backend

import (
	"fmt"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/value"
)

// number calls an image operation of one parameter.
func (d *Device) number(in, out TensorHandle, v value.Value, call func(float64) spec.Call) error {
	x, err := v.AsFloat()
	if err != nil {
		return fmt.Errorf("backend: %s: %w", call(0).Spec().Name, err)
	}
	return d.unary(call(spec.Given(x)), in, out)
}

// GaussianBlur blurs with a standard deviation in pixels.
func (d *Device) GaussianBlur(in, out TensorHandle, sigma value.Value) error {
	return d.number(in, out, sigma, func(x float64) spec.Call { return imageops.GaussianBlur{Sigma: x} })
}

// SobelEdges is white where the gradient exceeds threshold.
func (d *Device) SobelEdges(in, out TensorHandle, threshold value.Value) error {
	return d.number(in, out, threshold, func(x float64) spec.Call { return imageops.SobelEdges{Threshold: x} })
}

// SobelMagnitude is the gradient itself.
func (d *Device) SobelMagnitude(in, out TensorHandle) error {
	return d.unary(imageops.SobelEdges{Magnitude: true}, in, out)
}

// Grayscale turns colours into their luma.
func (d *Device) Grayscale(in, out TensorHandle) error { return d.unary(imageops.Grayscale{}, in, out) }

// Threshold is 1 from level on and 0 below.
func (d *Device) Threshold(in, out TensorHandle, level value.Value) error {
	return d.number(in, out, level, func(x float64) spec.Call { return imageops.Threshold{Value: x} })
}

// Brightness multiplies by factor.
func (d *Device) Brightness(in, out TensorHandle, factor value.Value) error {
	return d.number(in, out, factor, func(x float64) spec.Call { return imageops.Brightness{Factor: x} })
}

// Contrast stretches about the middle by factor.
func (d *Device) Contrast(in, out TensorHandle, factor value.Value) error {
	return d.number(in, out, factor, func(x float64) spec.Call { return imageops.Contrast{Factor: x} })
}

// InvertColors is the negative.
func (d *Device) InvertColors(in, out TensorHandle) error {
	return d.unary(imageops.InvertColors{}, in, out)
}

// Sharpen sharpens.
func (d *Device) Sharpen(in, out TensorHandle) error { return d.unary(imageops.Sharpen{}, in, out) }
