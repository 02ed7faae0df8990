#!/usr/bin/env python3
"""Renders one line of text as a small grey PNG, black on white, as a scanner would see it.

The font is the one inside Pillow, so the picture is the same on every machine.

Usage: render_text_line.py TEXT FILE.png
"""

import sys

from PIL import Image, ImageDraw, ImageFont

HEIGHT = 48
FONT_SIZE = 34
MARGIN = 6


def render(text):
    font = ImageFont.load_default(size=FONT_SIZE)
    left, _, right, _ = font.getbbox(text)
    image = Image.new("L", (right - left + 2 * MARGIN, HEIGHT), 255)
    # "mm" centres on the line's own ascent and descent, not on the letters that happen to be in it.
    ImageDraw.Draw(image).text((image.width / 2, HEIGHT / 2), text, font=font, fill=0, anchor="mm")
    return image


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    image = render(sys.argv[1])
    image.save(sys.argv[2], optimize=True)
    print(f"{sys.argv[2]}: {image.width}x{image.height}")


if __name__ == "__main__":
    main()
