import { useEffect, useState } from 'preact/hooks';
import type { FrameFont } from '../../../qr/text.ts';
import { bootstrap } from '../welcome.ts';

let loading: Promise<FrameFont> | undefined;

/** The font of frames, loaded once it is needed; undefined until then. */
export function useFrameFont(isNeeded: boolean): FrameFont | undefined {
  const [font, setFont] = useState<FrameFont>();
  useEffect(() => {
    if (!isNeeded || font !== undefined) return;
    loading ??= fetch(bootstrap.frame_font_url).then((response) => response.json());
    loading.then(setFont, () => {
      // The preview has no text until another style asks for the font again.
      loading = undefined;
    });
  }, [isNeeded, font]);
  return font;
}
