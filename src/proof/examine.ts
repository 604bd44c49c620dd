import { damageToleratedBy } from './damage.ts';
import { type Decoder, loadDecoders } from './decoders.ts';
import type { Gray } from './gray.ts';
import { createPrinter, type Printer } from './printer.ts';
import { type DecoderResult, type Proof, type ProofRequest, proofSizesMm } from './proof.ts';
import { type Misses, reasonsOf } from './reasons.ts';
import { flatView, frameZooms, phoneViews, type View, zoomed } from './views.ts';

let loaded: ReturnType<typeof loadDecoders> | undefined;

/** Draws a style at every size and in every view, and reads it back with every decoder. Blocks for up to 150 ms. */
export async function examine(request: ProofRequest): Promise<Proof> {
  loaded ??= loadDecoders();
  const decoders = await loaded;
  let printer: Printer;
  try {
    printer = createPrinter(request);
  } catch (error) {
    if (error instanceof RangeError) return notDrawable(decoders, error);
    throw error;
  }
  const misses: Misses = [];
  let views: readonly View[] = phoneViews;
  for (const sizeMm of proofSizesMm) {
    const own = await missesAt(sizeMm, printer.at(sizeMm), request.url, decoders, views);
    misses.push(...own);
    // A phone sees a larger print better, so what passes every view is looked at in larger sizes only as printed.
    if (own.length === 0) views = [];
  }
  const results = decoders.map(({ name }) => resultOf(name, misses));
  const smallest = results.map(({ smallest_mm }) => smallest_mm);
  const proof = {
    readable: results.some(({ reads_mm }) => reads_mm.length > 0),
    smallest_mm: smallest.includes(null) ? null : Math.max(...smallest.map(Number)),
    contrast: printer.contrast,
    damage_tolerated: await damageToleratedBy(decoders[0], printer, request.url),
    decoders: results,
  };
  return { ...proof, reasons: reasonsOf(request, printer, proof, misses) };
}

/** A logo that does not fit is the only part of a valid style that cannot be drawn. */
const notDrawable = (decoders: readonly Decoder[], { message }: RangeError): Proof => ({
  readable: false,
  smallest_mm: null,
  contrast: 1,
  damage_tolerated: 0,
  decoders: decoders.map(({ name }) => ({ name, reads_mm: [], smallest_mm: null })),
  reasons: [{ field: 'style.logo', message: `It cannot be drawn: ${message}.` }],
});

/** The views of one size that a decoder cannot read, or reads as something else. */
async function missesAt(
  sizeMm: number,
  print: Gray,
  url: string,
  decoders: readonly Decoder[],
  views: readonly View[],
): Promise<Misses> {
  const misses: Misses = [];
  const look = async (view: View) => {
    const frames = framesOf(view.see(print));
    for (const decoder of decoders)
      if (!(await readsOne(decoder, frames, url))) misses.push({ decoder: decoder.name, view, sizeMm });
  };
  await look(flatView);
  // What cannot be read from the undistorted print is not readable from a photo of it.
  if (misses.length === decoders.length) {
    for (const view of views) for (const { name } of decoders) misses.push({ decoder: name, view, sizeMm });
    return misses;
  }
  for (const view of views) await look(view);
  return misses;
}

type Frames = readonly (() => Gray)[];

/** Most views are read from the first frame, so the others are made when they are needed. */
function framesOf(seen: Gray): Frames {
  const made = new Map<number, Gray>();
  return frameZooms.map((zoom) => () => {
    const frame = made.get(zoom) ?? zoomed(seen, zoom);
    made.set(zoom, frame);
    return frame;
  });
}

async function readsOne(decoder: Decoder, frames: Frames, url: string): Promise<boolean> {
  for (const frame of frames) if ((await decoder.read(frame())) === url) return true;
  return false;
}

function resultOf(name: string, misses: Misses): DecoderResult {
  const own = misses.filter(({ decoder }) => decoder === name);
  const flat = own.filter(({ view }) => view === flatView).map(({ sizeMm }) => sizeMm);
  const largestMiss = Math.max(0, ...own.map(({ sizeMm }) => sizeMm));
  return {
    name,
    reads_mm: proofSizesMm.filter((sizeMm) => !flat.includes(sizeMm)),
    smallest_mm: proofSizesMm.find((sizeMm) => sizeMm > largestMiss) ?? null,
  };
}
