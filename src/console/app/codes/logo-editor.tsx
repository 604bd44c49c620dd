import { useRef, useState } from 'preact/hooks';
import {
  defaultLogoMargin,
  defaultLogoSize,
  type LogoShape,
  maxLogoSize,
  minLogoSize,
} from '../../../../events/style-shapes.ts';
import { api, apiUrl, errorMessage } from '../api.ts';
import { Segments } from '../parts/segments.tsx';
import { useResource } from '../resource.ts';
import type { Logo, Page } from '../types.ts';
import { CropDialog, inModules, Slider } from './crop-dialog.tsx';
import { loadImage } from './logo-picture.ts';
import type { Style } from './style.ts';

type LogoStyle = NonNullable<Style['logo']>;

interface Props {
  logo: LogoStyle | undefined;
  onLogo(logo: LogoStyle | undefined): void;
}

const shapes: readonly (readonly [LogoShape, string])[] = [
  ['square', 'Square'],
  ['circle', 'Circle'],
  ['none', 'No plate'],
];
const maxMargin = 3;

/** Picks, uploads and crops the logo of a code. */
export function LogoEditor({ logo, onLogo }: Props) {
  const { data, reload } = useResource<Page<Logo>>('/logos', { query: { limit: 100 } });
  const input = useRef<HTMLInputElement>(null);
  const [picked, setPicked] = useState<{ file: File; image: HTMLImageElement }>();
  const [error, setError] = useState<string>();
  const set = (change: Partial<LogoStyle>) => logo !== undefined && onLogo({ ...logo, ...change });

  const upload = async (file: Blob) => {
    const { id } = await api.upload<Logo>('/logos', file);
    await reload();
    setPicked(undefined);
    onLogo({ ...logo, id });
  };
  const pick = async (file: File) => {
    setError(undefined);
    try {
      // An SVG stays as it is: cropping would turn it into pixels.
      if (file.type === 'image/svg+xml') await upload(file);
      else setPicked({ file, image: await loadImage(file) });
    } catch (failure) {
      setError(errorMessage(failure));
    }
  };
  return (
    <fieldset class="logo-editor">
      <legend>Logo</legend>
      <div class="logos">
        <label class="none">
          <input type="radio" name="logo" checked={logo === undefined} onChange={() => onLogo(undefined)} />
          <span>No logo</span>
        </label>
        {data?.data.map(({ id, format, width, height }, i) => (
          <label key={id}>
            <input type="radio" name="logo" checked={logo?.id === id} onChange={() => onLogo({ ...logo, id })} />
            <img
              src={apiUrl(`/logos/${id}`)}
              alt={`Logo ${i + 1}, ${format.toUpperCase()}, ${width} × ${height}`}
              loading="lazy"
            />
          </label>
        ))}
        <button type="button" class="button" onClick={() => input.current?.click()}>
          Upload logo…
        </button>
      </div>
      <input
        ref={input}
        type="file"
        class="hidden"
        tabIndex={-1}
        aria-label="Logo file"
        accept="image/png,image/jpeg,image/webp,image/svg+xml"
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          event.currentTarget.value = '';
          if (file !== undefined) pick(file);
        }}
      />
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {logo !== undefined && (
        <>
          <Segments
            label="Shape behind the logo"
            options={shapes}
            value={logo.shape ?? 'square'}
            onValue={(shape) => set({ shape })}
          />
          <Slider
            label="Logo size"
            min={minLogoSize}
            max={maxLogoSize}
            step={0.01}
            value={logo.size ?? defaultLogoSize}
            text={`${Math.round((logo.size ?? defaultLogoSize) * 100)} %`}
            onValue={(size) => set({ size })}
          />
          <Slider
            label="Logo margin"
            min={0}
            max={maxMargin}
            step={0.5}
            value={logo.margin ?? defaultLogoMargin}
            text={inModules(logo.margin ?? defaultLogoMargin)}
            onValue={(margin) => set({ margin })}
          />
        </>
      )}
      <p class="hint">PNG, JPEG, WebP or SVG, up to 1 MB. Error correction makes up for what the logo hides.</p>
      {picked !== undefined && (
        <CropDialog
          image={picked.image}
          onCrop={upload}
          onWhole={() => upload(picked.file)}
          onClose={() => setPicked(undefined)}
        />
      )}
    </fieldset>
  );
}
