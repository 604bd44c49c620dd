import { describeCharacters } from '../../../qr/scripts.ts';
import { type FrameFont, missingCharacters } from '../../../qr/text.ts';
import { useAsset } from '../use-asset.ts';
import { bootstrap } from '../welcome.ts';
import type { Style } from './style.ts';

/** The font of frames, loaded once it is needed; undefined until then. */
export const useFrameFont = (frame: Style['frame']): FrameFont | undefined =>
  useAsset(bootstrap.frame_font_url, frame !== undefined && frame.type !== 'none');

/** Why the service refuses the text of a frame; undefined if it does not. */
export function frameTextError(frame: Style['frame'], font: FrameFont | undefined): string | undefined {
  const missing = frame?.text === undefined || font === undefined ? [] : missingCharacters(frame.text, font);
  if (missing.length === 0) return;
  return `Frames have no ${describeCharacters(missing)}, only Latin, Greek and Cyrillic letters.`;
}
