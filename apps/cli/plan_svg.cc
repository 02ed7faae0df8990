#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "plan.h"
#include "text.h"
#include "utf8.h"

namespace sardonyx::cli {
namespace {

// Of the picture, in pixels.
constexpr double kLeft = 84, kTop = 64, kPlotWidth = 980, kMapHeight = 400, kCostHeight = 72;
constexpr double kGap = 30, kWidth = kLeft + kPlotWidth + 24;
constexpr double kCostTop = kTop + kMapHeight + kGap;
constexpr double kLegendTop = kCostTop + kCostHeight + 40;
constexpr const char* kColours[] = {"#4878a8", "#e49444", "#6a9f58", "#d1605e",
                                    "#85b6b2", "#a87c9f", "#e7ca60", "#967662"};
constexpr const char* kOther = "#b0b4ba";
constexpr const char* kScratch = "#e3e5e8";

// XML allows no control characters and no broken UTF-8.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char each : encode_utf8(decode_utf8(one_line(text)))) {
    switch (each) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += each;
    }
  }
  return out;
}

// 1, 2 or 5 times a power of ten: about `wanted` of them make `total`.
int64_t nice_step(int64_t total, int wanted) {
  int64_t step = 1;
  for (int i = 0; total / step > wanted; ++i) step = i % 3 == 1 ? step / 2 * 5 : step * 2;
  return step;
}

class Picture {
 public:
  Picture(const PlanReport& plan, const std::string& title) : plan_(plan), title_(title) {
    top_bytes_ = std::max<int64_t>({plan.arena_bytes, plan.lower_bound_bytes, 1});
    step_width_ = kPlotWidth / static_cast<double>(std::max<size_t>(plan.steps.size(), 1));
    choose_colours();
  }

  std::string draw() {
    const double height = kLegendTop + 18 * static_cast<double>((legend_.size() + 3) / 4 + 1);
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        kWidth, height);
    text(kLeft, 24, escaped(title_), "font-size=\"15\" font-weight=\"bold\"");
    text(kLeft, 44,
         fmt::format("{} steps; arena {}, at least {} needed; constants {}, outputs {}; "
                     "estimated {:.2f} ms on one thread",
                     plan_.steps.size(), byte_text(plan_.arena_bytes),
                     byte_text(plan_.lower_bound_bytes), byte_text(plan_.constant_bytes),
                     byte_text(plan_.output_bytes), plan_.estimated_nanoseconds * 1e-6),
         "fill=\"#555\"");
    draw_axes();
    draw_buffers();
    draw_lives();
    draw_costs();
    draw_legend();
    return out_ + "</svg>\n";
  }

 private:
  double x_of(int64_t step) const { return kLeft + static_cast<double>(step) * step_width_; }
  double y_of(int64_t bytes) const {
    return kTop + kMapHeight * (1 - static_cast<double>(bytes) / static_cast<double>(top_bytes_));
  }

  void text(double x, double y, const std::string& content, const char* style) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, content);
  }

  void line(double x1, double y1, double x2, double y2, const char* style) {
    out_ += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                        y1, x2, y2, style);
  }

  void box(double x, double y, double width, double height, const std::string& colour,
           const std::string& title) {
    out_ += fmt::format(
        "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
        "stroke=\"#fff\" stroke-width=\"0.5\"><title>{}</title></rect>\n",
        x, y, width, height, colour, title);
  }

  const std::string& op_of(const PlanBuffer& buffer) const {
    return plan_.steps[static_cast<size_t>(buffer.first_step)].op;
  }

  static bool is_drawn(const PlanBuffer& buffer) {
    return buffer.place == PlanBuffer::Place::kArena && buffer.size_bytes > 0 &&
           buffer.first_step >= 0;
  }

  // The operators that write most, one colour each.
  void choose_colours() {
    std::map<std::string, int64_t> written;
    for (const PlanBuffer& buffer : plan_.buffers) {
      if (is_drawn(buffer)) written[op_of(buffer)] += buffer.size_bytes;
    }
    std::vector<std::pair<int64_t, std::string>> ranked;
    for (const auto& [op, bytes] : written) ranked.emplace_back(-bytes, op);
    std::sort(ranked.begin(), ranked.end());
    for (size_t i = 0; i < ranked.size(); ++i) {
      const bool has_own = i < std::size(kColours);
      colours_[ranked[i].second] = has_own ? kColours[i] : kOther;
      if (has_own) legend_.emplace_back(short_op(ranked[i].second), kColours[i]);
    }
    if (ranked.size() > std::size(kColours)) legend_.emplace_back("other operators", kOther);
    if (!plan_.scratch.empty()) legend_.emplace_back("scratch memory of a step", kScratch);
  }

  void draw_axes() {
    const int64_t unit = top_bytes_ >= (10 << 20)   ? 1 << 20
                         : top_bytes_ >= (10 << 10) ? 1 << 10
                                                    : 1;
    const int64_t tick = nice_step(std::max<int64_t>(top_bytes_ / unit, 1), 6) * unit;
    for (int64_t at = 0; at <= top_bytes_; at += tick) {
      line(kLeft, y_of(at), kLeft + kPlotWidth, y_of(at), "stroke=\"#eee\"");
      text(kLeft - 8, y_of(at) + 4, byte_text(at), "fill=\"#555\" text-anchor=\"end\"");
    }
    const auto steps = static_cast<int64_t>(plan_.steps.size());
    for (int64_t at = 0; at < steps; at += nice_step(steps, 12)) {
      text(x_of(at), kCostTop + kCostHeight + 16, fmt::format("{}", at), "fill=\"#555\"");
    }
    text(kLeft - 8, kCostTop + kCostHeight + 16, "step", "fill=\"#555\" text-anchor=\"end\"");
  }

  void draw_buffers() {
    for (size_t b = 0; b < plan_.buffers.size(); ++b) {
      const PlanBuffer& buffer = plan_.buffers[b];
      if (!is_drawn(buffer)) continue;
      const double top = y_of(buffer.offset + buffer.size_bytes);
      box(x_of(buffer.first_step), top, x_of(buffer.last_step + 1) - x_of(buffer.first_step),
          y_of(buffer.offset) - top, colours_[op_of(buffer)],
          escaped(fmt::format("{} {} {}, steps {}..{}, {} at {}", op_of(buffer), buffer.name,
                              buffer.type, buffer.first_step, buffer.last_step,
                              byte_text(buffer.size_bytes), buffer.offset)));
    }
    for (const PlanScratch& scratch : plan_.scratch) {
      const double top = y_of(scratch.offset + scratch.size_bytes);
      box(x_of(scratch.step), top, step_width_, y_of(scratch.offset) - top, kScratch,
          escaped(fmt::format("scratch of step {} ({}), {} at {}", scratch.step,
                              plan_.steps[static_cast<size_t>(scratch.step)].op,
                              byte_text(scratch.size_bytes), scratch.offset)));
    }
  }

  // Bytes alive at each step as stairs, and their maximum.
  void draw_lives() {
    std::string points;
    for (size_t s = 0; s < plan_.live_bytes.size(); ++s) {
      const auto step = static_cast<int64_t>(s);
      points += fmt::format("{:.2f},{:.2f} {:.2f},{:.2f} ", x_of(step), y_of(plan_.live_bytes[s]),
                            x_of(step + 1), y_of(plan_.live_bytes[s]));
    }
    out_ += fmt::format(
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.2\"/>\n", points);
    line(kLeft, y_of(plan_.lower_bound_bytes), kLeft + kPlotWidth, y_of(plan_.lower_bound_bytes),
         "stroke=\"#222\" stroke-dasharray=\"5 4\"");
  }

  void draw_costs() {
    double most = 0;
    for (const PlanStep& step : plan_.steps) most = std::max(most, step.estimated_nanoseconds);
    if (most <= 0) return;
    text(kLeft - 8, kCostTop + 4, fmt::format("{:.0f} us", most * 1e-3),
         "fill=\"#555\" text-anchor=\"end\"");
    text(kLeft - 8, kCostTop + kCostHeight, "cost", "fill=\"#555\" text-anchor=\"end\"");
    for (size_t s = 0; s < plan_.steps.size(); ++s) {
      const PlanStep& step = plan_.steps[s];
      const double height = kCostHeight * step.estimated_nanoseconds / most;
      const auto colour = colours_.find(step.op);
      box(x_of(static_cast<int64_t>(s)), kCostTop + kCostHeight - height, step_width_, height,
          colour == colours_.end() ? kOther : colour->second,
          escaped(fmt::format("step {}: {} {}, about {:.0f} us", s, step.op, step.name,
                              step.estimated_nanoseconds * 1e-3)));
    }
    line(kLeft, kCostTop + kCostHeight, kLeft + kPlotWidth, kCostTop + kCostHeight,
         "stroke=\"#999\"");
  }

  void draw_legend() {
    for (size_t i = 0; i < legend_.size(); ++i) {
      const double x = kLeft + static_cast<double>(i % 4) * 245;
      const double y = kLegendTop + static_cast<double>(i / 4) * 18;
      out_ +=
          fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"11\" height=\"11\" fill=\"{}\"/>\n",
                      x, y, legend_[i].second);
      text(x + 17, y + 10, escaped(legend_[i].first), "fill=\"#333\"");
    }
    text(kLeft, kLegendTop + static_cast<double>((legend_.size() + 3) / 4) * 18 + 10,
         "Line: bytes alive. Dashed: the most at once, below which no arena can be.",
         "fill=\"#555\"");
  }

  const PlanReport& plan_;
  const std::string title_;
  int64_t top_bytes_ = 1;
  double step_width_ = 1;
  std::map<std::string, std::string> colours_;               // by operator
  std::vector<std::pair<std::string, std::string>> legend_;  // name, colour
  std::string out_;
};

}  // namespace

std::string plan_svg(const PlanReport& plan, const std::string& title) {
  return Picture(plan, title).draw();
}

}  // namespace sardonyx::cli
