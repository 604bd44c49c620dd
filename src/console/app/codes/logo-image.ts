import { useEffect, useState } from 'preact/hooks';
import type { RasterLogo } from '../../../qr/logo-art.ts';
import { api } from '../api.ts';

const previewSidePx = 512;

/** The image of a logo for the preview; undefined until it is loaded. */
export function useLogoImage(id: string | undefined): RasterLogo | undefined {
  const [shown, setShown] = useState<{ id: string; logo: RasterLogo }>();
  useEffect(() => {
    if (id === undefined) return undefined;
    let isCurrent = true;
    api
      .file(`/logos/${id}`)
      .then(rasterOf)
      .then((logo) => isCurrent && setShown({ id, logo }))
      // A logo that was deleted: the preview shows none, and creating the code reports it.
      .catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [id]);
  return shown?.id === id ? shown?.logo : undefined;
}

/** As a small PNG, whatever the format of the logo is: enough for a preview. */
async function rasterOf(file: Blob): Promise<RasterLogo> {
  const image = await loadImage(file);
  const scale = previewSidePx / Math.max(image.naturalWidth, image.naturalHeight);
  const width = Math.max(1, Math.round(image.naturalWidth * scale));
  const height = Math.max(1, Math.round(image.naturalHeight * scale));
  const canvas = document.createElement('canvas');
  Object.assign(canvas, { width, height });
  canvas.getContext('2d')?.drawImage(image, 0, 0, width, height);
  const png = await pngOf(canvas);
  return { kind: 'raster', width, height, png: new Uint8Array(await png.arrayBuffer()) };
}

export function loadImage(file: Blob): Promise<HTMLImageElement> {
  return new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve(image);
    image.onerror = () => reject(new Error('This file is not an image that your browser can show.'));
    image.src = URL.createObjectURL(file);
  });
}

export const pngOf = (canvas: HTMLCanvasElement): Promise<Blob> =>
  new Promise((resolve, reject) =>
    canvas.toBlob(
      (blob) => (blob === null ? reject(new Error('The image is too large.')) : resolve(blob)),
      'image/png',
    ),
  );
