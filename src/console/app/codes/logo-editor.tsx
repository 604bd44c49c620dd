import { useRef } from 'preact/hooks';
import {
  defaultLogoMargin,
  defaultLogoSize,
  type LogoShape,
  maxLogoSize,
  minLogoSize,
} from '../../../../events/style-shapes.ts';
import { apiUrl } from '../api.ts';
import { Segments } from '../parts/segments.tsx';
import type { Logo } from '../types.ts';
import { CropDialog, inModules, Slider } from './crop-dialog.tsx';
import type { Style } from './style.ts';
import { useLogos } from './use-logos.ts';

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
  const { logos, picked, error, pick, upload, cancel } = useLogos((id) => onLogo({ ...logo, id }));
  return (
    <fieldset class="stack gap-m">
      <legend>Logo</legend>
      <div class="row">
        <label class="option tile logo">
          <input type="radio" name="logo" checked={logo === undefined} onChange={() => onLogo(undefined)} />
          <span>No logo</span>
        </label>
        {logos.map((one, i) => (
          <LogoChoice
            key={one.id}
            logo={one}
            number={i + 1}
            isChosen={logo?.id === one.id}
            onChoose={() => onLogo({ ...logo, id: one.id })}
          />
        ))}
        <UploadButton onFile={pick} />
      </div>
      {error !== undefined && (
        <p class="error" role="alert">
          {error}
        </p>
      )}
      {logo !== undefined && <LogoPlacement logo={logo} onLogo={onLogo} />}
      <p class="hint">PNG, JPEG, WebP or SVG, up to 1 MB. Error correction makes up for what the logo hides.</p>
      {picked !== undefined && (
        <CropDialog image={picked.image} onCrop={upload} onWhole={() => upload(picked.file)} onClose={cancel} />
      )}
    </fieldset>
  );
}

interface ChoiceProps {
  logo: Logo;
  number: number;
  isChosen: boolean;
  onChoose(): void;
}

function LogoChoice({ logo: { id, format, width, height }, number, isChosen, onChoose }: ChoiceProps) {
  return (
    <label class="option tile logo">
      <input type="radio" name="logo" checked={isChosen} onChange={onChoose} />
      <img
        src={apiUrl(`/logos/${id}`)}
        alt={`Logo ${number}, ${format.toUpperCase()}, ${width} × ${height}`}
        loading="lazy"
      />
    </label>
  );
}

function UploadButton({ onFile }: { onFile(file: File): void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" class="button" onClick={() => input.current?.click()}>
        Upload logo…
      </button>
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
          if (file !== undefined) onFile(file);
        }}
      />
    </>
  );
}

function LogoPlacement({ logo, onLogo }: { logo: LogoStyle; onLogo(logo: LogoStyle): void }) {
  const { shape = 'square', size = defaultLogoSize, margin = defaultLogoMargin } = logo;
  return (
    <>
      <Segments
        label="Shape behind the logo"
        options={shapes}
        value={shape}
        onValue={(value) => onLogo({ ...logo, shape: value })}
      />
      <Slider
        label="Logo size"
        min={minLogoSize}
        max={maxLogoSize}
        step={0.01}
        value={size}
        text={`${Math.round(size * 100)} %`}
        onValue={(value) => onLogo({ ...logo, size: value })}
      />
      <Slider
        label="Logo margin"
        min={0}
        max={maxMargin}
        step={0.5}
        value={margin}
        text={inModules(margin)}
        onValue={(value) => onLogo({ ...logo, margin: value })}
      />
    </>
  );
}
