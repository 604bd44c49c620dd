import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { errorMessage } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { pngOf } from './logo-image.ts';

const cropSidePx = 512;
const maxZoom = 4;

interface Props {
  image: HTMLImageElement;
  onCrop(image: Blob): Promise<void>;
  /** Uploads the image as it is. */
  onWhole(): Promise<void>;
  onClose(): void;
}

/** Crops an image to a square, by sliders, which also work with a keyboard and on a phone. */
export function CropDialog({ image, onCrop, onWhole, onClose }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [zoom, setZoom] = useState(1);
  const [across, setAcross] = useState(50);
  const [down, setDown] = useState(50);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const { naturalWidth: width, naturalHeight: height } = image;
  const side = Math.min(width, height) / zoom;

  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    context?.clearRect(0, 0, cropSidePx, cropSidePx);
    const [left, top] = [((width - side) * across) / 100, ((height - side) * down) / 100];
    context?.drawImage(image, left, top, side, side, 0, 0, cropSidePx, cropSidePx);
  }, [image, zoom, across, down]);

  const upload = async (work: () => Promise<void>) => {
    setBusy(true);
    setError(undefined);
    try {
      await work();
    } catch (failure) {
      setError(errorMessage(failure));
      setBusy(false);
    }
  };
  return (
    <Dialog title="Crop logo" onClose={onClose}>
      <div class="stack gap-m crop">
        <canvas ref={canvas} width={cropSidePx} height={cropSidePx} role="img" aria-label="Cropped logo" />
        <Slider label="Zoom" min={1} max={maxZoom} step={0.05} value={zoom} onValue={setZoom} />
        <Slider label="Left to right" min={0} max={100} step={1} value={across} onValue={setAcross} />
        <Slider label="Top to bottom" min={0} max={100} step={1} value={down} onValue={setDown} />
        {error !== undefined && (
          <p class="error" role="alert">
            {error}
          </p>
        )}
        <div class="row actions">
          <button type="button" class="button" disabled={busy} onClick={() => upload(onWhole)}>
            Use whole image
          </button>
          <button
            type="button"
            class="button primary"
            disabled={busy}
            onClick={() => upload(async () => onCrop(await pngOf(canvas.current as HTMLCanvasElement)))}
          >
            {busy ? 'Uploading…' : 'Use this crop'}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

export const inModules = (count: number) => (count === 1 ? '1 module' : `${count} modules`);

interface SliderProps {
  label: string;
  min: number;
  max: number;
  step: number;
  value: number;
  /** The value in words, where the number alone does not say it. */
  text?: string;
  onValue(value: number): void;
}

export function Slider({ label, value, text, onValue, ...range }: SliderProps) {
  const id = useId();
  return (
    <div class="slider">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="range"
        {...range}
        value={value}
        aria-valuetext={text}
        onInput={(event) => onValue(Number(event.currentTarget.value))}
      />
      {text !== undefined && <output for={id}>{text}</output>}
    </div>
  );
}
