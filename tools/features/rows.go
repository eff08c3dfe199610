package main

// row is something that a person may want to do with a picture. Each tool has ways to do it, the
// best one first, and none if the tool has no operation of its own for it. Ways are written as
// tools.go says.
type row struct {
	name   string
	rare   bool // not for every day
	lathe  []string
	vips   []string
	magick []string
	sharp  []string
}

// one is a list of one way, or of none for "".
func one(way string) []string {
	if way == "" {
		return nil
	}
	return []string{way}
}

// all makes a row with one way for each tool. The ways of Lathe may be several, divided by " ;; ".
func all(name, lathe, vips, magick, sharp string) row {
	return row{name: name, lathe: ways(lathe), vips: one(vips), magick: one(magick), sharp: one(sharp)}
}

func rare(r row) row {
	r.rare = true
	return r
}

type group struct {
	name string
	rows []row
}

var groups = []group{
	{"Geometry", []row{
		all("resize, Lanczos", "resize 50%", "resize $in $out 0.5", "-filter Lanczos -resize 50%", ".resize(60)"),
		all("resize into a box, only shrink", "resize 60x60>", "thumbnail $in $out 60 --height 60 --size down", "-resize '60x60>'", ".resize(60,60,{fit:'inside',withoutEnlargement:true})"),
		all("fill a box, cut off the rest", "resize 60x60 fit=cover", "thumbnail $in $out 60 --height 60 --crop centre", "-resize 60x60^ -gravity center -extent 60x60", ".resize(60,60,{fit:'cover'})"),
		all("nearest neighbour", "resize 50% filter=nearest", "resize $in $out 0.5 --kernel nearest", "-sample 50%", ".resize(60,null,{kernel:'nearest'})"),
		all("resize in linear light", "resize 50% linear=true", "thumbnail $in $out 60 --linear", "-colorspace RGB -resize 50% -colorspace sRGB", ".gamma().resize(60)"),
		all("thumbnail in one step", "thumbnail 60x60", "thumbnail $in $out 60", "-thumbnail 60x60", ".resize(60)"),
		all("JPEG files shrunk while they are decoded", "!lathe image $jpg -o $out.jpg --shrink-on-load --op 'resize 60'", "thumbnail $jpg $out 60", "!convert -define jpeg:size=120x120 $jpg -thumbnail 60x60 $out", "!sharp($jpg).resize(60).toFile($out)"),
		all("crop", "crop 40x30+5+5", "extract_area $in $out 5 5 40 30", "-crop 40x30+5+5 +repage", ".extract({left:5,top:5,width:40,height:30})"),
		all("crop by gravity", "crop 40x30 gravity=center", "smartcrop $in $out 40 30 --interesting centre", "-gravity center -crop 40x30+0+0 +repage", ""),
		all("crop to a shape (16:9)", "crop aspect=16:9", "", "", ""),
		all("smart crop", "smart_crop 40x30 ;; smart_crop width=40 height=30 ;; smartcrop 40x30 ;; crop 40x30 gravity=smart ;; crop width=40 height=30 gravity=edges", "smartcrop $in $out 40 30 --interesting attention", "", ".resize(40,30,{fit:'cover',position:'attention'})"),
		all("trim", "trim", "!set -- $(vips find_trim $in) && vips extract_area $in $out $1 $2 $3 $4", "-trim", ".trim()"),
		all("pad, extend", "pad 10 color=white", "embed $in $out 10 10 140 110", "-border 10", ".extend(10)"),
		all("pad by mirrored or repeated edges", "pad 10 border=mirror", "embed $in $out 10 10 140 110 --extend mirror", "-set option:distort:viewport 140x110-10-10 -virtual-pixel Mirror -filter point -distort SRT 0 +repage", ".extend({top:9,bottom:9,left:9,right:9,extendWith:'mirror'})"),
		all("rotate by 90°", "rotate 90", "rot $in $out d90", "-rotate 90", ".rotate(90)"),
		all("rotate by any angle", "rotate 7.5", "rotate $in $out 7.5", "-rotate 7.5", ".rotate(7.5)"),
		all("turn upright by EXIF", "!lathe image $jpg -o $out.jpg", "autorot $jpg $out", "!convert $jpg -auto-orient $out", "!sharp($jpg).rotate().toFile($out)"),
		all("flip, flop", "flip | flop", "flip $in $out vertical", "-flip -flop", ".flip().flop()"),
		rare(all("affine", "affine 1,0.1,0,0.1,1,0", "affine $in $out '1 0.1 0.1 1'", "-distort AffineProjection 1,0.1,0.1,1,0,0", ".affine([1,0.1,0.1,1])")),
		rare(all("perspective", "perspective from=0,0,119,0,119,89,0,89 to=0,0,100,10,119,89,5,80", "", "-distort Perspective '0,0 0,0 119,0 100,10 119,89 119,89 0,89 5,80'", "")),
	}},
	{"Filters", []row{
		all("Gaussian blur", "blur 3", "gaussblur $in $out 3", "-blur 0x3", ".blur(3)"),
		all("box blur", "box_blur 2", "", "-statistic Mean 5x5", ".blur()"),
		all("sharpen, unsharp mask", "unsharp sigma=1 amount=1", "sharpen $in $out --sigma 1", "-unsharp 0x1+1+0.02", ".sharpen({sigma:1})"),
		all("median", "median 2", "rank $in $out 5 5 12", "-statistic Median 5x5", ".median(5)"),
		all("bilateral", "bilateral ;; bilateral sigma=3", "", "!convert $in -bilateral-blur 5x5 $out", ""),
		all("denoise, non-local means", "non_local_means ;; nlm ;; denoise", "", "-enhance", ""),
		all("convolve with any kernel", "convolve 0,-1,0,-1,5,-1,0,-1,0", "!printf '3 3\\n0 -1 0\\n-1 5 -1\\n0 -1 0\\n' > $dir/m.mat && vips conv $in $out $dir/m.mat", "-morphology Convolve '3x3: 0,-1,0 -1,5,-1 0,-1,0'", ".convolve({width:3,height:3,kernel:[0,-1,0,-1,5,-1,0,-1,0]})"),
		all("erode, dilate", "erode 2 | dilate 2", "rank $in $out 5 5 0", "-morphology Erode Square:2", ".erode(2).dilate(2)"),
		all("edges, Sobel", "sobel_edges", "sobel $in $out", "-edge 1", ".convolve({width:3,height:3,kernel:[-1,0,1,-2,0,2,-1,0,1]})"),
		rare(all("Canny", "canny", "canny $in $out", "-canny 0x1+10%+30%", "")),
		rare(all("emboss", "emboss", "", "-emboss 1", "")),
		rare(all("motion blur", "motion_blur 9", "", "-motion-blur 0x5+30", "")),
		rare(all("zoom blur", "zoom_blur 0.1", "", "", "")),
		all("local contrast, CLAHE", "clahe", "hist_local $in $out 30 30 --max-slope 3", "-clahe 25x25%+128+3", ".clahe({width:30,height:30,maxSlope:3})"),
		all("noise, grain", "noise 0.05", "", "-attenuate 0.3 +noise Gaussian", ""),
		rare(all("pixelate", "pixelate 8", "", "-scale 10% -scale 1000%", "")),
		all("vignette", "vignette", "", "-vignette 0x20", ""),
	}},
	{"Colour", []row{
		all("brightness, contrast", "brightness 1.1 | contrast 1.2", "linear $in $out 1.2 ' -10'", "-brightness-contrast 10x20", ".modulate({brightness:1.1}).linear(1.2,-10)"),
		all("gamma", "gamma 1.4", "gamma $in $out --exponent 1.4", "-gamma 1.4", ".gamma(1.4)"),
		all("levels", "levels black=0.05 white=0.95", "", "-level 5%,95%", ".linear(1.1,-13)"),
		all("curves", "curves 0,0,0.5,0.6,1,1", "", "-function Polynomial -0.4,1.4,0", ""),
		all("exposure", "exposure 0.5", "linear $in $out 1.41 0", "-evaluate multiply 1.41", ".linear(1.41,0)"),
		all("saturation", "saturation 1.3", "", "-modulate 100,130", ".modulate({saturation:1.3})"),
		rare(all("vibrance", "vibrance 0.5", "", "", "")),
		all("hue", "hue 30", "", "-modulate 100,100,120", ".modulate({hue:30})"),
		all("white balance", "white_balance 0.2", "", "", ""),
		all("grey", "grayscale", "colourspace $in $out b-w", "-colorspace Gray", ".grayscale()"),
		all("sepia", "sepia", "!printf '3 3\\n0.39 0.77 0.19\\n0.35 0.69 0.17\\n0.27 0.53 0.13\\n' > $dir/s.mat && vips recomb $rgb $out $dir/s.mat", "-sepia-tone 80%", ".recomb([[0.39,0.77,0.19],[0.35,0.69,0.17],[0.27,0.53,0.13]])"),
		all("invert", "invert", "invert $in $out", "-negate", ".negate()"),
		all("threshold", "threshold 0.5", "relational_const $in $out more 128", "-threshold 50%", ".threshold(128)"),
		all("posterise", "posterize 4", "", "-posterize 4", ""),
		all("channel mixer, colour matrix", "channel_mixer 0.5,0.5,0,0,1,0,0,0,1", "!printf '3 3\\n0.5 0.5 0\\n0 1 0\\n0 0 1\\n' > $dir/c.mat && vips recomb $rgb $out $dir/c.mat", "-color-matrix '0.5 0.5 0 0 1 0 0 0 1'", ".recomb([[0.5,0.5,0],[0,1,0],[0,0,1]])"),
		all("auto contrast", "auto_contrast", "hist_norm $in $out", "-normalize", ".normalise()"),
		all("equalise", "equalize", "hist_equal $in $out", "-equalize", ""),
		all(".cube 3-D LUT", "lut $cube ;; cube $cube ;; cube_lut $cube ;; lut file=$cube", "", "!convert $in cube:$cube -hald-clut $out", ""),
	}},
	{"Several pictures", []row{
		all("watermark, composite", "watermark $logo gravity=bottom-right opacity=0.5", "!vips composite2 $in $logo $out over", "!convert $in $logo -gravity SouthEast -compose dissolve -define compose:args=50 -composite $out", ".composite([{input:$logo,gravity:'southeast'}])"),
		all("blend modes", "composite $logo mode=multiply", "!vips composite2 $in $logo $out multiply", "!convert $in $logo -compose Multiply -composite $out", ".composite([{input:$logo,blend:'multiply'}])"),
		all("tile a logo", "watermark $logo tile=true opacity=0.2", "!vips replicate $logo $dir/t.png 8 8 && vips composite2 $in $dir/t.png $out over", "!convert $in \\( -size 120x90 tile:$logo \\) -composite $out", ".composite([{input:$logo,tile:true}])"),
		all("mask", "composite $logo mode=mask scale=100", "!vips bandjoin \"$rgb $mask\" $out", "!convert $in $mask -alpha off -compose CopyOpacity -composite $out", ".joinChannel($mask)"),
		all("compare with figures", "!lathe compare $in $in", "", "!compare -metric PSNR $in $deep null: || test $? = 1", ""),
		all("contact sheet", "!lathe sheet $in $jpg -o $out.png", "!vips arrayjoin \"$in $in\" $out", "!montage $in $jpg $out", ""),
	}},
	{"Files", []row{
		all("16 bits a channel, in and out", "!lathe image $deep -o $out.tif --op 'blur 1'", "gaussblur $deep $out.tif 1", "!convert $deep -blur 0x1 $out.tif", "!sharp($deep).toColourspace('rgb16').blur(1).png().toFile($out)"),
		all("read WebP", "!lathe image $webp -o $out.png", "copy $webp $out", "!convert $webp $out", "!sharp($webp).toFile($out)"),
		all("read AVIF", "!lathe image $avif -o $out.png", "copy $avif $out", "!convert $avif $out", "!sharp($avif).toFile($out)"),
		rare(all("read SVG", "!lathe image $svg -o $out.png", "copy $svg $out", "!convert $svg $out", "!sharp($svg).toFile($out)")),
		all("write WebP", "!lathe image $in -o $out.webp", "copy $in $out.webp", "!convert $in $out.webp", "!sharp($in).webp().toFile($out)"),
		all("write AVIF", "!lathe image $in -o $out.avif", "copy $in $out.avif", "!convert $in $out.avif", "!sharp($in).avif().toFile($out)"),
		all("write progressive JPEG", "!lathe image $in -o $out.jpg --progressive", "copy $in \"$out.jpg[interlace]\"", "!convert $in -interlace JPEG $out.jpg", "!sharp($in).jpeg({progressive:true}).toFile($out)"),
		all("JPEG quality and subsampling", "!lathe image $in -o $out.jpg --quality 80 --subsampling 4:4:4", "copy $in \"$out.jpg[Q=80,subsample-mode=off]\"", "!convert $in -quality 80 -sampling-factor 4:4:4 $out.jpg", "!sharp($in).jpeg({quality:80,chromaSubsampling:'4:4:4'}).toFile($out)"),
		all("every frame of an animated GIF", "!lathe image $gif -o $out.gif --op invert", "invert \"$gif[n=-1]\" $out.gif", "!convert $gif -negate $out.gif", "!sharp($gif,{animated:true}).negate().gif().toFile($out)"),
		all("convert by ICC profiles to sRGB", "!lathe image $icc -o $out.jpg --profile srgb ;; !lathe image $icc -o $out.jpg --profile sRGB ;; !lathe image $icc -o $out.jpg --srgb", "icc_transform $icc $out.jpg srgb", "!convert $icc -profile $srgb $out.jpg", "!sharp($icc).toColourspace('srgb').withIccProfile('srgb').jpeg().toFile($out)"),
		all("convert to the colours of a profile", "!lathe image $tagged -o $out.jpg --profile $p3", "icc_transform $tagged $out.jpg $p3", "!convert $tagged -profile $p3 $out.jpg", "!sharp($tagged).withIccProfile($p3).jpeg().toFile($out)"),
		all("keep EXIF, XMP and ICC", "!lathe image $jpg -o $out.jpg --op 'blur 1' ?? grep -aq Works $out*", "gaussblur $jpg $out.jpg 1 ?? grep -aq Works $out*", "!convert $jpg -blur 0x1 $out.jpg ?? grep -aq Works $out*", "!sharp($jpg).keepMetadata().blur(1).jpeg().toFile($out) ?? grep -aq Works $out*"),
		all("leave out metadata", "!lathe image $jpg -o $out.jpg --strip ?? ! grep -aq Works $out*", "copy $jpg \"$out.jpg[strip]\" ?? ! grep -aq Works $out*", "!convert $jpg -strip $out.jpg ?? ! grep -aq Works $out*", "!sharp($jpg).jpeg().toFile($out) ?? ! grep -aq Works $out*"),
		all("a whole folder, goes on after bad files", "!lathe image $dir/folder -o $out ?? test -e $out/a.png", "", "!mkdir -p $out.d && mogrify -path $out.d $dir/folder/*.png ?? test -e $out.d/a.png", ""),
		all("continue an interrupted run", "!lathe image $dir/folder -o $out --skip-existing ?? test -e $out/a.png", "", "", ""),
	}},
}
