// TestAsOpenCV compiles this program and compares results of Lathe with it.
//
//	opencv WIDTH HEIGHT OPERATION NUMBER...
//
// It reads RGB bytes from standard input and writes those of the result. compare reads two pictures,
// and writes PSNR and SSIM as text. All that decides about pixels is OpenCV's; Lathe's code is not here.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <opencv2/imgproc.hpp>
#include <opencv2/photo.hpp>

using cv::Mat;
using cv::Size;

static const int Edge = cv::BORDER_REPLICATE; // the pixels of the edge are repeated
static std::vector<double> n;                 // the numbers of the call

static Mat floats(const Mat &in) {
  Mat out;
  in.convertTo(out, CV_32F);
  return out;
}

static Mat bytes(const Mat &in) { // rounds, and ends at 0 and 255
  Mat out;
  in.convertTo(out, CV_8U);
  return out;
}

static Mat grey(const Mat &in) {
  Mat out;
  cv::cvtColor(in, out, cv::COLOR_RGB2GRAY);
  return out;
}

static Mat colours(const Mat &in) {
  Mat out;
  cv::cvtColor(in, out, cv::COLOR_GRAY2RGB);
  return out;
}

static Mat square(int kind, int radius) { return cv::getStructuringElement(kind, Size(2 * radius + 1, 2 * radius + 1)); }

static Mat morphology(const Mat &in, int operation) {
  Mat out;
  cv::morphologyEx(in, out, operation, square(cv::MORPH_RECT, n[0]), cv::Point(-1, -1), 1, Edge);
  return out;
}

static Mat gaussian(const Mat &in, double sigma) {
  if (sigma == 0) return in;
  int side = 2 * int(std::ceil(3 * sigma)) + 1;
  Mat out;
  cv::GaussianBlur(in, out, Size(side, side), sigma, sigma, Edge);
  return out;
}

static Mat length(const Mat &in) { // of the gradient, in levels
  Mat x, y, out;
  cv::Sobel(grey(floats(in)), x, CV_32F, 1, 0, 3, 1, 0, Edge);
  cv::Sobel(grey(floats(in)), y, CV_32F, 0, 1, 3, 1, 0, Edge);
  cv::magnitude(x, y, out);
  return out;
}

static Mat canny(const Mat &in) { // sigma, low, high
  const double level = 16;          // luma is counted in sixteenths of a level
  Mat x, y, out;
  Mat luma = gaussian(grey(floats(in)), n[0]) * level;
  cv::Sobel(luma, x, CV_32F, 1, 0, 3, 1, 0, Edge);
  cv::Sobel(luma, y, CV_32F, 0, 1, 3, 1, 0, Edge);
  x.convertTo(x, CV_16S);
  y.convertTo(y, CV_16S);
  cv::Canny(x, y, out, n[1] * 255 * level, n[2] * 255 * level, true);
  return colours(out);
}

// mean is the mean of the picture moved by many maps from points of the result to points of the source.
static Mat mean(const Mat &in, int count, std::function<Mat(double part)> map) {
  Mat sum = Mat::zeros(in.size(), CV_32FC3), moved;
  for (int i = 0; i < count; i++) {
    cv::warpAffine(floats(in), moved, map((i + 0.5) / count), in.size(), cv::INTER_LINEAR | cv::WARP_INVERSE_MAP, Edge);
    sum += moved;
  }
  return bytes(sum / count);
}

static Mat motion(const Mat &in) { // length, degrees
  return mean(in, 400, [](double part) {
    double far = n[0] * (part - 0.5), turn = n[1] * CV_PI / 180;
    return Mat(cv::Matx23d(1, 0, far * std::cos(turn), 0, 1, far * std::sin(turn)));
  });
}

static Mat zoom(const Mat &in) { // strength, and the centre as parts of the size
  double x = n[1] * in.cols - 0.5, y = n[2] * in.rows - 0.5;
  return mean(in, 400, [=](double part) {
    double by = 1 - n[0] * part;
    return Mat(cv::Matx23d(by, 0, x * (1 - by), 0, by, y * (1 - by)));
  });
}

static Mat pixelate(const Mat &in) { // the square's side, which divides both sides
  Mat small, out;
  cv::resize(in, small, Size(in.cols / int(n[0]), in.rows / int(n[0])), 0, 0, cv::INTER_AREA);
  cv::resize(small, out, in.size(), 0, 0, cv::INTER_NEAREST);
  return out;
}

static Mat perspective(const Mat &in) { // the corners' new places: top left, top right, bottom right, bottom left
  float w = in.cols, h = in.rows, half = 0.5; // points of OpenCV are in the middle of pixels
  cv::Point2f from[] = {{-half, -half}, {w - half, -half}, {w - half, h - half}, {-half, h - half}}, to[4];
  for (int i = 0; i < 4; i++) to[i] = cv::Point2f(n[2 * i] - half, n[2 * i + 1] - half);
  Mat out;
  cv::warpPerspective(floats(in), out, cv::getPerspectiveTransform(from, to), in.size());
  return bytes(out);
}

static const std::map<std::string, std::function<Mat(const Mat &)>> operations = {
    {"bilateral", [](const Mat &in) { Mat out; cv::bilateralFilter(in, out, 2 * int(n[0]) + 1, n[1], n[2], Edge); return out; }},
    {"non_local_means", [](const Mat &in) { Mat out; cv::fastNlMeansDenoising(in, out, n[0], n[1], n[2]); return out; }},
    {"canny", canny},
    {"clahe", [](const Mat &in) { Mat out; cv::createCLAHE(n[0], Size(n[1], n[2]))->apply(grey(in), out); return colours(out); }},
    {"equalize", [](const Mat &in) { Mat out; cv::equalizeHist(grey(in), out); return colours(out); }},
    {"sobel", [](const Mat &in) { return colours(bytes(length(in))); }},
    {"sobel_above", [](const Mat &in) { return colours(length(in) > n[0]); }},
    {"laplacian", [](const Mat &in) { Mat out; cv::Laplacian(in, out, CV_8U, 1, 1, 0, Edge); return out; }},
    {"gaussian", [](const Mat &in) { return bytes(gaussian(floats(in), n[0])); }},
    {"unsharp", [](const Mat &in) { Mat f = floats(in); return bytes(f + (f - gaussian(f, n[0])) * n[1]); }},
    {"box", [](const Mat &in) { Mat out; cv::blur(in, out, Size(2 * n[0] + 1, 2 * n[0] + 1), cv::Point(-1, -1), Edge); return out; }},
    {"median", [](const Mat &in) { Mat out; cv::medianBlur(in, out, 2 * n[0] + 1); return out; }},
    {"erode", [](const Mat &in) { return morphology(in, cv::MORPH_ERODE); }},
    {"dilate", [](const Mat &in) { return morphology(in, cv::MORPH_DILATE); }},
    {"opening", [](const Mat &in) { return morphology(in, cv::MORPH_OPEN); }},
    {"closing", [](const Mat &in) { return morphology(in, cv::MORPH_CLOSE); }},
    {"motion", motion},
    {"zoom", zoom},
    {"pixelate", pixelate},
    {"perspective", perspective},
    {"enlarge", [](const Mat &in) { Mat out; cv::resize(in, out, Size(n[0], n[1]), 0, 0, cv::INTER_LINEAR); return out; }},
    {"grey", [](const Mat &in) { return colours(grey(in)); }},
};

// similarity is SSIM by the definition of its authors, with OpenCV's blur of floats.
static double similarity(const Mat &one, const Mat &two) {
  const double c1 = 0.01 * 255 * 0.01 * 255, c2 = 0.03 * 255 * 0.03 * 255;
  Mat a, b, x = grey(floats(one)), y = grey(floats(two));
  auto window = [](const Mat &in) { Mat out; cv::GaussianBlur(in, out, Size(11, 11), 1.5, 1.5, Edge); return out; };
  Mat mx = window(x), my = window(y);
  Mat vx = window(x.mul(x)) - mx.mul(mx), vy = window(y.mul(y)) - my.mul(my), both = window(x.mul(y)) - mx.mul(my);
  a = (2 * mx.mul(my) + c1).mul(2 * both + c2);
  b = (mx.mul(mx) + my.mul(my) + c1).mul(vx + vy + c2);
  Mat each = a / b;
  return cv::mean(each(cv::Rect(5, 5, each.cols - 10, each.rows - 10)))[0]; // whole windows
}

static bool read(Mat &m) { return std::fread(m.data, 1, m.total() * 3, stdin) == m.total() * 3; }

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  cv::setNumThreads(1);
  Mat in(std::atoi(argv[2]), std::atoi(argv[1]), CV_8UC3);
  for (int i = 4; i < argc; i++) n.push_back(std::atof(argv[i]));
  n.resize(16);
  std::string name = argv[3];
  if (!read(in)) return 3;
  if (name == "compare") {
    Mat other(in.size(), CV_8UC3);
    if (!read(other)) return 3;
    std::printf("%.9f %.9f\n", cv::PSNR(in, other), similarity(in, other));
    return 0;
  }
  auto found = operations.find(name);
  if (found == operations.end()) return 4;
  Mat out = found->second(in).clone();
  return std::fwrite(out.data, 1, out.total() * 3, stdout) == out.total() * 3 ? 0 : 5;
}
