import frameFont from '../qr/frame-font.json' with { type: 'json' };
import { styleWarnings } from '../qr/warnings.ts';
import type { Printer } from './printer.ts';
import { type Proof, type ProofRequest, type ProofSubject, proofSizesMm, type Reason } from './proof.ts';
import type { View } from './views.ts';

/** Every view that a decoder could not read. */
export type Misses = { decoder: string; view: View; sizeMm: number }[];

const largestMm = Math.max(...proofSizesMm);

/** A print that scans from this width on needs no reason. */
const comfortableMm = 15;

/** Below this width, printers and cameras blur modules into each other. */
const minModuleMm = 0.3;

/** What makes a style hard to read: what its colors tell, then what the decoders could not do. */
export function reasonsOf(
  { style, about = 'link' }: ProofRequest,
  printer: Printer,
  proof: Omit<Proof, 'reasons'>,
  misses: Misses,
): Reason[] {
  const reasons = styleWarnings(style, frameFont).map(({ field, message }) => ({ field: `style.${field}`, message }));
  if (!proof.readable) {
    reasons.push({ field: 'style', message: `No decoder reads it at any size up to ${largestMm} mm.` });
    return about === 'content' ? [...reasons, ...tooDense(printer)] : reasons;
  }
  for (const { name, smallest_mm } of proof.decoders) {
    if (smallest_mm !== null) continue;
    const views = misses.filter(({ decoder, sizeMm }) => decoder === name && sizeMm === largestMm);
    const when = listOf([...new Set(views.map(({ view }) => view.when))]);
    reasons.push({
      field: 'style',
      message: `The decoder ${name} does not read it ${when}, even ${largestMm} mm wide: some phones will fail.`,
    });
  }
  if (proof.damage_tolerated === 0)
    reasons.push({
      field: style.logo === undefined ? 'style' : 'style.logo.size',
      message: 'It has no reserve: a spot on 2 % of the symbol makes it unreadable.',
    });
  if (proof.smallest_mm === null && about === 'content') reasons.push(...tooDense(printer));
  if (proof.smallest_mm !== null && proof.smallest_mm > comfortableMm)
    reasons.push(onlyLarge(printer, proof.smallest_mm, about));
  return reasons;
}

/** A long content may be readable in a size that is not proofed. */
function tooDense({ modules, symbol }: Printer): Reason[] {
  const moduleMm = (largestMm * symbol.side) / modules;
  if (moduleMm >= minModuleMm) return [];
  const neededMm = Math.ceil((largestMm * minModuleMm) / moduleMm);
  const message = `It has ${modules} modules in a row: print it at least ${neededMm} mm wide, or shorten the content.`;
  return [{ field: 'content', message }];
}

function onlyLarge({ modules, symbol }: Printer, smallestMm: number, about: ProofSubject): Reason {
  const tried = proofSizesMm.findLast((sizeMm) => sizeMm < smallestMm) ?? smallestMm;
  const moduleMm = (tried * symbol.side) / modules;
  if (moduleMm >= minModuleMm)
    return { field: 'style', message: `It scans reliably only from a width of ${smallestMm} mm on.` };
  const size = `${moduleMm.toFixed(2)} mm`;
  return {
    field: about === 'link' ? 'short_code' : 'content',
    message: `It scans reliably only from a width of ${smallestMm} mm on: at ${tried} mm each of its ${modules} modules in a row is ${size} wide. ${about === 'link' ? 'A shorter short link' : 'Less content'} has fewer modules.`,
  };
}

function listOf(items: readonly string[]): string {
  const [last = ''] = items.slice(-1);
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
}
