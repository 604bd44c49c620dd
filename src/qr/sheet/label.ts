import type { Cell } from './layouts.ts';

/** Where the parts of a label are, in millimeters from the top-left corner of the page. */
export interface LabelPlan {
  /** The area that the image is fitted into, centered. */
  readonly image: Cell;
  readonly caption?: Cell & { readonly align: 'left' | 'center' };
}

/** Printers shift the page by up to this much. */
const maxPaddingMm = 1.5;

/** A wide label has its caption beside the code, any other below it. */
export function planLabel(cell: Cell, hasCaption: boolean): LabelPlan {
  const padding = Math.min(maxPaddingMm, Math.min(cell.width, cell.height) * 0.05);
  const inner = {
    x: cell.x + padding,
    y: cell.y + padding,
    width: cell.width - 2 * padding,
    height: cell.height - 2 * padding,
  };
  if (!hasCaption) return { image: inner };
  if (inner.width >= 1.5 * inner.height) {
    const side = inner.height;
    return {
      image: { ...inner, width: side },
      caption: { ...inner, x: inner.x + side, width: inner.width - side - padding, align: 'left' },
    };
  }
  const height = Math.min(8, Math.max(2.5, inner.height * 0.17));
  return {
    image: { ...inner, height: inner.height - height },
    caption: { ...inner, y: inner.y + inner.height - height, height, align: 'center' },
  };
}
