// SPDX-License-Identifier: Apache-2.0
// A picture in memory for rows that have more spans than the window has pixels: a column of a few pixels costs as many stores,
// where the canvas's own rectangles cost a call and a record each, 200 000 of them a frame in a long trace. One copy brings all
// such rows to the screen.
"use strict";

class DensePicture {
  constructor() {
    this.canvas = document.createElement("canvas");
    this.context = this.canvas.getContext("2d");
    this.isEmpty = true;
  }

  /** Before the rows of a frame. */
  begin(width, height) {
    if (!this.image || this.image.width !== width || this.image.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else if (!this.isEmpty) {
      this.pixels.fill(0);
    }
    this.isEmpty = true;
  }

  column(x, top, bottom, colour) {
    this.isEmpty = false;
    const { width, height } = this.image;
    const last = Math.min(bottom, height);
    for (let y = Math.max(0, top); y < last; y++) this.pixels[y * width + x] = colour;
  }

  /** After them; the context's clip holds. */
  onto(context) {
    if (this.isEmpty) return;
    this.context.putImageData(this.image, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, 0, 0);
  }
}

const PIXELS = new Map();

/** "#rrggbb" as a pixel of an image. */
function pixelOf(colour) {
  if (!PIXELS.has(colour)) {
    const [red, green, blue] = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
    PIXELS.set(colour, new Uint32Array(new Uint8Array([red, green, blue, 255]).buffer)[0]);
  }
  return PIXELS.get(colour);
}
