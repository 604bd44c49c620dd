import type { Layout } from './layout.ts';
import type { Pixels } from './png-file.ts';
import { renderPremultiplied } from './render.ts';
import { scaledLogo } from './scaled-logo.ts';
import type { Scene, Shape } from './scene.ts';
import { writeSvg } from './svg.ts';

/** Draws a scene by its SVG, with alpha multiplied into the colors. */
export async function drawScene(scene: Scene, layout: Layout): Promise<Pixels> {
  const shapes = await Promise.all(scene.shapes.map((shape) => withScaledLogo(shape, layout.scale)));
  return renderPremultiplied(writeSvg({ ...scene, shapes }, layout, ''));
}

/** resvg would take single pixels of a logo that it reduces, instead of their average. */
async function withScaledLogo(shape: Shape, scale: number): Promise<Shape> {
  if (shape.kind !== 'logo' || shape.art.kind !== 'raster') return shape;
  return { ...shape, art: await scaledLogo(shape.art, shape.width * scale) };
}
