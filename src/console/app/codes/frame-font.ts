import type { FrameFont } from '../../../qr/text.ts';
import { useAsset } from '../use-asset.ts';
import { bootstrap } from '../welcome.ts';

/** The font of frames, loaded once it is needed; undefined until then. */
export const useFrameFont = (isNeeded: boolean): FrameFont | undefined => useAsset(bootstrap.frame_font_url, isNeeded);
