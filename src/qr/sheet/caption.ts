import { type FrameFont, missingCharacters, widthOf } from '../text.ts';
import type { TextLine } from '../vector/pdf-text.ts';
import type { LabelPlan } from './label.ts';

/** Height of the letters' line in millimeters. */
const maxSizeMm = 4.2;
const minSizeMm = 1.8;
/** Above this size, letters become smaller before a word is broken. */
const minUnbrokenSizeMm = 2.4;
const sizeStep = 0.93;
const lineHeightEm = 1.25;
const ellipsis = '…';

/**
 * The text of a label without the characters that the font lacks, such as an emoji; or the other text, if it lacks more than
 * a third of them.
 */
export function writableText(text: string, otherwise: string, font: FrameFont): string {
  const missing = new Set(missingCharacters(text, font));
  const all = [...text.normalize('NFC')];
  const written = all.filter((char) => !missing.has(char));
  return (all.length - written.length) * 3 > all.length ? otherwise : written.join('').trim();
}

/** Sets a caption: as large as fits, in as many lines as that takes, cut off if even small letters do not fit. */
export function captionLines(
  text: string,
  area: NonNullable<LabelPlan['caption']>,
  font: FrameFont,
): readonly TextLine[] {
  let sizeMm = Math.min(maxSizeMm, area.height / lineHeightEm);
  let lines = wrapped(text, area.width / sizeMm, font);
  const longestWordEm = Math.max(...text.split(/\s+/).map((word) => widthOf(word, font))) / font.unitsPerEm;
  const isTooHigh = () => lines.length * sizeMm * lineHeightEm > area.height;
  const isBroken = () => sizeMm > minUnbrokenSizeMm && longestWordEm * sizeMm > area.width;
  while ((isTooHigh() || isBroken()) && sizeMm * sizeStep >= minSizeMm) {
    sizeMm *= sizeStep;
    lines = wrapped(text, area.width / sizeMm, font);
  }
  const maxLines = Math.max(1, Math.floor(area.height / (sizeMm * lineHeightEm) + 1e-6));
  if (lines.length > maxLines) lines = cutOff(lines.slice(0, maxLines), area.width / sizeMm, font);
  const scale = sizeMm / font.unitsPerEm;
  const step = sizeMm * lineHeightEm;
  const firstBaseline = area.y + (area.height - step * (lines.length - 1) + font.capHeight * scale) / 2;
  return lines.map((line, i) => {
    const indent = area.align === 'left' ? 0 : (area.width - widthOf(line, font) * scale) / 2;
    return { text: line, x: area.x + indent, baseline: firstBaseline + i * step, sizeMm };
  });
}

/** Breaks between words, and within a word that is longer than a line: if possible after a separator. */
export function wrapped(text: string, widthEm: number, font: FrameFont): string[] {
  const limit = widthEm * font.unitsPerEm;
  const fits = (line: string) => widthOf(line, font) <= limit;
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (line !== '' && fits(`${line} ${word}`)) {
      line = `${line} ${word}`;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word;
    while (!fits(line)) {
      const head = longestHead(line, fits);
      lines.push(head);
      line = line.slice(head.length);
    }
  }
  return line === '' ? lines : [...lines, line];
}

function longestHead(word: string, fits: (line: string) => boolean): string {
  const characters = [...word];
  let count = 1;
  while (count < characters.length && fits(characters.slice(0, count + 1).join(''))) count++;
  const head = characters.slice(0, count).join('');
  const [separated = ''] = /^.*[/._-]/.exec(head) ?? [];
  return separated.length > head.length / 2 ? separated : head;
}

export function cutOff(lines: string[], widthEm: number, font: FrameFont): string[] {
  const characters = [...(lines.at(-1) ?? '')];
  const limit = widthEm * font.unitsPerEm;
  while (characters.length > 0 && widthOf(characters.join('') + ellipsis, font) > limit) characters.pop();
  return [...lines.slice(0, -1), characters.join('').trimEnd() + ellipsis];
}
